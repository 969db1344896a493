/**
 * GitHub refuses a merge though nothing has moved by what it shows: it has not noticed yet where a branch is, computes whether the pull
 * request can be merged, or merges it already. It is asked again, after ever longer pauses and not without end: the queue stands still
 * meanwhile, and GitHub has been seen never to compute it. What it does not say is no verdict on the change, and the texts say that.
 */
import type { LandingOutcome } from '../../../src/driver/landing.ts';
import { createLru } from '../../../src/git/support/lru.ts';
import { addMilliseconds, type Nanoseconds, toMilliseconds } from '../../../src/lib/clock.ts';
import { SHORT_WAIT_MS } from './short-wait.ts';

/** Knows how long each landing has waited, in this process. */
export interface UnreadyMerges {
  /** @param said GitHub's words. @returns `later`, or `refused` once it has had its time. */
  again(said: string, landing: { readonly name: string; readonly now: Nanoseconds }): LandingOutcome;
}

const MOST_MINUTES = 10;
const LONGEST_PAUSE_MS = 30_000;

/** Empty at first. */
export function createUnreadyMerges(): UnreadyMerges {
  const waits = createLru<string, { readonly since: Nanoseconds; readonly pause: number }>(10_000);
  return {
    again(said, { name, now }) {
      const quoted = said.slice(0, 500);
      const { since, pause } = waits.get(name) ?? { since: now, pause: SHORT_WAIT_MS };
      if (toMilliseconds(now) - toMilliseconds(since) >= MOST_MINUTES * 60_000) {
        waits.delete(name);
        const text = `GitHub did not say for ${MOST_MINUTES} minutes whether this can be merged (${quoted}): no verdict on the change, enqueue it again`;
        return { kind: 'refused', text };
      }
      waits.set(name, { since, pause: Math.min(2 * pause, LONGEST_PAUSE_MS) });
      const text = `GitHub did not merge yet, and shows no reason: ${quoted}. It is asked for ${MOST_MINUTES} minutes; then the change leaves the queue without a verdict`;
      return { kind: 'later', reason: 'locked', text, notBefore: addMilliseconds(now, pause) };
    },
  };
}
