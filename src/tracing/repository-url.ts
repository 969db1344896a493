/**
 * The public URL of a repository, for `vcs.repository.url.full`: git's URL without user and password, if it is reachable from other
 * machines.
 *
 *     https://ci:secret@git.example.org/acme/app.git   →  https://git.example.org/acme/app.git
 *     git@git.example.org:acme/app                     →  ssh://git.example.org/acme/app
 *     /srv/git/acme/app                                →  undefined
 */

/** git's scp-like form: no slash before the first colon. */
const SCP_LIKE = /^(?:[^@/:]+@)?([\w.-]+):(?!\/\/)(.+)$/;
const PUBLIC = new Set(['git:', 'http:', 'https:', 'ssh:']);

/** The server of a repository; a path is on this machine. */
export interface ServerAddress {
  readonly address: string;
  /** Undefined: the protocol's default. */
  readonly port: number | undefined;
}

/**
 *     https://git.example.org:8443/acme/app  →  { address: 'git.example.org', port: 8443 }
 *     /srv/git/acme/app                      →  { address: 'localhost', port: undefined }
 */
export function serverOfRemote(remote: string): ServerAddress {
  const [, scpHost] = SCP_LIKE.exec(remote) ?? [];
  const url = scpHost === undefined ? URL.parse(remote) : null;
  const address = scpHost ?? url?.hostname;
  if (address === undefined || address === '') return { address: 'localhost', port: undefined };
  return { address, port: Number(url?.port) || undefined };
}

/** @param remote as git takes it. @returns undefined for a path, a `file:` URL and any other address that only this machine can use. */
export function publicRepositoryUrl(remote: string): string | undefined {
  const [, host, path] = SCP_LIKE.exec(remote) ?? [];
  const text =
    host === undefined || path === undefined ? remote : `ssh://${host}/${path.replace(/^\/+/, '')}`;
  const url = URL.parse(text);
  if (url === null || !PUBLIC.has(url.protocol) || url.hostname === '') return undefined;
  url.username = '';
  url.password = '';
  // The query may hold a token.
  url.search = '';
  url.hash = '';
  return url.href;
}
