/** Wakes a pipeline at a time that its state names: when a host is to be tried again, or a requirement may give another verdict. */
import { millisecondsBetween, type Nanoseconds } from '../../lib/clock.ts';
import { pause } from '../../lib/pause.ts';
import type { Dirty } from '../../lib/signal.ts';

/** Timers may be a little early. */
const SLACK_MS = 20;

/** Longer timers end after this time and are set again by the turn that follows. */
const LONGEST_TIMER_MS = 86_400_000;

/** @returns a function that sets the time of the next turn without an event; null: none is known. */
export function createTurnTimer(dirty: Dirty, signal: AbortSignal) {
  let pending: Nanoseconds | null = null;
  return (time: Nanoseconds | null, now: Nanoseconds): void => {
    if (time === null || time === pending) return;
    pending = time;
    const ms = Math.min(LONGEST_TIMER_MS, Math.max(0, millisecondsBetween(now, time)));
    void pause(ms + SLACK_MS, signal).then(() => {
      if (pending === time) pending = null;
      dirty.set();
    });
  };
}
