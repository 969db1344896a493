/**
 * One HTTP request to Gerrit: a deadline, a bound on the answer, no redirects, no repetition.
 *
 * Reads share kept connections. Each write opens its own: on a kept one that the server closes at that moment it would stay
 * unknown whether the write arrived. A proxy of the environment is used as everywhere in Node: only with `NODE_USE_ENV_PROXY=1`.
 */
import type http from 'node:http';
import https from 'node:https';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { nodeHttp } from '../../../src/lib/node-http.ts';
import type { HostTroubleReason } from '../../../src/model/host-trouble.ts';

/** What goes over the wire. */
export interface GerritWireRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: { readonly [name: string]: string };
  readonly body: string | undefined;
  /** For the whole exchange, milliseconds. */
  readonly deadlineMs: number;
}

/** By lower-case name. */
export type GerritHeaders = { readonly [name: string]: string | undefined };

/** An answer with any status, or none. */
export type GerritRaw =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: GerritHeaders;
      /** Decoded as UTF-8. */
      readonly body: string;
      /** As it came over the wire. */
      readonly bytes: number;
    }
  /** `isSent`: false when the request certainly did not reach the host. */
  | {
      readonly kind: 'silent';
      readonly reason: HostTroubleReason;
      readonly text: string;
      readonly isSent: boolean;
    };

/** Sends requests of one connection. */
export interface GerritSender {
  /** @throws only the reason of an aborted signal. */
  send(request: GerritWireRequest, signal: AbortSignal): Promise<GerritRaw>;
  /** Ends the kept connections. */
  close(): void;
}

/** Bounds of one connection. */
export interface GerritSendOptions {
  /** False: any certificate is taken. */
  readonly verifySsl: boolean;
  readonly mostBytes: number;
}

export function createGerritSender({ verifySsl, mostBytes }: GerritSendOptions): GerritSender {
  const agents = { read: agentsOf(true, verifySsl), write: agentsOf(false, verifySsl) };
  return {
    async send(request, signal) {
      signal.throwIfAborted();
      const deadline = AbortSignal.timeout(request.deadlineMs);
      const isSecure = request.url.protocol === 'https:';
      const { http: plain, https: secure } = request.method === 'GET' ? agents.read : agents.write;
      const outgoing = (isSecure ? https : nodeHttp).request(request.url, {
        method: request.method,
        headers: request.headers,
        agent: isSecure ? secure : plain,
        signal: AbortSignal.any([signal, deadline]),
      });
      const sent = noteSending(outgoing, isSecure);
      try {
        return await exchanged(outgoing, request.body, mostBytes);
      } catch (error) {
        signal.throwIfAborted();
        if (deadline.aborted)
          return silent('timeout', `no answer within ${request.deadlineMs / 1000} s`, sent());
        return failureOf(error, sent());
      } finally {
        outgoing.destroy();
      }
    },
    close() {
      for (const agent of [agents.read, agents.write].flatMap(Object.values)) agent.destroy();
    },
  };
}

function agentsOf(keepAlive: boolean, verifySsl: boolean) {
  const { NODE_USE_ENV_PROXY: useProxy } = process.env;
  const common = { keepAlive, ...(useProxy === '1' ? { proxyEnv: process.env } : {}) };
  return {
    http: new nodeHttp.Agent(common),
    https: new https.Agent({ ...common, rejectUnauthorized: verifySsl }),
  };
}

/** @returns whether a connection stood, so that the request may have gone out. */
function noteSending(request: http.ClientRequest, isSecure: boolean): () => boolean {
  let isSent = false;
  request.on('socket', socket => {
    const ready = () => {
      isSent = true;
    };
    if (socket.connecting) socket.once(isSecure ? 'secureConnect' : 'connect', ready);
    else ready();
  });
  return () => isSent;
}

function exchanged(
  request: http.ClientRequest,
  body: string | undefined,
  mostBytes: number,
): Promise<GerritRaw> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', answer => readAnswer(answer, mostBytes).then(resolve, reject));
    request.end(body);
  });
}

/** The answer was longer than its bound; the rest was not read. */
class AnswerTooLong extends Error {}

async function readAnswer(answer: http.IncomingMessage, mostBytes: number): Promise<GerritRaw> {
  let bytes = 0;
  answer.on('data', (part: Buffer) => {
    bytes += part.byteLength;
  });
  const body = await readAtMost(decoded(answer), mostBytes);
  return { kind: 'answered', status: answer.statusCode ?? 0, headers: headersOf(answer), body, bytes };
}

function decoded(answer: http.IncomingMessage): Readable {
  if (answer.headers['content-encoding'] !== 'gzip') return answer;
  const unpacked = createGunzip();
  answer.on('error', error => unpacked.destroy(error));
  answer.on('aborted', () => unpacked.destroy(new Error('the answer ended early')));
  return answer.pipe(unpacked);
}

async function readAtMost(stream: Readable, mostBytes: number): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream) {
    const buffer = Buffer.from(part);
    bytes += buffer.byteLength;
    if (bytes > mostBytes) throw new AnswerTooLong(`the answer has more than ${mostBytes} bytes`);
    parts.push(buffer);
  }
  return Buffer.concat(parts).toString('utf8');
}

function headersOf({ headers }: http.IncomingMessage): GerritHeaders {
  const texts = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : value,
  ]);
  return Object.fromEntries(texts);
}

const CERTIFICATE = /CERT|SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)/;

function failureOf(error: unknown, isSent: boolean): GerritRaw {
  if (error instanceof AnswerTooLong) return silent('too-large', error.message, true);
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'the request failed';
  const advice = CERTIFICATE.test(code)
    ? '; to trust a certificate of your own, name its CA file in NODE_EXTRA_CA_CERTS'
    : '';
  return silent('unreachable', `Gerrit cannot be reached: ${code}${advice}`, isSent);
}

function silent(reason: HostTroubleReason, text: string, isSent: boolean): GerritRaw {
  return { kind: 'silent', reason, text, isSent };
}
