/**
 * Reads files of single refs, and those that have not changed since the last time only by their times: a repository with a hundred open
 * proposals is listed several times for each that lands.
 */
import { type BigIntStats, lstatSync, readFileSync } from 'node:fs';
import { isObjectId, type ObjectId } from '../objects/object-id.ts';
import { createLru } from '../support/lru.ts';

/** The loose refs of one repository, as they were read last. */
export interface LooseRefs {
  /** @returns undefined: there is no such file; `not-plain`: it holds no object id. @throws Error of the file system. */
  read(file: string): ObjectId | undefined | 'not-plain';
}

interface Remembered {
  readonly stamp: BigIntStats;
  readonly commit: ObjectId;
  /** Milliseconds, when the file was first found with this stamp. */
  readonly since: number;
  /** It was read so long after `since` that a later write has another stamp. */
  readonly settled: boolean;
}

/** Files, some 400 bytes each. */
const KEPT = 4_000;
/** Milliseconds. File systems count time in steps of up to ten: two writes within one may leave the same stamp. */
const SETTLED_AFTER = 100;

/** @param now milliseconds of a clock that never goes back. */
export function createLooseRefs(now: () => number = () => performance.now()): LooseRefs {
  const known = createLru<string, Remembered>(KEPT);
  return {
    read(file) {
      const stamp = lstatSync(file, { bigint: true, throwIfNoEntry: false });
      if (stamp === undefined) return undefined;
      const before = known.get(file);
      const same = before !== undefined && isSame(before.stamp, stamp) ? before : undefined;
      if (same?.settled === true) return same.commit;
      const at = now();
      const since = same?.since ?? at;
      const commit = commitIn(file);
      if (commit === undefined || commit === 'not-plain') known.delete(file);
      else known.set(file, { stamp, commit, since, settled: at - since >= SETTLED_AFTER });
      return commit;
    },
  };
}

/** git writes a ref by renaming a new file over the old one; what writes in place changes the times. */
function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return (
    one.ino === other.ino &&
    one.ctimeNs === other.ctimeNs &&
    one.mtimeNs === other.mtimeNs &&
    one.size === other.size
  );
}

function commitIn(file: string): ObjectId | undefined | 'not-plain' {
  try {
    const text = readFileSync(file, 'latin1').trimEnd();
    return isObjectId(text) ? text : 'not-plain';
  } catch (error) {
    // It was deleted meanwhile.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined;
    throw error;
  }
}
