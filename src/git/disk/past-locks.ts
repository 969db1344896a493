/**
 * Several processes may write refs of one mirror: another merger or executor of the machine, or a killed git whose lock file
 * remains. A command that meets a lock is repeated until the lock is gone; a lock that is seconds old is stale and removed
 * (`mirror-directory.ts`).
 */
import { backoffDelay } from '../../lib/backoff.ts';
import { pause } from '../../lib/pause.ts';
import type { GitResult } from '../process/git.ts';
import { ABANDONED_LOCK_MS, removeLeftovers } from './mirror-directory.ts';

/** A live process holds a lock for milliseconds; the lock of a dead one blocks until it is old enough. */
const BACKOFF = { firstMs: 20, maxMs: 1_000 };
const GIVE_UP_MS = ABANDONED_LOCK_MS * 2;

/**
 * `cannot lock ref`: it moved between git's read and its lock. `<file>.lock': File exists`: another process writes. The remote's
 * own trouble with locks (during a push) arrives as lines of `remote: `.
 */
function isLockConflict(result: GitResult): boolean {
  if (result.kind !== 'failed') return false;
  const own = result.stderr.split('\n').filter(line => !line.startsWith('remote: '));
  return /\.lock': File exists|cannot lock ref/.test(own.join('\n'));
}

/** @returns the first result without a lock failure, or the last one when the lock stays. */
export async function pastLocks(gitDir: string, run: () => Promise<GitResult>): Promise<GitResult> {
  const begun = performance.now();
  for (let attempt = 1; ; attempt += 1) {
    const result = await run();
    if (!isLockConflict(result) || performance.now() - begun > GIVE_UP_MS) return result;
    await pause(backoffDelay(BACKOFF, attempt, Math.random()), NEVER);
    await removeLeftovers(gitDir);
  }
}

const NEVER = new AbortController().signal;
