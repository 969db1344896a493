/**
 * Configuration files of a project at one commit, read from the object database: `zuul.yaml`, `.zuul.yaml`, and `*.yaml` at any
 * depth of `zuul.d/` and `.zuul.d/`, and what the tenant reads besides (`extra-config-paths`). A directory with a file `.zuul.ignore` is left
 * out with all below it. All files found are returned; the layout decides that the first of the four places wins.
 *
 * A symbolic link is never followed. A file that is too large or not UTF-8, and a directory that holds too much, is named with its
 * problem instead of a text: the layout turns that into an error of this project and branch only.
 */
import type { ObjectId } from '../git/objects/object-id.ts';
import type { ObjectReader } from '../git/objects/object-reader.ts';
import { pathText, type Tree, type TreeEntry } from '../git/objects/tree.ts';
import { createTreeBudget, OverBudget } from '../git/objects/tree-budget.ts';
import type { ConfigFile } from '../model/merge.ts';

const ROOT_FILES = ['zuul.yaml', '.zuul.yaml'];
const ROOT_DIRECTORIES = ['zuul.d', '.zuul.d'];
const IGNORE = '.zuul.ignore';
/** Bytes of one file. */
const MAX_FILE = 1_000_000;
/** Bytes of all files of one commit: they travel in one record. */
const MAX_BYTES = 800_000;
const MAX_FILES = 1_000;
const MAX_DEPTH = 20;
/** Most entries of all configuration directories of one commit; directories may share their contents. */
const MAX_ENTRIES = 20_000;

/** A configuration file that was found and not yet read; or a directory that is not read, and why. */
export type ConfigEntry =
  | { readonly path: string; readonly entry: TreeEntry }
  /** `path` ends in `/`. */
  | { readonly path: string; readonly problem: string };

type Reader = Pick<ObjectReader, 'tree' | 'read'>;

/**
 * In order of their paths within each place.
 *
 * @param extra further places: files, and directories that end in `/`. They may hold each other.
 */
export async function findConfig(
  reader: Reader,
  tree: ObjectId,
  extra: readonly string[] = [],
): Promise<readonly ConfigEntry[]> {
  const root = await reader.tree(tree);
  const found: ConfigEntry[] = [];
  for (const name of ROOT_FILES) {
    const entry = root.get(name);
    if (entry !== undefined && isContent(entry)) found.push({ path: name, entry });
  }
  for (const name of ROOT_DIRECTORIES) {
    const entry = root.get(name);
    if (entry?.kind === 'directory') found.push(...(await findBelow(reader, entry.id, name)));
  }
  for (const path of extra) found.push(...(await findAt(reader, root, path)));
  return [...new Map(found.map(each => [each.path, each])).values()];
}

async function findAt(reader: Reader, root: Tree, path: string): Promise<readonly ConfigEntry[]> {
  const [name = '', ...above] = path.replace(/\/$/, '').split('/').reverse();
  let tree = root;
  for (const directory of above.reverse()) {
    const entry = tree.get(directory);
    if (entry?.kind !== 'directory') return [];
    tree = await reader.tree(entry.id);
  }
  const entry = tree.get(name);
  if (entry === undefined) return [];
  if (!path.endsWith('/')) return isContent(entry) ? [{ path, entry }] : [];
  return entry.kind === 'directory' ? findBelow(reader, entry.id, path.slice(0, -1)) : [];
}

async function findBelow(reader: Reader, id: ObjectId, name: string): Promise<readonly ConfigEntry[]> {
  const budget = createTreeBudget({ entries: MAX_ENTRIES });
  const found: ConfigEntry[] = [];

  async function walk(directory: ObjectId, prefix: string, depth: number): Promise<void> {
    const tree = await reader.tree(directory);
    await budget.spend(tree.size);
    if (tree.has(IGNORE)) return;
    for (const entry of [...tree.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = `${prefix}/${entry.name}`;
      if (entry.kind === 'directory' && depth < MAX_DEPTH) await walk(entry.id, path, depth + 1);
      else if (isConfigName(entry.name) && isContent(entry)) {
        if (found.length >= MAX_FILES) throw new OverBudget('entries', `holds more than ${MAX_FILES} files`);
        found.push({ path: pathText(path), entry });
      }
    }
  }

  try {
    await walk(id, name, 1);
    return found;
  } catch (error) {
    // Too much for any worker: an error of this project and branch, as an unreadable file is.
    if (!(error instanceof OverBudget) || error.of === 'time') throw error;
    return [{ path: `${name}/`, problem: error.message }];
  }
}

/** Whether two commits hold the same configuration, byte for byte. */
export function sameConfig(a: readonly ConfigEntry[], b: readonly ConfigEntry[]): boolean {
  const print = (entries: readonly ConfigEntry[]) =>
    JSON.stringify(
      entries.map(found => ('entry' in found ? [found.path, found.entry.mode, found.entry.id] : found)),
    );
  return print(a) === print(b);
}

/** Reads one after the other, so that not all of them are in memory together. */
export async function readConfig(
  reader: Reader,
  entries: readonly ConfigEntry[],
): Promise<readonly ConfigFile[]> {
  const files: ConfigFile[] = [];
  let bytes = 0;
  for (const found of entries) {
    if (bytes > MAX_BYTES) files.push({ path: found.path, text: '', problem: OVER_BYTES });
    else {
      const file = await readOne(reader, found);
      bytes += file.text.length;
      files.push(bytes > MAX_BYTES ? { path: file.path, text: '', problem: OVER_BYTES } : file);
    }
  }
  return files;
}

const OVER_BYTES = `is not read: the configuration files of this branch have more than ${MAX_BYTES} bytes together`;

async function readOne(reader: Reader, found: ConfigEntry): Promise<ConfigFile> {
  const { path } = found;
  if (!('entry' in found)) return { path, text: '', problem: found.problem };
  const { entry } = found;
  if (entry.kind === 'symlink')
    return { path, text: '', problem: 'is a symbolic link; links are not followed' };
  const result = await reader.read(entry.id, MAX_FILE);
  switch (result.kind) {
    case 'too-large':
      return { path, text: '', problem: `is larger than ${MAX_FILE} bytes` };
    case 'missing':
      throw new Error(`blob ${entry.id} of ${path} is not in the repository`);
    case 'object':
      return decode(path, result.data);
  }
}

function decode(path: string, data: Buffer): ConfigFile {
  try {
    return { path, text: new TextDecoder('utf-8', { fatal: true }).decode(data) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { path, text: '', problem: 'is not UTF-8' };
  }
}

function isConfigName(name: string): boolean {
  return name.endsWith('.yaml');
}

function isContent(entry: TreeEntry): boolean {
  return entry.kind === 'file' || entry.kind === 'symlink';
}
