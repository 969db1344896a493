/**
 * Where people find a repository, for `vcs.repository.url.full`: what git is told, without user and password, and only where others
 * could use it.
 *
 *     https://ci:secret@git.example.org/acme/app.git   →  https://git.example.org/acme/app.git
 *     git@git.example.org:acme/app                     →  ssh://git.example.org/acme/app
 *     /srv/git/acme/app                                →  undefined
 */

/** What git takes for a host and a path: no slash before the first colon. */
const SCP_LIKE = /^(?:[^@/:]+@)?([\w.-]+):(?!\/\/)(.+)$/;
const PUBLIC = new Set(['http:', 'https:', 'ssh:']);

export function publicRepositoryUrl(remote: string): string | undefined {
  const [, host, path] = SCP_LIKE.exec(remote) ?? [];
  const text =
    host === undefined || path === undefined ? remote : `ssh://${host}/${path.replace(/^\/+/, '')}`;
  const url = URL.parse(text);
  if (url === null || !PUBLIC.has(url.protocol) || url.hostname === '') return undefined;
  url.username = '';
  url.password = '';
  // A token may be here as well.
  url.search = '';
  url.hash = '';
  return url.href;
}
