/** The project that the address of a remote names. Pure. */

/** Host and name, as in `github.com` and `acme/app`. */
export interface RemoteProject {
  readonly host: string;
  readonly name: string;
}

const AUTHORITY = /^(?:[a-z][a-z+]*:\/\/)(?:[^@/]*@)?([^:/]+)(?::\d+)?\/+(.+)$/i;
const SCP = /^(?:[^@/:]+@)?([^@/:]+):(?!\/\/)\/*(.+)$/;

/**
 *     git@github.com:acme/app.git          → github.com, acme/app
 *     https://review.example/a/acme/app    → review.example, a/acme/app
 *
 * @returns undefined: it is a path of this machine, or nothing that git takes.
 */
export function projectOfUrl(url: string): RemoteProject | undefined {
  const [, host, path] = AUTHORITY.exec(url) ?? (url.includes('://') ? [] : (SCP.exec(url) ?? []));
  const name = path === undefined ? '' : withoutEnding(path);
  return host === undefined || name === '' ? undefined : { host: host.toLowerCase(), name };
}

/** The last part of a path or an address, without `.git`; it names a project that nothing else does. */
export function lastName(path: string): string {
  return withoutEnding(path).split('/').at(-1) ?? '';
}

/** What remains of an address when all that cannot belong to a name is cut: the whole path. */
export function pathOfUrl(url: string): string {
  return projectOfUrl(url)?.name ?? withoutEnding(url.replace(/^file:\/\/[^/]*/, '')).replace(/^\/+/, '');
}

function withoutEnding(path: string): string {
  return path.replace(/\/+$/, '').replace(/\.git$/, '');
}
