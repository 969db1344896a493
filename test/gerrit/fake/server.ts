/** HTTP: each request is named, logged, made to fail where a script says so, and done. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Ailment, Faults } from '../../github/fake/faults.ts';
import { type Caller, callerOf, challenge, type HttpAuth } from './actor.ts';
import { type GitAsked, readGitAsked, serveGitRequest } from './git-http.ts';
import type { RestAnswer } from './rest/call.ts';
import { ROUTES, type Route } from './rest/routes.ts';
import { RestRefused } from './rest-refused.ts';
import type { GerritWorld } from './world.ts';

/** A request that was taken, in order of arrival. */
export interface GerritRequestLog {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** E.g. `changes/detail`, `git/fetch`, `git/push`; `unknown`. */
  readonly operation: string;
  readonly body: unknown;
  /** Username; empty: none, or a wrong password. */
  readonly account: string;
  /** 0: no answer was sent. */
  status: number;
  /** Milliseconds. */
  readonly at: number;
}

export interface GerritServer extends AsyncDisposable {
  readonly origin: string;
  readonly requests: readonly GerritRequestLog[];
  /** Resolves when every request taken so far was carried out, also those whose sender is gone. */
  carriedOut(): Promise<void>;
}

export interface GerritServerDeps {
  readonly world: GerritWorld;
  readonly faults: Faults;
  readonly auth: HttpAuth;
  /** What went wrong in the fake itself. */
  readonly failures: string[];
}

export async function startGerritServer(deps: GerritServerDeps): Promise<GerritServer> {
  const requests: GerritRequestLog[] = [];
  const under = new Set<Promise<void>>();
  const server = createServer((request, response) => {
    const done = serve(deps, requests, request, response).catch(error => {
      deps.failures.push(`${request.method} ${request.url}: ${error instanceof Error ? error.stack : error}`);
      if (!response.headersSent) response.writeHead(500);
      response.end('Internal server error');
    });
    under.add(done);
    void done.finally(() => under.delete(done));
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    async carriedOut() {
      while (under.size > 0) await Promise.all(under);
    },
    async [Symbol.asyncDispose]() {
      deps.faults.heal();
      const closed = new Promise(resolve => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await Promise.all(under);
    },
  };
}

async function serve(
  deps: GerritServerDeps,
  requests: GerritRequestLog[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { world, faults, auth } = deps;
  const url = new URL(request.url ?? '/', world.origin);
  const method = request.method ?? 'GET';
  const caller = callerOf(world, auth, request);
  const git = readGitAsked(world, url);
  const route = git === undefined ? routeOf(method, url) : undefined;
  const body = git === undefined ? await textOf(request) : '';
  const operation =
    git === undefined ? (route?.operation ?? 'unknown') : git.writes ? 'git/push' : 'git/fetch';
  const path = url.pathname + url.search;
  const entry: GerritRequestLog = {
    method,
    path,
    operation,
    body: parsed(body),
    account: caller.kind === 'account' ? caller.account.username : '',
    status: 0,
    at: world.now(),
  };
  requests.push(entry);
  const ailment = faults.take({ operation, method, path, body });
  const ending = ailment === undefined ? undefined : await endingOf(ailment);
  if (ending !== undefined && ending.after !== true) {
    request.resume();
    return suffer(faults, entry, response, ending);
  }
  if (git !== undefined) return answerGit(deps, { request, response, url, git, caller, entry, ending });
  const answer = await answerRest(deps, caller, route, url, entry.body);
  if (ending !== undefined) return suffer(faults, entry, response, ending);
  const isKnown =
    answer.headers?.etag !== undefined && answer.headers.etag === request.headers['if-none-match'];
  entry.status = isKnown ? 304 : answer.status;
  send(response, isKnown ? { status: 304, headers: answer.headers ?? {} } : answer);
}

interface GitTurn {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly git: GitAsked;
  readonly caller: Caller;
  readonly entry: GerritRequestLog;
  readonly ending: Ending | undefined;
}

async function answerGit(deps: GerritServerDeps, turn: GitTurn): Promise<void> {
  const { request, response, url, git, caller, entry, ending } = turn;
  const done = await serveGitRequest(deps.world, {
    request,
    url,
    git,
    caller,
    challenge: challenge(deps.auth),
  });
  if (ending !== undefined) return suffer(deps.faults, entry, response, ending);
  entry.status = done.status;
  response.writeHead(done.status, done.headers).end(done.body);
}

type Ending = Exclude<Ailment, { readonly kind: 'late' | 'after' }>;

/** What becomes of the request in place of its answer; undefined: it was only late. */
async function endingOf(ailment: Ailment): Promise<Ending | undefined> {
  switch (ailment.kind) {
    case 'late':
      await delay(ailment.ms);
      return undefined;
    case 'after':
      await ailment.what();
      return undefined;
    default:
      return ailment;
  }
}

function routeOf(method: string, url: URL): Route | undefined {
  const path = url.pathname.replace(/^\/a\//, '/').slice(1);
  return ROUTES.find(each => each.method === method && each.path.test(path));
}

async function answerRest(
  { world, auth }: GerritServerDeps,
  caller: Caller,
  route: Route | undefined,
  url: URL,
  body: unknown,
): Promise<RestAnswer> {
  if (caller.kind === 'bad')
    return { status: 401, text: 'Unauthorized', headers: { 'www-authenticate': challenge(auth) } };
  if (route === undefined) return { status: 404, text: 'Not Found' };
  const path = url.pathname.replace(/^\/a\//, '/').slice(1);
  const parts = (route.path.exec(path) ?? []).slice(1).map(each => decodeURIComponent(each));
  const account = caller.kind === 'account' ? caller.account : null;
  const call = { world, caller: account, query: url.searchParams, parts, body };
  try {
    if (route.method === 'GET') return await route.handle(call);
    return await world.exclusively(async () => route.handle(call));
  } catch (error) {
    if (!(error instanceof RestRefused)) throw error;
    return { status: error.status, text: `${error.message}\n`, headers: error.headers };
  }
}

async function suffer(
  faults: Faults,
  entry: GerritRequestLog,
  response: ServerResponse,
  ailment: Ending,
): Promise<void> {
  if (ailment.kind === 'status') {
    entry.status = ailment.status;
    const type = ailment.html === undefined ? 'text/plain;charset=utf-8' : 'text/html';
    const text = ailment.html ?? `${ailment.message ?? 'Internal server error'}\n`;
    response.writeHead(ailment.status, { 'content-type': type, ...ailment.headers }).end(text);
    return;
  }
  if (ailment.kind === 'hang') {
    const gone = Promise.withResolvers<void>();
    response.once('close', gone.resolve);
    await Promise.race([faults.healed(), gone.promise]);
  }
  response.destroy();
}

/** JSON has a first line that no script can run. */
function send(response: ServerResponse, { status, json, text, headers = {} }: RestAnswer): void {
  const common = { 'content-disposition': 'attachment', 'x-content-type-options': 'nosniff' };
  if (text !== undefined)
    response.writeHead(status, { 'content-type': 'text/plain;charset=utf-8', ...headers }).end(text);
  else if (json === undefined) response.writeHead(status, { ...common, ...headers }).end();
  else
    response
      .writeHead(status, { ...common, 'content-type': 'application/json;charset=utf-8', ...headers })
      .end(`)]}'\n${JSON.stringify(json)}\n`);
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

function parsed(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
