/** git over smart HTTP: reads through git's own CGI program, pushes through the fake's `receive-pack`. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { serveHttpBackend } from '../../fake/http-backend.ts';
import type { Caller } from './actor.ts';
import { may, seesChange } from './authority.ts';
import { changeRefs } from './doing/note.ts';
import { advertiseRefs, receivePack } from './receive-pack.ts';
import type { FakeAccount, FakeProject, GerritWorld } from './world.ts';

export interface GitAsked {
  /** Undefined: there is none of that name. */
  readonly project: FakeProject | undefined;
  readonly writes: boolean;
  /** Below the repository, e.g. `info/refs`. */
  readonly rest: string;
}

export interface GitAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
}

export interface GitTask {
  readonly request: IncomingMessage;
  readonly url: URL;
  readonly git: GitAsked;
  readonly caller: Caller;
  /** For `WWW-Authenticate`. */
  readonly challenge: string;
}

/** Undefined: not a request of git. */
export function readGitAsked(world: GerritWorld, url: URL): GitAsked | undefined {
  const found = /^(?:\/a|\/p)?\/(.+?)(?:\.git)?\/(info\/refs|git-upload-pack|git-receive-pack)$/.exec(
    url.pathname,
  );
  if (found === null) return undefined;
  const [, name = '', rest = ''] = found;
  const service = rest === 'info/refs' ? url.searchParams.get('service') : rest;
  const project = world.projects.get(decodeURIComponent(name));
  return { project, writes: service === 'git-receive-pack', rest };
}

/** Does what git asks; the answer is sent by the caller. Events of a push are sent before. */
export async function serveGitRequest(world: GerritWorld, task: GitTask): Promise<GitAnswer> {
  const { git, caller, challenge } = task;
  const account = caller.kind === 'account' ? caller.account : null;
  if (caller.kind === 'bad' || (git.writes && account === null))
    return refused(401, 'Unauthorized', { 'www-authenticate': challenge });
  if (git.project === undefined || !may(account, 'read', git.project)) return refused(404, 'Not Found');
  if (!git.writes || account === null) return backend(world, git.project, account, task);
  return git.rest === 'info/refs'
    ? advertiseRefs(git.project)
    : receivePack(world, git.project, account, task);
}

function refused(status: number, text: string, headers: Record<string, string> = {}): GitAnswer {
  return { status, headers: { 'content-type': 'text/plain', ...headers }, body: `${text}\n` };
}

async function backend(
  world: GerritWorld,
  project: FakeProject,
  account: FakeAccount | null,
  { request, url, git }: GitTask,
): Promise<GitAnswer> {
  const hidden = [...world.changes.values()]
    .filter(each => each.project === project && each.now.private && !seesChange(account, each))
    .map(each => changeRefs(each.number));
  const config = hidden.flatMap((ref, at) => [
    [`GIT_CONFIG_KEY_${at}`, 'uploadpack.hideRefs'],
    [`GIT_CONFIG_VALUE_${at}`, ref],
  ]);
  return serveHttpBackend({
    variables: {
      PATH: process.env.PATH ?? '/usr/bin:/bin',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_COUNT: String(hidden.length),
      ...Object.fromEntries(config),
      GIT_PROJECT_ROOT: project.dir,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: `/${git.rest}`,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method ?? 'GET',
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
      REMOTE_USER: account?.username ?? 'reader',
    },
    body: unzipped(request),
  });
}

export function unzipped(request: IncomingMessage): Readable {
  return request.headers['content-encoding'] === 'gzip' ? request.pipe(createGunzip()) : request;
}
