/**
 * What a few files take, counted in this process: as `du` and `find` count them, without starting either. Most builds write little, and
 * are measured at their end.
 */
import { type Dir, lstatSync, opendirSync, type Stats } from 'node:fs';
import { join } from 'node:path';

/** As `du --one-file-system` and `find -xdev -mindepth 1` give it. */
interface Usage {
  /** Allocated, those of the directories included. */
  readonly bytes: number;
  /** Everything that has a name. */
  readonly files: number;
}

/** Names looked at: some 2 ms, in which nothing else goes on. */
const MOST_NAMES = 300;
/** Of `st_blocks`, on every file system. */
const BLOCK = 512;

/**
 * @param roots directories; one that is missing counts nothing.
 * @returns undefined: more than a few, or something that cannot be read here.
 */
export function smallUsage(roots: readonly string[]): Usage | undefined {
  const count = { bytes: 0, files: 0, linked: new Set<string>() };
  for (const root of roots) {
    const found = statOf(root);
    if (found === 'unreadable' || (found !== undefined && !found.isDirectory())) return undefined;
    if (found === undefined) continue;
    count.bytes += found.blocks * BLOCK;
    if (!countBelow(root, found.dev, count)) return undefined;
  }
  return { bytes: count.bytes, files: count.files };
}

/** @returns whether all of it was counted. */
function countBelow(
  folder: string,
  device: number,
  count: { bytes: number; files: number; readonly linked: Set<string> },
): boolean {
  const directory = opened(folder);
  if (directory === undefined) return false;
  try {
    for (let entry = directory.readSync(); entry !== null; entry = directory.readSync()) {
      count.files += 1;
      if (count.files > MOST_NAMES) return false;
      const place = join(folder, entry.name);
      const found = statOf(place);
      if (found === 'unreadable') return false;
      // Removed meanwhile, or another file system.
      if (found === undefined || found.dev !== device) continue;
      if (!isCounted(found, count.linked)) count.bytes += found.blocks * BLOCK;
      if (found.isDirectory() && !countBelow(place, device, count)) return false;
    }
    return true;
  } finally {
    directory.closeSync();
  }
}

/** A file with several names is counted with the first of them. */
function isCounted(found: Stats, linked: Set<string>): boolean {
  if (found.nlink === 1 || found.isDirectory()) return false;
  const id = `${found.ino}`;
  if (linked.has(id)) return true;
  linked.add(id);
  return false;
}

/** Undefined: there is none. */
function statOf(place: string): Stats | undefined | 'unreadable' {
  try {
    return lstatSync(place, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return 'unreadable';
    throw error;
  }
}

function opened(folder: string): Dir | undefined {
  try {
    return opendirSync(folder);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
