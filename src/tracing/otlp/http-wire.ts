/**
 * OTLP over HTTP with protobuf bodies: POST over kept-alive connections. Redirects are not followed, answers are read up to a limit,
 * and each request has a timeout.
 */
import type { Agent, ClientRequest, IncomingMessage } from 'node:http';
import { Agent as SecureAgent, request as secureRequest } from 'node:https';
import { createSecureContext } from 'node:tls';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { nodeHttp } from '../../lib/node-http.ts';
import { type CollectorOptions, MOST_REQUESTS_AT_ONCE } from './collector-options.ts';
import type { ExportOutcome } from './export-outcome.ts';
import { outcomeOfAnswer } from './http-outcome.ts';

/** The rest of an answer is not read: the first bytes hold the result. */
const MOST_ANSWER_BYTES = 65_536;

const compressed = promisify(gzip);

/** Sends one encoded request; never rejects. */
export interface HttpWire {
  send(request: Uint8Array): Promise<ExportOutcome>;
  close(): void;
}

/** @throws Error when the TLS files are invalid. */
export function httpWire(options: CollectorOptions): HttpWire {
  const url = new URL(options.url);
  const secure = url.protocol === 'https:';
  const agent = agentOf(options, secure);
  const begin = secure ? secureRequest : nodeHttp.request;
  const headers = headersOf(options);
  let closed = false;

  const attempt = (body: Uint8Array) =>
    exchange(begin(url, { method: 'POST', agent, headers }), body, options.timeoutMs);

  return {
    async send(bytes) {
      const body = options.compression === 'gzip' ? await compressed(bytes) : bytes;
      if (closed) return { kind: 'again', afterMs: undefined, text: 'the connection was closed' };
      const first = await attempt(body);
      if (!('stale' in first)) return first;
      // The collector closed a kept-alive connection as it was reused: not a failure of the collector.
      return closed ? first.stale : outcomeOf(await attempt(body));
    },
    close() {
      closed = true;
      agent.destroy();
    },
  };
}

type Exchange = ExportOutcome | { readonly stale: ExportOutcome };

function outcomeOf(exchange: Exchange): ExportOutcome {
  return 'stale' in exchange ? exchange.stale : exchange;
}

function agentOf({ tls }: CollectorOptions, secure: boolean): Agent {
  const kept = { keepAlive: true, maxSockets: MOST_REQUESTS_AT_ONCE };
  if (!secure) return new nodeHttp.Agent(kept);
  // Made here so that an invalid file is an error at start, not at the first span.
  return new SecureAgent({
    ...kept,
    ...(tls === undefined ? {} : { secureContext: createSecureContext(tls) }),
  });
}

/** Ours last: configured headers cannot override those that describe the body. */
function headersOf({ headers, compression, userAgent }: CollectorOptions): Record<string, string> {
  const given = [...(headers ?? [])].map(([name, value]) => [name.toLowerCase(), value.reveal()]);
  return {
    'user-agent': userAgent,
    ...Object.fromEntries(given),
    'content-type': 'application/x-protobuf',
    ...(compression === 'gzip' ? { 'content-encoding': 'gzip' } : {}),
  };
}

/** One request and its answer; the timer bounds both. */
function exchange(request: ClientRequest, body: Uint8Array, timeoutMs: number): Promise<Exchange> {
  return new Promise(resolve => {
    const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    const settle = (exchange: Exchange) => {
      clearTimeout(timer);
      resolve(exchange);
    };
    let answered = false;
    request.once('response', response => {
      answered = true;
      readAnswer(response, settle);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The answer is cut off; the part received counts.
      if (answered) return;
      const again = { kind: 'again', afterMs: undefined, text: error.message } as const;
      const stale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
      settle(stale ? { stale: again } : again);
    });
    request.end(body);
  });
}

/** An answer with a status counts, even if its body is cut off. */
function readAnswer(response: IncomingMessage, settle: (outcome: ExportOutcome) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const finish = () => {
    const { statusCode: status = 0, headers } = response;
    const body = Buffer.concat(chunks).subarray(0, MOST_ANSWER_BYTES);
    const { location, date, 'retry-after': retryAfter } = headers;
    settle(outcomeOfAnswer({ status, date, retryAfter, location, body }));
  };
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > MOST_ANSWER_BYTES) response.destroy();
  });
  // After the end, a broken connection or our own destroy.
  response.once('close', finish);
  response.on('error', ignoreForStatus);
}

/** 'close' follows; the part read until then counts. */
function ignoreForStatus(): void {}
