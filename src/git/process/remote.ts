/**
 * What is needed to reach one repository of a code host. The URL may hold no password: credentials travel in `headers`
 * (handed to git through the environment, never argv) or as the file of an SSH key (ssh.ts).
 *
 *     { url: 'https://github.example/org/app', headers: ['Authorization: Basic …'] }
 *     { url: 'ssh://gatehouse@review.example:29418/org/app', environment: sshEnvironment({ keyFile: '/etc/gatehouse/id' }) }
 *     { url: 'file:///srv/git/app.git' }
 */
export interface Remote {
  /** `scheme://…`, `user@host:path` or an absolute path. */
  readonly url: string;
  /** HTTP header lines sent with every request to this remote. */
  readonly headers?: readonly string[];
  /** Further environment variables for git, from the operator's settings, never from a change. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Asks its `git-upload-pack` over a connection that stays open; absent: HTTP is asked by its URL, and others by git alone. */
  readonly askUploadPack?: AskUploadPack;
  /** Has the same commits, some of them later: asked first for those whose ids are known. */
  readonly mirror?: Mirror;
}

/** A copy of a repository that another server keeps. It gets no credentials of the code host. */
export type Mirror = Pick<Remote, 'url'>;

/**
 * One conversation of protocol 2.
 *
 * @param question packets, of which the last one ends the conversation. @param bounds milliseconds until the last byte.
 * @returns what the host wrote, its greeting in front; `refused`: it said no at once; `failed`: it took time, or the connection broke.
 *   Nothing rejects.
 */
export type AskUploadPack = (
  question: string,
  bounds: { readonly deadlineMs: number; readonly signal: AbortSignal },
) => Promise<Buffer | 'refused' | 'failed'>;

/** Protocols git may use by default. `ext` and `fd` run commands and must never be allowed. */
export const DEFAULT_PROTOCOLS: readonly string[] = ['file', 'git', 'http', 'https', 'ssh'];

/** Why a URL is refused before git sees it, or undefined. The text never repeats the URL: it may hold a password. */
export function remoteUrlProblem(
  url: string,
  protocols: readonly string[] = DEFAULT_PROTOCOLS,
): string | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u001f\u007f]/.test(url)) return 'the URL holds a control character';
  const protocol = protocolOf(url);
  if (protocol === undefined) return 'the URL is neither scheme://…, user@host:path nor an absolute path';
  if (!protocols.includes(protocol))
    return `the protocol ${protocol} is not allowed (allowed: ${protocols.join(', ')})`;
  return undefined;
}

function protocolOf(url: string): string | undefined {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\/[^-]/i.exec(url)?.[1];
  if (scheme !== undefined) return scheme.toLowerCase();
  const helper = /^([a-z0-9]+)::/i.exec(url)?.[1];
  if (helper !== undefined) return helper.toLowerCase();
  if (url.startsWith('/')) return 'file';
  return /^[a-z0-9_][^/:]*:(?!:|\/\/)./i.test(url) ? 'ssh' : undefined;
}
