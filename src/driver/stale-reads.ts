/**
 * A host's API may answer with a state older than its webhook or stream. Such an event is processed again after 0.5, 1, 2 and 4 seconds; then
 * the answer is taken as it is, and the next event or sweep finds the rest.
 *
 * Counted in this process alone: after a crash the count begins again, with the event.
 */

import { addMilliseconds, type Clock } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { HostLater } from './host-later.ts';

/** Milliseconds. */
const PAUSES = [500, 1_000, 2_000, 4_000];
/** Events counted at a time; the oldest gives way, and would be asked again a few times more. */
const MOST_EVENTS = 10_000;

/** Stale answers of one connection. */
export interface StaleReads {
  /** Counts one. @returns undefined: there were enough, take the answer as it is. */
  again(event: Uuid, what: string): HostLater | undefined;
  /** The event is processed. @returns how many answers were stale. */
  settle(event: Uuid): number;
}

/** @param clock for the time of the next try. @param host as people name it, e.g. `GitHub`. */
export function createStaleReads(clock: Pick<Clock, 'now'>, host: string): StaleReads {
  const counts = new Map<Uuid, number>();
  return {
    again(event, what) {
      const count = counts.get(event) ?? 0;
      const pause = PAUSES[count];
      if (pause === undefined) return undefined;
      counts.set(event, count + 1);
      const [oldest] = counts.keys();
      if (counts.size > MOST_EVENTS && oldest !== undefined) counts.delete(oldest);
      return {
        reason: 'other',
        text: `${host}'s answer about ${what} is older than its event`,
        notBefore: addMilliseconds(clock.now(), pause),
      };
    },
    settle(event) {
      const count = counts.get(event) ?? 0;
      counts.delete(event);
      return count;
    },
  };
}
