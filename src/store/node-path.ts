/**
 * The rules for node paths, which are ZooKeeper's: a path the embedded store accepts is valid in an ensemble too.
 *
 * Absolute, no trailing slash, no empty, `.` or `..` segment, no control or private-use characters, nothing beyond the basic plane.
 * A sequential node may have an empty last segment (`/queue/`), because its suffix is still to come.
 */

// ZooKeeper's own list: controls, surrogates (so nothing beyond the basic plane), private use, specials.
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what this looks for
const FORBIDDEN = /[\u0000-\u001f\u007f-\u009f\ud800-\uf8ff\ufff0-\uffff]/;

/** @throws RangeError for an invalid path, a programmer's error: names from outside go through `nodeName` first. */
export function requireNodePath(path: string, sequential = false): void {
  const complete = sequential ? `${path}0` : path;
  if (complete === '/') return;
  const bad = (reason: string): RangeError =>
    new RangeError(`not a node path (${reason}): ${JSON.stringify(path)}`);
  if (!complete.startsWith('/')) throw bad('must start with "/"');
  if (complete.endsWith('/')) throw bad('must not end with "/"');
  if (complete.includes('//')) throw bad('empty segment');
  if (/\/\.\.?(\/|$)/.test(complete)) throw bad('relative segment');
  if (FORBIDDEN.test(complete)) throw bad('illegal character');
}

/** The path above; `/` for nodes at the top. */
export function parentPath(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash <= 0 ? '/' : path.slice(0, slash);
}

/** The last segment. */
export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
