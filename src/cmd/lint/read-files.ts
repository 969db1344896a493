/**
 * Configuration files of one repository, from its directory, with the places and bounds that mergers have (`src/merger/config-files.ts`):
 * what is past them is named, not passed over.
 */
import { lstat, readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

/** Bytes of one file; files of one repository; levels of directories. */
const MOST_BYTES = 1_000_000;
const MOST_FILES = 1000;
const MOST_LEVELS = 20;
const IGNORE = '.zuul.ignore';
const ROOTS = ['zuul.yaml', 'zuul.d', '.zuul.yaml', '.zuul.d'];

/** A file with its text, or why it was not read. Paths are relative to the directory, with `/`. */
export type LintFile =
  | { readonly path: string; readonly text: string }
  | { readonly path: string; readonly notRead: string };

/** @returns in order of their paths within each place; empty: the directory holds no configuration. @throws an error of the file system. */
export async function findConfigFiles(directory: string): Promise<readonly LintFile[]> {
  const files: LintFile[] = [];
  for (const root of ROOTS) await collect(directory, root, 0, files);
  return files;
}

/** @param file relative to the directory, or absolute. Any file, also one that is no place of configuration. */
export async function readNamedFile(directory: string, file: string): Promise<LintFile> {
  const full = path.resolve(directory, file);
  const shown = path.relative(directory, full).split(path.sep).join('/');
  try {
    return await readOne(full, shown.startsWith('../') ? file : shown);
  } catch (error) {
    return { path: file, notRead: `cannot be read (${codeOf(error)})` };
  }
}

async function collect(directory: string, at: string, level: number, into: LintFile[]): Promise<void> {
  const full = path.join(directory, at);
  const stat = await lstat(full).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (stat === undefined) return;
  if (stat.isDirectory() && (level > 0 || !at.endsWith('.yaml'))) {
    await collectBelow(directory, at, level, into);
    return;
  }
  if (level === 0 ? !at.endsWith('.yaml') : !/\.ya?ml$/.test(at)) return;
  if (into.length > MOST_FILES) return;
  if (into.length === MOST_FILES)
    into.push({
      path: at,
      notRead: `a repository may have ${MOST_FILES} files; this one and what follows are not read`,
    });
  else into.push(await readOne(full, at));
}

async function collectBelow(directory: string, at: string, level: number, into: LintFile[]): Promise<void> {
  if (level >= MOST_LEVELS) {
    into.push({ path: `${at}/`, notRead: `lies deeper than ${MOST_LEVELS} directories` });
    return;
  }
  const names = (await readdir(path.join(directory, at))).toSorted();
  if (names.includes(IGNORE)) return;
  for (const name of names) await collect(directory, `${at}/${name}`, level + 1, into);
}

async function readOne(full: string, shown: string): Promise<LintFile> {
  const stat = await lstat(full);
  if (stat.isSymbolicLink()) return { path: shown, notRead: 'is a symbolic link, which is not followed' };
  if (!stat.isFile()) return { path: shown, notRead: 'is no file' };
  if (stat.size > MOST_BYTES) return { path: shown, notRead: `has more than ${MOST_BYTES} bytes; split it` };
  const bytes = await readFile(full);
  try {
    return { path: shown, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return { path: shown, notRead: 'is not UTF-8' };
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
