/**
 * Configuration files of a project at one commit, read from the object database: `zuul.yaml`, `.zuul.yaml`, and `*.yaml` at any
 * depth of `zuul.d/` and `.zuul.d/`, with the `.zuul.ignore` markers there. All that are found are returned; that the first of the
 * four places wins and a second is an error is the layout's business.
 *
 * A symbolic link is never followed and a file that is too large or not UTF-8 is named with its problem instead of a text:
 * the layout turns that into an error of this project and branch only.
 */
import type { ObjectId } from '../git/object-id.ts';
import type { ObjectReader } from '../git/object-reader.ts';
import { pathText, type TreeEntry } from '../git/tree.ts';
import type { ConfigFile } from '../model/merge.ts';

const ROOT_FILES = ['zuul.yaml', '.zuul.yaml'];
const ROOT_DIRECTORIES = ['zuul.d', '.zuul.d'];
const IGNORE = '.zuul.ignore';
/** Bytes of one file. */
const MAX_FILE = 1_000_000;
const MAX_FILES = 1_000;
const MAX_DEPTH = 20;

/** A configuration file that was found and not yet read. */
export interface ConfigEntry {
  readonly path: string;
  readonly entry: TreeEntry;
}

type Reader = Pick<ObjectReader, 'tree' | 'read'>;

/** In order of their paths within each of the four places. */
export async function findConfig(reader: Reader, tree: ObjectId): Promise<readonly ConfigEntry[]> {
  const root = await reader.tree(tree);
  const found: ConfigEntry[] = [];

  async function walk(directory: ObjectId, prefix: string, depth: number): Promise<void> {
    const entries = [...(await reader.tree(directory)).values()].sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      if (found.length >= MAX_FILES) return;
      const path = `${prefix}/${entry.name}`;
      if (entry.kind === 'directory' && depth < MAX_DEPTH) await walk(entry.id, path, depth + 1);
      else if (isConfigName(entry.name) && isContent(entry)) found.push({ path: pathText(path), entry });
    }
  }

  for (const name of ROOT_FILES) {
    const entry = root.get(name);
    if (entry !== undefined && isContent(entry)) found.push({ path: name, entry });
  }
  for (const name of ROOT_DIRECTORIES) {
    const entry = root.get(name);
    if (entry?.kind === 'directory') await walk(entry.id, name, 1);
  }
  return found;
}

/** Whether two commits hold the same configuration, byte for byte. */
export function sameConfig(a: readonly ConfigEntry[], b: readonly ConfigEntry[]): boolean {
  const print = (entries: readonly ConfigEntry[]) =>
    JSON.stringify(entries.map(({ path, entry }) => [path, entry.mode, entry.id]));
  return print(a) === print(b);
}

export function readConfig(reader: Reader, entries: readonly ConfigEntry[]): Promise<readonly ConfigFile[]> {
  return Promise.all(entries.map(found => readOne(reader, found)));
}

async function readOne(reader: Reader, { path, entry }: ConfigEntry): Promise<ConfigFile> {
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
  return name.endsWith('.yaml') || name === IGNORE;
}

function isContent(entry: TreeEntry): boolean {
  return entry.kind === 'file' || entry.kind === 'symlink';
}
