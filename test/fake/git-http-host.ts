/**
 * A code host that serves bare repositories over HTTP as git's own `http-backend` does, and that can be ill.
 *
 *     await using host = await startGitHttpHost('/srv/repositories');
 *     // baseurl = host.url: <url>/org/app is /srv/repositories/org/app(.git)
 *     host.ail(request => (request.service === 'git-receive-pack' ? { kind: 'status', status: 403 } : undefined));
 *     host.heal();
 *
 * What it does with a request is chosen when the request comes; requests under way keep what they got, except that
 * `heal` ends those that hang.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { type CgiAnswer, serveHttpBackend } from './http-backend.ts';

export interface GitRequest {
  readonly service: 'git-upload-pack' | 'git-receive-pack';
  /** `advertisement`: which refs there are; `exchange`: the pack itself, or a listing in protocol 2. */
  readonly step: 'advertisement' | 'exchange';
  /** As in the URL. */
  readonly project: string;
  /** The header of that name. */
  readonly authorization?: string;
}

export type Ailment =
  | { readonly kind: 'status'; readonly status: number; readonly retryAfterSeconds?: number }
  /** Does what was asked for, so many milliseconds later. */
  | { readonly kind: 'late'; readonly ms: number }
  /** Does what was asked for, once this has happened. */
  | { readonly kind: 'after'; readonly what: Promise<unknown> }
  /** Takes the request and never answers. */
  | { readonly kind: 'hang' }
  /** Answers correctly, so many bytes a second. */
  | { readonly kind: 'drip'; readonly bytesPerSecond: number }
  /** Ends the connection after so many bytes of the answer's body. */
  | { readonly kind: 'truncate'; readonly bytes: number }
  /** Ends the connection without having done anything. */
  | { readonly kind: 'reset' }
  /** Does what was asked for, and ends the connection instead of answering. */
  | { readonly kind: 'lose-reply' };

export interface GitHttpHost extends AsyncDisposable {
  /** Without a slash at the end. */
  readonly url: string;
  /** Requests taken so far, with what was done to them. */
  readonly requests: readonly (GitRequest & { readonly ailment: Ailment['kind'] | 'none' })[];
  /** Taken so far. */
  connections(): number;
  /** Replaces what was said before. @param choose undefined: this request is served. */
  ail(choose: (request: GitRequest) => Ailment | undefined): void;
  /** Serves everything; requests that hang are cut. */
  heal(): void;
}

export async function startGitHttpHost(root: string): Promise<GitHttpHost> {
  const requests: (GitRequest & { readonly ailment: Ailment['kind'] | 'none' })[] = [];
  const hanging = new Set<ServerResponse>();
  const ended = new AbortController();
  const healthy = () => undefined;
  let choose: (request: GitRequest) => Ailment | undefined = healthy;

  const server = createServer((request, response) => {
    const asked = read(request);
    if (asked === undefined) {
      response.writeHead(404).end();
      return;
    }
    const ailment = choose(asked);
    requests.push({ ...asked, ailment: ailment?.kind ?? 'none' });
    serve(request, response, ailment).catch(() => response.destroy());
  });

  let connections = 0;
  server.on('connection', () => {
    connections += 1;
  });

  async function serve(request: IncomingMessage, response: ServerResponse, ailment: Ailment | undefined) {
    switch (ailment?.kind) {
      case 'status':
        request.resume();
        if (ailment.retryAfterSeconds !== undefined)
          response.setHeader('Retry-After', String(ailment.retryAfterSeconds));
        response.writeHead(ailment.status, { 'Content-Type': 'text/plain' }).end('no\n');
        return;
      case 'hang':
        request.resume();
        hanging.add(response);
        response.on('close', () => hanging.delete(response));
        return;
      case 'reset':
        request.destroy();
        return;
      default:
        if (ailment?.kind === 'late') await delay(ailment.ms);
        if (ailment?.kind === 'after') await ailment.what;
        await answer(response, await runBackend(root, request, ended.signal), ailment);
    }
  }

  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(0, '127.0.0.1', resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    connections: () => connections,
    ail(rule) {
      choose = rule;
    },
    heal() {
      choose = healthy;
      for (const response of hanging) response.destroy();
    },
    async [Symbol.asyncDispose]() {
      ended.abort();
      const closed = new Promise(done => server.close(done));
      server.closeAllConnections();
      await closed;
    },
  };
}

function read(request: IncomingMessage): GitRequest | undefined {
  const url = new URL(request.url ?? '/', 'http://host');
  const found = /^\/(.+?)\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(url.pathname);
  const [, project = '', end = ''] = found ?? [];
  const service = end === 'info/refs' ? url.searchParams.get('service') : end;
  if (service !== 'git-upload-pack' && service !== 'git-receive-pack') return undefined;
  const { authorization } = request.headers;
  return {
    service,
    step: end === 'info/refs' ? 'advertisement' : 'exchange',
    project,
    ...(authorization === undefined ? {} : { authorization }),
  };
}

/** One CGI process, run to its end: what it was asked for has happened when this resolves. */
async function runBackend(root: string, request: IncomingMessage, signal: AbortSignal): Promise<CgiAnswer> {
  const url = new URL(request.url ?? '/', 'http://host');
  const variables = {
    PATH: process.env.PATH ?? '',
    GIT_PROJECT_ROOT: root,
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    REQUEST_METHOD: request.method ?? 'GET',
    PATH_INFO: url.pathname,
    QUERY_STRING: url.search.slice(1),
    CONTENT_TYPE: request.headers['content-type'] ?? '',
    HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
    GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    // Makes http-backend take pushes; who may push is not what these tests are about.
    REMOTE_USER: 'gatehouse',
  };
  return serveHttpBackend({ variables, body: request, signal });
}

async function answer(
  response: ServerResponse,
  { status, headers, body }: CgiAnswer,
  ailment: Ailment | undefined,
): Promise<void> {
  if (ailment?.kind === 'lose-reply') {
    response.destroy();
    return;
  }
  response.writeHead(status, { ...headers, 'Content-Length': body.length });
  if (ailment?.kind === 'truncate') {
    response.write(body.subarray(0, ailment.bytes), () => response.destroy());
    return;
  }
  if (ailment?.kind === 'drip') {
    for (let at = 0; at < body.length && !response.destroyed; at += ailment.bytesPerSecond) {
      response.write(body.subarray(at, at + ailment.bytesPerSecond));
      await delay(1000);
    }
    response.end();
    return;
  }
  response.end(body);
}
