/**
 * GitHub refuses a landing for want of our own check, or of the commit that was pushed a moment ago, though it has taken both: one of
 * its machines is behind the other. That says nothing about the change, so the landing is tried again in a moment; a few times only,
 * because a check that only another App may give is refused in the same words.
 */
import type { LandingOutcome } from '../../../src/driver/landing.ts';
import { createLru } from '../../../src/git/support/lru.ts';
import { addMilliseconds, type Nanoseconds } from '../../../src/lib/clock.ts';
import { SHORT_WAIT_MS } from './short-wait.ts';

/** Counts the tries of each landing, in this process. */
export interface UnnoticedVotes {
  /** @param said GitHub's words. @returns undefined: it has had its time. */
  again(
    said: string,
    landing: { readonly name: string; readonly now: Nanoseconds },
  ): LandingOutcome | undefined;
}

/** Of one landing: ten seconds. */
const MOST_TRIES = 5;

/** Empty at first. */
export function createUnnoticedVotes(): UnnoticedVotes {
  const tries = createLru<string, number>(10_000);
  return {
    again(said, { name, now }) {
      const before = tries.get(name) ?? 0;
      if (before >= MOST_TRIES) return undefined;
      tries.set(name, before + 1);
      const text = `GitHub has not noticed yet what it was given: ${said.slice(0, 500)}`;
      return { kind: 'later', reason: 'other', text, notBefore: addMilliseconds(now, SHORT_WAIT_MS) };
    },
  };
}

/** Whether GitHub misses exactly our own check. @param names as it says them; empty: it says none. @param own undefined: we give none. */
export function missesOwnOnly(names: readonly string[], own: string | undefined): boolean {
  return names.length > 0 && names.every(name => name === own);
}

/** Whether GitHub does not know a commit. @param said its words about a check or status. */
export function knowsNoCommit(said: string): boolean {
  return /no commit found/i.test(said);
}
