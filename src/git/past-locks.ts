/**
 * Several processes may write refs of one mirror: another merger or executor of the machine, or a git that was killed and left its
 * lock behind. A command that finds a lock in its way is repeated until the lock is gone; one that nobody has touched for
 * seconds belongs to nobody and is removed (`mirror-directory.ts`).
 */
import { backoffDelay } from '../lib/backoff.ts';
import { pause } from '../lib/pause.ts';
import type { GitResult } from './git.ts';
import { ABANDONED_LOCK_MS, removeLeftovers } from './mirror-directory.ts';

/** Two living processes meet for milliseconds; a dead one is in the way until its lock is old enough. */
const BACKOFF = { firstMs: 20, maxMs: 1_000 };
const GIVE_UP_MS = ABANDONED_LOCK_MS * 2;

/**
 * `cannot lock ref`: it moved between git's look and its lock. `<file>.lock': File exists`: somebody writes. The remote's own
 * trouble with locks (a push into it) arrives as lines of `remote: `.
 */
function isLockConflict(result: GitResult): boolean {
  if (result.kind !== 'failed') return false;
  const own = result.stderr.split('\n').filter(line => !line.startsWith('remote: '));
  return /\.lock': File exists|cannot lock ref/.test(own.join('\n'));
}

/** @returns the first result that no lock is to blame for, or the last one when the lock does not go away. */
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
