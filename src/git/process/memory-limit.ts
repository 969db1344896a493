/**
 * How much memory a git process may take: a pack of a few kilobytes can name objects of terabytes (a delta copies its base as
 * often as it likes), and git unfolds an object in memory before it checks it.
 *
 *     prlimit --data=4000000000:4000000000 -- git fetch …
 *
 * The limit is on data, not on addresses: packs are mapped, and mapped files do not count. Measured with a pack of 16 kB that unfolds
 * to 8 GB: git gives up after 1.3 s and 35 MB; without the limit it takes all 8 GB.
 */
import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';

/** Bytes. Enough to fetch and repack large honest repositories; a delta and its base of 500 MB each take 1 GB. */
export const DEFAULT_GIT_MEMORY = 4_000_000_000;

/** Arguments before the command; none where `prlimit` is not on the path. @param bytes null: no limit. */
export function memoryLimited(bytes: number | null, path: string): readonly string[] {
  if (bytes === null) return [];
  const program = path
    .split(':')
    .filter(folder => folder.startsWith('/'))
    .map(folder => join(folder, 'prlimit'))
    .find(isExecutable);
  return program === undefined ? [] : [program, `--data=${bytes}:${bytes}`, '--'];
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error) return false;
    throw error;
  }
}
