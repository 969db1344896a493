/**
 * Serves the logs of this executor's builds to webs on other machines:
 *
 *     GET /logs/<build uuid>?offset=0&limit=65536
 *     authorization: Bearer …                      see log-access.ts; absent where no secret is set
 *
 *     200  the bytes from `offset`, at most `limit` (never more than 1 MiB)
 *          x-gatehouse-log-next: 4711              offset to continue from
 *          x-gatehouse-log-complete: false         true: nothing will follow
 *     GET /logs/<build uuid>/packed                the whole log, compressed by gzip, once it is packed
 *     GET /logs/<build uuid>/files                 the list of what its job left, as kept (log-store/), JSON
 *     GET /logs/<build uuid>/files/<sha256>        one of them, compressed by gzip
 *
 *     404  there is no such log here (yet)
 *     400, 401, 405                                with the reason as one line of text
 *
 * Read-only, one small file per request, nothing cached; `log-client.ts` is the other side.
 */
import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isUuid } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { nodeHttp } from '../lib/node-http.ts';
import type { Secret } from '../lib/secret.ts';
import { mayReadLog } from './log-access.ts';
import { openKept, readKeptFiles } from './log-store/kept-files.ts';
import { openPackedLog, readBuildLog } from './log-store/read-log.ts';

/** Settings `log_dir`, `log_listen_address`, `log_port` and `log_token` of section `[executor]`. */
export interface LogServerOptions {
  readonly logDir: string;
  readonly listenAddress: string;
  /** 0: any free port. */
  readonly port: number;
  /** Undefined: every client that reaches the port may read. */
  readonly secret: Secret | undefined;
  /** Name of this machine for others, when it listens on all addresses. */
  readonly host: string;
  readonly log: Pick<Log, 'warn'>;
}

/** Listens until it is closed. */
export interface LogServer extends AsyncDisposable {
  /** `http://host:port`, for the registry. */
  readonly address: string;
  /** Cuts requests that are being answered. Idempotent. */
  close(): Promise<void>;
}

/** Offset in bytes to continue from. */
export const NEXT_HEADER = 'x-gatehouse-log-next';
/** `true` or `false`: whether the log is complete and the part reaches its end. */
export const COMPLETE_HEADER = 'x-gatehouse-log-complete';
const MAX_LIMIT = 1_048_576;
const DEFAULT_LIMIT = 65_536;

/** @throws Error when it cannot listen, with the setting to change. */
export async function startLogServer(options: LogServerOptions): Promise<LogServer> {
  const server = nodeHttp.createServer(
    { requestTimeout: 10_000, headersTimeout: 5_000 },
    (request, response) => {
      answer(options, request, response).catch(error => {
        options.log.warn({ err: error, url: request.url }, 'a log could not be read');
        if (response.headersSent) response.destroy();
        else refuse(response, 500, 'the log could not be read');
      });
    },
  );
  await listen(server, options);
  const at = server.address();
  const port = at !== null && typeof at === 'object' ? at.port : options.port;
  async function close(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closed;
  }
  return { address: addressOf(options, port), close, [Symbol.asyncDispose]: close };
}

async function listen(server: Server, { listenAddress, port }: LogServerOptions): Promise<void> {
  server.listen(port, listenAddress);
  try {
    await once(server, 'listening');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(
      `[executor] log_listen_address and log_port: cannot listen on ${listenAddress} port ${port}: ${reason}`,
      { cause: error },
    );
  }
}

function addressOf({ listenAddress, host }: LogServerOptions, port: number): string {
  const name = listenAddress === '0.0.0.0' || listenAddress === '::' ? host : listenAddress;
  return `http://${isIPv6(name) ? `[${name}]` : name}:${port}`;
}

async function answer(
  { logDir, secret }: LogServerOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (request.method !== 'GET') return refuse(response, 405, 'logs can only be read (GET)');
  const url = URL.parse(request.url ?? '', 'http://executor');
  const [, build = '', below, sha256] = PATH.exec(url?.pathname ?? '') ?? [];
  if (url === null || !isUuid(build))
    return refuse(response, 404, 'there is only /logs/<build> and what is below it');
  if (!mayReadLog(secret, build, request.headers.authorization))
    return refuse(
      response,
      401,
      'the authorization is not one of this build; is [executor] log_token the same here?',
    );
  if (below === 'packed') {
    const packed = await openPackedLog(logDir, build);
    return packed === undefined
      ? refuse(response, 404, `the log of build ${build} is not packed here`)
      : sendGzip(response, packed);
  }
  if (below !== undefined) return answerFiles(logDir, build, sha256, response);
  const offset = whole(url.searchParams.get('offset'), 0);
  const limit = whole(url.searchParams.get('limit'), DEFAULT_LIMIT);
  if (offset === undefined || limit === undefined)
    return refuse(response, 400, 'offset and limit are whole numbers of bytes');
  const part = await readBuildLog(logDir, build, offset, Math.min(limit, MAX_LIMIT));
  if (part === undefined) return refuse(response, 404, `there is no log of build ${build} here`);
  response.writeHead(200, {
    ...COMMON,
    'content-type': 'application/octet-stream',
    'content-length': part.bytes.length,
    [NEXT_HEADER]: String(part.next),
    [COMPLETE_HEADER]: String(part.complete),
  });
  response.end(part.bytes);
}

const PATH = /^\/logs\/([0-9a-f]{32})(?:\/(packed|files(?:\/([0-9a-f]{64}))?))?$/;

async function answerFiles(
  logDir: string,
  build: string,
  sha256: string | undefined,
  response: ServerResponse,
): Promise<void> {
  if (sha256 === undefined) {
    const kept = await readKeptFiles(logDir, build);
    if (kept === undefined) return refuse(response, 404, `there are no files of build ${build} here`);
    const text = Buffer.from(JSON.stringify(kept));
    response.writeHead(200, {
      ...COMMON,
      'content-type': 'application/json',
      'content-length': text.length,
    });
    response.end(text);
    return;
  }
  const content = await openKept(logDir, build, sha256);
  if (content === undefined) return refuse(response, 404, `build ${build} has no such file here`);
  await sendGzip(response, content);
}

async function sendGzip(response: ServerResponse, content: Readable): Promise<void> {
  response.writeHead(200, { ...COMMON, 'content-type': 'application/gzip' });
  await pipeline(content, response);
}

const COMMON = { 'x-content-type-options': 'nosniff', 'cache-control': 'no-store' };

function refuse(response: ServerResponse, status: number, text: string): void {
  response.writeHead(status, { ...COMMON, 'content-type': 'text/plain; charset=utf-8' });
  response.end(`${text}\n`);
}

function whole(text: string | null, fallback: number): number | undefined {
  if (text === null) return fallback;
  return /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}
