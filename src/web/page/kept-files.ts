/** The files that a build left. */
import { api } from './address.ts';
import { type Child, element } from './dom.ts';
import { count } from './format.ts';
import { sessionToken } from './session.ts';

interface ManifestEntry {
  readonly name: string;
  readonly size?: number;
  readonly children?: readonly ManifestEntry[];
}

/** `zuul-manifest.json`, of which a job may have left one of its own: nothing in it is certain. */
export interface Manifest {
  readonly tree?: readonly ManifestEntry[];
}

/** Files that are listed; the page with all links is one click away. */
const MOST_FILES = 200;
/** The log is shown itself. */
const NOT_LISTED = new Set(['job-output.txt']);

/** @returns false: it left none. A tab that is signed in gets names without links, because a link sends no token. */
export function fileList(tenant: string, uuid: string, { tree }: Manifest): Child {
  const files = Array.isArray(tree)
    ? [...filesIn(tree, '', 0)].filter(({ path }) => !NOT_LISTED.has(path))
    : [];
  if (files.length === 0) return false;
  const address = (path: string) =>
    api(tenant, `build/${uuid}/logs/${path.split('/').map(encodeURIComponent).join('/')}`);
  const row = ({ path, size }: { readonly path: string; readonly size: number | undefined }) =>
    element(
      'li',
      {},
      sessionToken() === undefined ? element('a', { href: address(path) }, path) : path,
      size !== undefined && element('span', { class: 'quiet' }, ` ${bytesText(size)}`),
    );
  const isCut = files.length > MOST_FILES;
  return element(
    'details',
    { open: files.length <= 12 },
    element('summary', {}, count(files.length, 'file')),
    element('ul', { class: 'meta', 'aria-label': 'Files' }, files.slice(0, MOST_FILES).map(row)),
    isCut && element('a', { href: address('') }, 'all files'),
  );
}

function* filesIn(
  entries: readonly ManifestEntry[],
  folder: string,
  depth: number,
): Generator<{ readonly path: string; readonly size: number | undefined }> {
  for (const { name, size, children } of entries) {
    const path = `${folder}${String(name)}`;
    if (Array.isArray(children) && depth < 50) yield* filesIn(children, `${path}/`, depth + 1);
    else yield { path, size: typeof size === 'number' ? size : undefined };
  }
}

/** `12 bytes`, `3.4 kB`, `56 MB`. */
function bytesText(bytes: number): string {
  if (bytes < 1000) return count(bytes, 'byte');
  const [unit, name] = bytes < 1_000_000 ? [1000, 'kB'] : [1_000_000, 'MB'];
  const number = bytes / unit;
  return `${number < 10 ? number.toFixed(1) : Math.round(number)} ${name}`;
}
