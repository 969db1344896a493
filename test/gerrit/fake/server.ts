/** HTTP: each request is named, logged, made to fail where a script says so, and done. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Faults } from '../../fake/code-host/faults.ts';
import {
  bodyOf,
  type Ending,
  endingOf,
  endWithoutAnswer,
  type FakeHttp,
  parsedBody,
  startFakeHttp,
} from '../../fake/code-host/http.ts';
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

export interface GerritServer extends FakeHttp {
  readonly requests: readonly GerritRequestLog[];
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
  const http = await startFakeHttp({
    faults: deps.faults,
    serve: (request, response) => serve(deps, requests, request, response),
    failed: text => deps.failures.push(text),
  });
  return { ...http, requests };
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
  const body = git === undefined ? await bodyOf(request) : '';
  const operation =
    git === undefined ? (route?.operation ?? 'unknown') : git.writes ? 'git/push' : 'git/fetch';
  const path = url.pathname + url.search;
  const entry: GerritRequestLog = {
    method,
    path,
    operation,
    body: parsedBody(body),
    account: caller.kind === 'account' ? caller.account.username : '',
    status: 0,
    at: world.now(),
  };
  requests.push(entry);
  const ending = await endingOf(faults.take({ operation, method, path, body }));
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
  await endWithoutAnswer(response, ailment.kind, faults);
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
