/**
 * Zuul's WebSocket for the log of a build, `/api/tenant/<t>/console-stream`, at Zuul's path and with its protocol: what follows the logs of
 * Zuul follows ours.
 *
 *     client   {"uuid": "3832…", "logfile": "console.log", "token": "…"}      one text message; the token where the tenant needs one
 *     server   2026-11-20 17:53:01.123456 | make: Entering …                  the log from its beginning, as text, while it grows
 *     server   close 1000 "No more data"     the log is complete
 *              close 4000 …                  the message is not as above, or the tenant may not be read
 *              close 4011 …                  there is no such build, it has not begun, or its log cannot be read
 *
 * Also the log of a build that has ended is sent, which Zuul does not. Nothing is buffered for a reader: the next piece is read when the one
 * before it was handed to the operating system, so a slow one costs the memory of a piece, and one that takes nothing is cut by the
 * heartbeat. Who may read is judged when the stream begins and with every heartbeat.
 */
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import type { BuildFacts } from '../../history/build-facts.ts';
import type { AddressRanges } from '../../lib/address-ranges.ts';
import { toMilliseconds } from '../../lib/clock.ts';
import { pause } from '../../lib/pause.ts';
import type { TenantName } from '../../model/project.ts';
import { type Authentication, type Caller, callerOf } from '../auth/caller.ts';
import { isHidden, mayRead } from '../auth/permission.ts';
import { clientOf } from '../client-address.ts';
import type { WebDeps } from '../deps.ts';
import { findBuild } from '../tenant-access.ts';
import { type ConsoleRequest, parseConsoleRequest } from './console-request.ts';
import type { SharedLogs } from './shared-logs.ts';

/** Of both listeners together. */
export interface ConsoleStreams {
  /** Answers any request for an upgrade. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, auth: Authentication): void;
  /** Ends every stream. */
  close(): void;
}

/** `proxies`: trusted ones, whose clients count one by one. */
export type ConsoleDeps = Pick<WebDeps, 'snapshot' | 'history' | 'sse' | 'clock' | 'log'> & {
  readonly logs: SharedLogs;
  readonly proxies: AddressRanges;
};

/** As in Zuul. */
const HEARTBEAT_MS = 20_000;
/** Milliseconds for the first message. */
const REQUEST_MS = 30_000;
/** A token is the longest part of a message. */
const LONGEST_MESSAGE = 65_536;
/** Of the log, in one message. */
const PIECE = 65_536;
/** Milliseconds between two looks at a log that has not grown. */
const TICK_MS = 250;
/** Milliseconds without a log, or without growth of that of a build that has ended, after which nothing more is expected. */
const PATIENCE_MS = 10_000;
/** Bytes, as WebSockets have them. */
const LONGEST_REASON = 123;

const BAD_REQUEST = 4000;
const NO_STREAM = 4011;
const TOKEN_NEEDED = 'a token that lets you read this tenant is needed';
const OVER = 1000;
const GOING_AWAY = 1001;

/** Sends heartbeats until it is closed. */
export function consoleStreams(deps: ConsoleDeps): ConsoleStreams {
  return new Streams(deps);
}

interface Reader {
  readonly socket: WebSocket;
  readonly tenant: TenantName;
  readonly address: string;
  readonly auth: Authentication;
  /** Aborts when the connection is gone. */
  readonly gone: AbortController;
  /** Known once the message was read. */
  caller: Caller | undefined;
  /** It answered the last heartbeat. */
  alive: boolean;
}

/** `from`: see {@link ConsoleRequest.offset}. */
interface StreamedLog {
  readonly build: string;
  readonly worker: string;
  readonly from: number | undefined;
}

class Streams implements ConsoleStreams {
  readonly #deps: ConsoleDeps;
  readonly #server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: LONGEST_MESSAGE,
    perMessageDeflate: false,
  });
  readonly #readers = new Set<Reader>();
  readonly #heartbeat: NodeJS.Timeout;

  constructor(deps: ConsoleDeps) {
    this.#deps = deps;
    this.#heartbeat = setInterval(() => {
      for (const reader of this.#readers) this.#check(reader);
    }, HEARTBEAT_MS);
    this.#heartbeat.unref();
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, auth: Authentication): void {
    socket.on('error', () => socket.destroy());
    const tenant = tenantIn(request.url);
    const address = clientOf(request, this.#deps.proxies);
    const isKnown = tenant !== undefined && this.#mayExist(tenant, auth);
    if (!isKnown || this.#isFull(address)) {
      const refusal = isKnown ? '503 Service Unavailable\r\nRetry-After: 10' : '404 Not Found';
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
      return;
    }
    this.#server.handleUpgrade(request, socket, head, opened =>
      this.#open(
        {
          socket: opened,
          tenant,
          address,
          auth,
          gone: new AbortController(),
          caller: undefined,
          alive: true,
        },
        request,
      ),
    );
  }

  close(): void {
    clearInterval(this.#heartbeat);
    for (const { socket } of this.#readers) socket.close(GOING_AWAY, 'The service stops');
    this.#readers.clear();
  }

  /** Of a private tenant, and of one that does not exist where any is private, the first message decides. */
  #mayExist(tenant: TenantName, auth: Authentication): boolean {
    return isHidden(auth.rules, tenant) || this.#deps.snapshot(tenant) !== undefined;
  }

  #isFull(address: string): boolean {
    const { maxClients, maxClientsPerAddress } = this.#deps.sse;
    const own = [...this.#readers].filter(other => other.address === address);
    return this.#readers.size >= maxClients || own.length >= maxClientsPerAddress;
  }

  #open(reader: Reader, request: IncomingMessage): void {
    const { socket, gone } = reader;
    this.#readers.add(reader);
    const late = setTimeout(() => end(socket, BAD_REQUEST, 'no request came'), REQUEST_MS);
    let isAsked = false;
    socket.on('pong', () => {
      reader.alive = true;
    });
    socket.on('error', () => socket.terminate());
    socket.on('close', () => {
      clearTimeout(late);
      gone.abort();
      this.#readers.delete(reader);
    });
    socket.on('message', (data, isBinary) => {
      // As in Zuul: one request for each connection, and only text is one.
      if (isAsked || isBinary) return;
      isAsked = true;
      clearTimeout(late);
      this.#answer(reader, request, String(data)).catch((error: unknown) => {
        this.#deps.log.warn({ err: error, tenant: reader.tenant }, 'a log could not be streamed');
        end(socket, NO_STREAM, 'Error with log streaming');
      });
    });
  }

  async #answer(reader: Reader, request: IncomingMessage, text: string): Promise<void> {
    const { socket, tenant } = reader;
    const asked = parseConsoleRequest(text);
    if (asked.kind === 'refused') return end(socket, BAD_REQUEST, asked.text);
    const refusal = await this.#admit(reader, request, asked);
    if (refusal !== undefined) return end(socket, BAD_REQUEST, refusal);
    const build = await this.#build(tenant, asked.uuid);
    if (build === undefined) return end(socket, NO_STREAM, 'Build not found');
    if (build.worker === null) return end(socket, NO_STREAM, 'Build did not start yet');
    await this.#stream(reader, { build: build.uuid, worker: build.worker, from: asked.offset });
  }

  /** @returns why the caller may not read the tenant; for one that does not exist the same. */
  async #admit(
    reader: Reader,
    { headers }: IncomingMessage,
    { token }: ConsoleRequest,
  ): Promise<string | undefined> {
    const { auth, tenant } = reader;
    if (!isHidden(auth.rules, tenant)) return undefined;
    const given = token === undefined ? headers : { authorization: `Bearer ${token}` };
    const caller = await callerOf(auth, { headers: given });
    if (caller.kind === 'refused') return caller.error;
    reader.caller = caller;
    return mayRead(auth.rules, caller, tenant)
      ? undefined
      : 'a token that lets you read this tenant is needed';
  }

  async #build(tenant: TenantName, uuid: string): Promise<BuildFacts | undefined> {
    const snapshot = this.#deps.snapshot(tenant);
    return snapshot === undefined
      ? undefined
      : findBuild(this.#deps, { kind: 'found', name: tenant, snapshot }, uuid);
  }

  async #stream({ socket, tenant, gone }: Reader, { build, worker, from }: StreamedLog): Promise<void> {
    const decoder = new TextDecoder();
    let idleSince = this.#deps.clock.monotonic();
    for (let offset = from ?? 0; !gone.signal.aborted; ) {
      const piece = await this.#deps.logs.read({ build, worker, offset, limit: PIECE });
      const { bytes, complete } = piece ?? { bytes: new Uint8Array(), complete: false };
      offset += bytes.length;
      await sent(socket, from === undefined ? decoder.decode(bytes, { stream: !complete }) : bytes);
      if (complete) return end(socket, OVER, 'No more data');
      if (bytes.length > 0) {
        idleSince = this.#deps.clock.monotonic();
        continue;
      }
      if (this.#deps.clock.monotonic() - idleSince > PATIENCE_MS) {
        const known = await this.#build(tenant, build);
        if (piece === undefined) return end(socket, NO_STREAM, 'Error with log streaming');
        // Its executor died with the end of the log.
        if (known === undefined || known.result !== null) return end(socket, OVER, 'No more data');
        idleSince = this.#deps.clock.monotonic();
      }
      await pause(TICK_MS, gone.signal);
    }
  }

  #check(reader: Reader): void {
    const { socket } = reader;
    const refusal = this.#refusal(reader);
    if (!reader.alive) socket.terminate();
    else if (refusal !== undefined) end(socket, BAD_REQUEST, refusal);
    else socket.ping();
    reader.alive = false;
  }

  /** Why it may not read any more. */
  #refusal({ tenant, auth, caller }: Reader): string | undefined {
    const now = toMilliseconds(this.#deps.clock.now());
    if (caller?.kind === 'user' && caller.user.expiresAt * 1000 <= now) return 'the token has expired';
    if (!isHidden(auth.rules, tenant)) return undefined;
    return caller !== undefined && mayRead(auth.rules, caller, tenant) ? undefined : TOKEN_NEEDED;
  }
}

const PATH = /^\/api\/tenant\/([^/]+)\/console-stream\/?(?:\?.*)?$/;

/** Undefined: the request is for something else. */
function tenantIn(url: string | undefined): TenantName | undefined {
  const [, name] = PATH.exec(url ?? '') ?? [];
  try {
    return name === undefined ? undefined : decodeURIComponent(name);
  } catch (error) {
    if (error instanceof URIError) return undefined;
    throw error;
  }
}

/** Resolves when the operating system has it, or the connection is gone. */
function sent(socket: WebSocket, text: string | Uint8Array): Promise<void> {
  if (text.length === 0 || socket.readyState !== WebSocket.OPEN) return Promise.resolve();
  return new Promise(resolve => socket.send(text, () => resolve()));
}

function end(socket: WebSocket, code: number, reason: string): void {
  socket.close(
    code,
    Buffer.from(reason)
      .subarray(0, LONGEST_REASON)
      .toString()
      .replace(/\ufffd$/, ''),
  );
}
