/** One REST request: judged by GitHub's description, done by its handler, its answer judged as well. */
import type { Actor } from './actor.ts';
import { checkAuthority } from './authority.ts';
import { etagOf } from './etag.ts';
import { errorBody, RequestRefused } from './refused.ts';
import { appHandlers } from './rest/apps.ts';
import type { Call, Handlers, Hub, Reply } from './rest/call.ts';
import { checkHandlers } from './rest/checks.ts';
import { gitDataHandlers } from './rest/git-data.ts';
import { hookHandlers } from './rest/hooks.ts';
import { issueHandlers } from './rest/issues.ts';
import { mergeHandlers } from './rest/merge.ts';
import { metaHandlers } from './rest/meta.ts';
import { pullHandlers } from './rest/pulls.ts';
import { repositoryHandlers } from './rest/repositories.ts';
import { statusHandlers } from './rest/statuses.ts';
import { isShape, type Shape } from './shape.ts';
import { fullName, type Repository, repositoryNamed, type World } from './world.ts';

export interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly cost: number;
}

export interface RestRequest {
  readonly method: string;
  readonly url: URL;
  readonly body: unknown;
  readonly actor: Actor;
  readonly ifNoneMatch: string | undefined;
}

const HANDLERS: Handlers = {
  ...appHandlers,
  ...checkHandlers,
  ...gitDataHandlers,
  ...hookHandlers,
  ...issueHandlers,
  ...mergeHandlers,
  ...metaHandlers,
  ...pullHandlers,
  ...repositoryHandlers,
  ...statusHandlers,
};

/** Answers that GitHub may give to any request, whether or not its description says so. */
const ALWAYS_POSSIBLE = new Set([401, 403, 404, 405, 409, 422, 429]);

export async function answerRest(
  deps: Hub & { readonly violations: string[] },
  request: RestRequest,
): Promise<Answer> {
  const { world, violations } = deps;
  const { method, url, body, actor } = request;
  const path = currentPath(world, url.pathname.slice(new URL(world.api).pathname.length));
  const found = world.description.find(method, path);
  if (found === undefined) {
    violations.push(`${method} ${path}: no such operation in the description`);
    return answer(404, errorBody('Not Found', 404));
  }
  const { operation, parameters } = found;
  const moved = movedRepository(world, parameters);
  if (moved !== undefined) return redirect(world, moved, path, request);
  const problems = operation.requestProblems(parameters, Object.fromEntries(url.searchParams), body);
  if (problems.length > 0) {
    violations.push(...problems.map(each => `${operation.id}: ${each}`));
    return answer(400, errorBody("GitHub's description does not allow this request", 400, problems));
  }
  const call: Call = {
    ...deps,
    path: parameters,
    query: Object.fromEntries(url.searchParams),
    body: isShape(body) || Array.isArray(body) ? (body as Shape) : {},
    actor,
  };
  try {
    const reply = await handle(call, operation.id);
    const wrong = operation.answerProblems(reply.status, reply.body);
    if (wrong.length > 0)
      throw new Error(`wrong answer of ${operation.id}: ${reply.status} ${wrong.slice(0, 6).join('; ')}`);
    return conditional(reply, request);
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    const refusal = errorBody(error.message, error.status, error.errors);
    if (!ALWAYS_POSSIBLE.has(error.status))
      violations.push(`${operation.id}: a refusal with ${error.status}`);
    return { ...answer(error.status, refusal), headers: error.headers };
  }
}

async function handle(call: Call, operation: string): Promise<Reply> {
  const { actor, world, path } = call;
  if (actor.kind === 'installation' && actor.installation.suspended)
    throw new RequestRefused(403, 'This installation has been suspended');
  checkAuthority(
    operation,
    actor,
    path.repo === undefined ? undefined : repositoryNamed(world, `${path.owner}/${path.repo}`),
  );
  const handler = HANDLERS[operation];
  if (handler === undefined) throw new Error(`the fake does not serve ${operation}`);
  return handler(call);
}

function answer(status: number, body: unknown): Answer {
  return { status, body, headers: {}, cost: 1 };
}

function conditional(reply: Reply, { method, url, ifNoneMatch }: RestRequest): Answer {
  const links = linksOf(reply, url);
  const { status, body, headers = {} } = reply;
  if (method !== 'GET' || body === undefined) return { status, body, headers, cost: 1 };
  const etag = etagOf(body);
  if (ifNoneMatch === etag) return { status: 304, headers: { etag }, cost: 0 };
  return { status, body, headers: { etag, ...links, ...headers }, cost: 1 };
}

function linksOf({ lastPage, cursor }: Reply, url: URL): Record<string, string> {
  const at = (name: string, value: string, rel: string) => {
    const target = new URL(url);
    target.searchParams.set(name, value);
    return `<${target}>; rel="${rel}"`;
  };
  if (cursor !== undefined) return { link: at('cursor', cursor, 'next') };
  const page = Number(url.searchParams.get('page') ?? 1);
  if (lastPage === undefined || lastPage === 1) return {};
  const forward =
    page < lastPage ? [at('page', String(page + 1), 'next'), at('page', String(lastPage), 'last')] : [];
  const back = page > 1 ? [at('page', String(page - 1), 'prev'), at('page', '1', 'first')] : [];
  return { link: [...back, ...forward].join(', ') };
}

/** `/repositories/<id>` is the repository under its present name. */
function currentPath(world: World, path: string): string {
  const found = /^\/repositories\/(\d+)(.*)$/.exec(path);
  if (found === null) return path;
  const repository = [...world.repositories.values()].find(({ id }) => id === Number(found[1]));
  return repository === undefined ? path : `/repos/${fullName(repository)}${found[2]}`;
}

function movedRepository(world: World, { owner, repo }: Record<string, string>): Repository | undefined {
  const name = `${owner}/${repo}`.toLowerCase();
  if (world.repositories.has(name)) return undefined;
  const id = world.moved.get(name);
  return [...world.repositories.values()].find(each => each.id === id);
}

function redirect(world: World, { id }: Repository, path: string, { method, url }: RestRequest): Answer {
  const rest = path.split('/').slice(4).join('/');
  const location = `${world.api}/repositories/${id}${rest === '' ? '' : `/${rest}`}${url.search}`;
  const status = method === 'GET' ? 301 : 307;
  const message = status === 301 ? 'Moved Permanently' : 'Temporary Redirect';
  return {
    status,
    body: { message, url: location, documentation_url: 'https://docs.github.com/rest' },
    headers: { location },
    cost: 1,
  };
}
