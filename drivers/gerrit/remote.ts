/**
 * Where git finds a project.
 *
 *     https://review.example.org/a/acme/app              Authorization: Basic <user:password>, or a bearer token, or a cookie
 *     ssh://ci@review.example.org:29418/acme/app         GIT_SSH_COMMAND with the key
 *     https://review.example.org/acme/app                what is public
 *
 * With `git_mirror`, known commits are fetched from `<git_mirror>/acme/app` first, without credentials.
 *
 * Nothing of it is lent to executors: a password, token or key of an account opens all that the account may do, votes and submits
 * included, and does not end by itself (hosts.md, P9). Executors of other machines have an account of their own that only reads, or
 * `auth_type = none` where the projects are public.
 */
import type { Connection } from '../../src/driver/connection.ts';
import type { HostLater } from '../../src/driver/host-later.ts';
import type { AskUploadPack } from '../../src/git/process/remote.ts';
import { sshEnvironment } from '../../src/git/process/ssh.ts';
import { projectIdOf } from '../../src/model/project.ts';
import type { GerritAuth, GerritOptions } from './options.ts';

type Options = Pick<GerritOptions, 'server' | 'baseUrl' | 'auth' | 'ssh' | 'gitOverSsh' | 'gitMirror'>;

/** A name that is none of a project at Gerrit. */
class BadProjectName extends Error {
  override readonly name = 'BadProjectName';
  readonly fault = 'user';
  readonly retryable = false;
  readonly later: HostLater;
  constructor(project: string) {
    const text = `"${project.slice(0, 200)}" cannot be a project of Gerrit`;
    super(text);
    this.later = { reason: 'bad-url', text };
  }
}

/** How a project, by its name, is read over SSH without git; undefined: by git alone. */
type SshReading = (project: string) => AskUploadPack | undefined;

/** Contacts nothing: neither address nor credentials change while it lives. */
export function createGerritRemote(options: Options, overSsh?: SshReading): Connection['remote'] {
  const { server, baseUrl, auth, ssh, gitOverSsh, gitMirror } = options;
  const headers = headersOf(auth);
  // git cannot answer a digest challenge from a header.
  const usesSsh = ssh !== undefined && (gitOverSsh || headers === undefined);
  const environment = ssh && sshEnvironment({ keyFile: ssh.key, knownHostsFile: ssh.knownHosts });
  return async project => {
    const { name } = projectIdOf(project);
    const path = encodedProject(name);
    const mirrored = gitMirror === undefined ? {} : { mirror: { url: `${gitMirror}/${path}` } };
    if (usesSsh && environment !== undefined) {
      const authority = `${encodeURIComponent(ssh.user)}@${ssh.host ?? server}:${ssh.port}`;
      const askUploadPack = overSsh?.(name);
      const url = `ssh://${authority}/${path}`;
      return { url, environment, ...mirrored, ...(askUploadPack === undefined ? {} : { askUploadPack }) };
    }
    return headers === undefined
      ? { url: `${baseUrl}/${path}`, ...mirrored }
      : { url: `${baseUrl}/a/${path}`, headers, ...mirrored };
  };
}

/** For people and other machines, without credentials. */
export function gerritPublicUrl({ baseUrl }: Pick<Options, 'baseUrl'>): Connection['publicUrl'] {
  return project => `${baseUrl}/${encodedProject(projectIdOf(project).name)}`;
}

/** @returns undefined: there is none, and git goes in without. */
function headersOf(auth: GerritAuth): readonly string[] | undefined {
  switch (auth.kind) {
    case 'basic': {
      const pair = Buffer.from(`${auth.user}:${auth.password.reveal()}`).toString('base64');
      return [`Authorization: Basic ${pair}`];
    }
    case 'bearer':
      return [`Authorization: Bearer ${auth.token.reveal()}`];
    case 'cookie':
      return [`Cookie: ${auth.cookie.reveal()}`];
    case 'digest':
    case 'ssh':
    case 'none':
      return undefined;
  }
}

/** Slashes stay. @throws BadProjectName where a server would take another path. */
function encodedProject(name: string): string {
  const parts = name.split('/');
  const isPath = parts.every(part => part !== '' && part !== '.' && part !== '..');
  if (!isPath || /\p{Cc}/u.test(name)) throw new BadProjectName(name);
  return parts.map(part => encodeURIComponent(part.toWellFormed())).join('/');
}
