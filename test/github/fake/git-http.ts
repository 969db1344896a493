/** git over smart HTTP through git's own CGI program; credentials and rules are the fake's. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createGunzip } from 'node:zlib';
import { serveHttpBackend } from '../../fake/http-backend.ts';
import type { Actor } from './actor.ts';
import { allows, mayUseGit } from './authority.ts';
import { GIT_ENVIRONMENT, refsOf } from './bare-git.ts';
import type { Events } from './events.ts';
import { writePushRules } from './push-rules.ts';
import { noticeRefs } from './refs-moved.ts';
import { fullName, type Repository, repositoryNamed, type World } from './world.ts';

export interface GitRequest {
  readonly repository: Repository | undefined;
  /** Of a renamed one. */
  readonly movedTo: Repository | undefined;
  readonly writes: boolean;
  /** The pack itself, not the list of refs. */
  readonly exchange: boolean;
  /** Below the repository, e.g. `info/refs`. */
  readonly rest: string;
}

/** Undefined: not a request of git. */
export function readGitRequest(world: World, url: URL): GitRequest | undefined {
  const found = /^\/([^/]+\/[^/]+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(
    url.pathname,
  );
  if (found === null) return undefined;
  const [, name = '', rest = ''] = found;
  const service = rest === 'info/refs' ? url.searchParams.get('service') : rest;
  const moved = world.moved.get(name.toLowerCase());
  return {
    repository: repositoryNamed(world, name),
    movedTo: [...world.repositories.values()].find(each => each.id === moved),
    writes: service === 'git-receive-pack',
    exchange: rest !== 'info/refs',
    rest,
  };
}

export interface GitDone {
  readonly status: number;
  /** Sends the answer. */
  readonly answer: (response: ServerResponse) => void;
}

/** Does what git asks; the answer is sent by the caller. Events of a push are queued before. */
export async function serveGit(
  world: World,
  events: Events,
  request: IncomingMessage,
  url: URL,
  asked: GitRequest,
  actor: Actor | { readonly kind: 'bad' },
): Promise<GitDone> {
  const { repository, movedTo, writes, rest } = asked;
  if (repository === undefined && movedTo !== undefined)
    return refused(301, '', { location: `${world.origin}/${fullName(movedTo)}.git/${rest}${url.search}` });
  if (actor.kind === 'bad')
    return refused(401, 'Invalid username or token.', { 'www-authenticate': 'Basic realm="GitHub"' });
  if (repository === undefined || (repository.isPrivate && actor.kind === 'anonymous'))
    return actor.kind === 'anonymous'
      ? refused(401, 'Repository not found.', { 'www-authenticate': 'Basic realm="GitHub"' })
      : refused(404, 'Repository not found.');
  if (actor.kind === 'anonymous' && writes)
    return refused(401, 'No anonymous write access.', { 'www-authenticate': 'Basic realm="GitHub"' });
  if (actor.kind !== 'anonymous' && !mayUseGit(world, actor, repository, writes))
    return refused(
      403,
      writes
        ? `Permission to ${fullName(repository)}.git denied to ${actor.login}.`
        : 'Write access to repository not granted.',
    );
  if (writes && repository.archived) return refused(403, 'This repository was archived so it is read-only.');
  if (!(writes && asked.exchange)) return backend(repository, rest, request, url, {});
  const before = await refsOf(repository.dir);
  await writePushRules(repository);
  const workflows = actor.kind !== 'installation' || allows(actor, 'workflows', 'write') ? 'yes' : 'no';
  const done = await backend(repository, rest, request, url, {
    REMOTE_USER: actor.login,
    FAKE_WORKFLOWS: workflows,
  });
  await noticeRefs(world, events, repository, before, actor.login);
  return done;
}

function refused(status: number, text: string, headers: Record<string, string> = {}): GitDone {
  return {
    status,
    answer: response =>
      void response.writeHead(status, { 'content-type': 'text/plain', ...headers }).end(`${text}\n`),
  };
}

async function backend(
  repository: Repository,
  rest: string,
  request: IncomingMessage,
  url: URL,
  extra: Record<string, string>,
): Promise<GitDone> {
  const protocol = String(request.headers['git-protocol'] ?? '');
  const variables = {
    ...GIT_ENVIRONMENT,
    GIT_PROJECT_ROOT: repository.dir,
    GIT_HTTP_EXPORT_ALL: '1',
    PATH_INFO: `/${rest}`,
    QUERY_STRING: url.search.slice(1),
    REQUEST_METHOD: request.method ?? 'GET',
    CONTENT_TYPE: request.headers['content-type'] ?? '',
    GIT_PROTOCOL: protocol,
    REMOTE_USER: 'reader',
    ...extra,
  };
  const body = request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request;
  const { status, headers, body: content } = await serveHttpBackend({ variables, body });
  return { status, answer: response => void response.writeHead(status, headers).end(content) };
}
