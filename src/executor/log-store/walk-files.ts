/**
 * The files below a directory that a job wrote. Nothing is followed: each directory is held open while its entries are, so that what a process of
 * the job replaces by a symbolic link meanwhile leads nowhere.
 */
import { constants } from 'node:fs';
import { type FileHandle, open, readdir } from 'node:fs/promises';

/** One plain file, open. The caller closes it. */
export interface WalkedFile {
  /** Below the directory, with `/`. */
  readonly path: string;
  readonly handle: FileHandle;
}

/** Deeper directories are left out. */
const DEEPEST = 20;
const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
const FILE = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * In the order of their names.
 *
 * @param onLeftOut called for what is no plain file, cannot be read, or lies too deep.
 * @param isWanted by the name of a file, without its directory; others are not opened.
 */
export async function* walkFiles(
  root: string,
  onLeftOut: () => void,
  isWanted: (name: string) => boolean = () => true,
): AsyncGenerator<WalkedFile> {
  const top = await openOrNot(root, DIRECTORY);
  if (top !== undefined) yield* walk(top, '', 0, { onLeftOut, isWanted });
}

interface Visitor {
  onLeftOut(): void;
  isWanted(name: string): boolean;
}

async function* walk(
  directory: FileHandle,
  prefix: string,
  depth: number,
  visitor: Visitor,
): AsyncGenerator<WalkedFile> {
  try {
    const here = `/proc/self/fd/${directory.fd}`;
    for (const entry of (await readdir(here, { withFileTypes: true })).toSorted(byName)) {
      const path = `${prefix}${entry.name}`;
      const isDirectory = entry.isDirectory();
      if (!isDirectory && !visitor.isWanted(entry.name)) continue;
      const handle =
        (isDirectory && depth >= DEEPEST) || !(isDirectory || entry.isFile()) || !isShowable(entry.name)
          ? undefined
          : await openOrNot(`${here}/${entry.name}`, isDirectory ? DIRECTORY : FILE);
      if (handle === undefined) visitor.onLeftOut();
      else if (isDirectory) yield* walk(handle, `${path}/`, depth + 1, visitor);
      else yield { path, handle };
    }
  } finally {
    await directory.close();
  }
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}

/** Not: names that control a terminal, or are no text. */
function isShowable(name: string): boolean {
  return !/[\p{Cc}\p{Cf}\ufffd]/u.test(name);
}

/** @returns undefined: missing, a link, of another kind, or not to be read. */
async function openOrNot(path: string, flags: number): Promise<FileHandle | undefined> {
  try {
    return await open(path, flags);
  } catch (error) {
    if (error instanceof Error && 'code' in error && NOT_OPENED.has(String(error.code))) return undefined;
    throw error;
  }
}

const NOT_OPENED: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EACCES', 'EPERM']);
