/** HTTP: each request is named, judged, counted, done, and its answer judged. */
import { randomBytes } from 'node:crypto';
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
import type { Actor, BadCredentials } from './actor.ts';
import { type Answer, answerRest } from './answer-rest.ts';
import { readGitRequest, serveGit } from './git-http.ts';
import { runQuery } from './graphql/run-query.ts';
import { errorBody } from './refused.ts';
import type { Hub } from './rest/call.ts';
import { isShape } from './shape.ts';

/** A request that was taken, in order of arrival. */
export interface FakeRequest {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Operation id, `graphql`, `git/fetch`, `git/push`; `unknown`. */
  readonly operation: string;
  readonly body: unknown;
  /** Login of who asked; empty: no credentials. */
  readonly actor: string;
  /** 0: no answer was sent. */
  status: number;
  /** Of the primary limit: 1 a REST request, points of a query, 0 for 304. */
  cost: number;
  readonly at: number;
}

export interface FakeServer extends FakeHttp {
  readonly requests: readonly FakeRequest[];
}

export interface ServerDeps extends Hub {
  readonly faults: Faults;
  readonly violations: string[];
}

export async function startServer(deps: ServerDeps): Promise<FakeServer> {
  const requests: FakeRequest[] = [];
  const http = await startFakeHttp({
    faults: deps.faults,
    serve: (request, response) => serve(deps, requests, request, response),
    failed: text => deps.violations.push(`the fake failed at ${text}`),
  });
  return { ...http, requests };
}

async function serve(
  deps: ServerDeps,
  requests: FakeRequest[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { world, faults, credentials } = deps;
  const url = new URL(request.url ?? '/', world.origin);
  const method = request.method ?? 'GET';
  const actor = credentials.actorOf(request.headers.authorization);
  const git = readGitRequest(world, url);
  const body = git === undefined ? await bodyOf(request) : '';
  const operation =
    git === undefined ? operationOf(deps, method, url) : git.writes ? 'git/push' : 'git/fetch';
  const path = url.pathname + url.search;
  const entry: FakeRequest = {
    method,
    path,
    operation,
    body: parsedBody(body),
    actor: actor.kind === 'bad' ? '' : actor.login,
    status: 0,
    cost: 0,
    at: world.now(),
  };
  requests.push(entry);
  // From it clients learn how far their clock is from GitHub's.
  response.setHeader('date', new Date(world.now()).toUTCString());
  const ending = await endingOf(faults.take({ operation, method, path, body }));
  if (ending !== undefined && ending.after !== true) {
    request.resume();
    return suffer(deps, entry, response, ending);
  }
  if (git !== undefined) {
    const done = await serveGit(world, deps.events, request, url, git, actor);
    if (ending !== undefined) return suffer(deps, entry, response, ending);
    entry.status = done.status;
    return done.answer(response);
  }
  const answer = await answerTo(deps, { method, url, operation, body: entry.body, request, actor });
  entry.cost = answer.cost;
  if (ending !== undefined) return suffer(deps, entry, response, ending);
  entry.status = answer.status;
  send(response, answer.status, answer.body, answer.headers);
}

interface Asked {
  readonly method: string;
  readonly url: URL;
  readonly operation: string;
  readonly body: unknown;
  readonly request: IncomingMessage;
  readonly actor: Actor | BadCredentials;
}

async function answerTo(
  deps: ServerDeps,
  { method, url, operation, body, request, actor }: Asked,
): Promise<Answer> {
  const { world, limits, violations } = deps;
  if (actor.kind === 'bad') return { status: 401, body: errorBody(actor.text, 401), headers: {}, cost: 0 };
  const resource = operation === 'graphql' ? 'graphql' : 'core';
  const refused = limited(deps, actor, operation, method);
  if (refused !== undefined) return refused;
  if (operation !== 'graphql') {
    const answer = await answerRest(deps, {
      method,
      url,
      body,
      actor,
      ifNoneMatch: request.headers['if-none-match'],
    });
    if (operation !== 'rate-limit/get') limits.count(actor, operation, method, 'core', answer.cost);
    return { ...answer, headers: { ...limits.headers(actor, resource), ...answer.headers } };
  }
  if (actor.kind === 'anonymous' || actor.kind === 'app')
    return {
      status: 401,
      body: errorBody('This endpoint requires you to be authenticated.', 401),
      headers: {},
      cost: 0,
    };
  if (actor.kind === 'installation' && actor.installation.suspended) return suspended();
  const { allowance, used, reset } = limits.meterOf(actor);
  const budget = { limit: allowance.graphql, used: used.graphql, reset };
  const query = isShape(body) ? body : {};
  const variables = isShape(query.variables) ? query.variables : {};
  const result = await runQuery(world, actor, budget, String(query.query), variables);
  violations.push(...result.problems);
  limits.count(actor, operation, method, 'graphql', result.cost);
  return { status: 200, body: result.body, headers: limits.headers(actor, 'graphql'), cost: result.cost };
}

export function suspended(): Answer {
  return { status: 403, body: errorBody('This installation has been suspended', 403), headers: {}, cost: 0 };
}

function limited(
  { limits }: ServerDeps,
  actor: Actor,
  operation: string,
  method: string,
): Answer | undefined {
  const verdict = limits.verdict(actor, operation, method);
  if (verdict.kind === 'free') return undefined;
  const headers = limits.headers(actor, operation === 'graphql' ? 'graphql' : 'core');
  if (verdict.kind === 'secondary')
    return {
      status: 403,
      body: errorBody(verdict.text, 403),
      headers: { ...headers, 'retry-after': String(verdict.retryAfter) },
      cost: 0,
    };
  if (operation === 'graphql')
    return {
      status: 200,
      body: { errors: [{ type: 'RATE_LIMITED', message: verdict.text }] },
      headers,
      cost: 0,
    };
  return { status: 403, body: errorBody(verdict.text, 403), headers, cost: 0 };
}

/** What a request is called before it is judged. */
function operationOf({ world }: ServerDeps, method: string, url: URL): string {
  const graphql =
    world.description.product === 'ghes' ? '/api/graphql' : `${new URL(world.api).pathname}/graphql`;
  if (url.pathname === graphql) return 'graphql';
  const prefix = new URL(world.api).pathname;
  if (!url.pathname.startsWith(`${prefix}/`)) return 'unknown';
  const path = url.pathname.slice(prefix.length).replace(/^\/repositories\/\d+/, '/repos/x/x');
  return world.description.find(method, path)?.operation.id ?? 'unknown';
}

async function suffer(
  { faults }: ServerDeps,
  entry: FakeRequest,
  response: ServerResponse,
  ailment: Ending,
): Promise<void> {
  if (ailment.kind === 'status') {
    entry.status = ailment.status;
    if (ailment.html !== undefined)
      response
        .writeHead(ailment.status, { 'content-type': 'text/html', ...ailment.headers })
        .end(ailment.html);
    else
      send(
        response,
        ailment.status,
        errorBody(ailment.message ?? 'Server Error', ailment.status),
        ailment.headers ?? {},
      );
    return;
  }
  await endWithoutAnswer(response, ailment.kind, faults);
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>>,
): void {
  const type = body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' };
  response.writeHead(status, {
    ...type,
    'x-github-request-id': randomBytes(8).toString('hex').toUpperCase(),
    ...headers,
  });
  response.end(body === undefined ? undefined : JSON.stringify(body));
}
