/**
 * When verdicts change by time alone (`older-than`, `newer-than`), and which events wait for such a time.
 *
 * The event of a change that will meet its requirements later stays in the queue, durable; only the time of its next check is kept
 * here. After a takeover or with a new layout, it is checked immediately and gets the same time.
 */
import { laterOf, type Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { QueueEntry } from '../../store/event-queue.ts';

/** More would make every turn read a long queue; further events are refused immediately. */
export const MOST_WAITING_RECHECKS = 200;

/** Events for a drained queue wait as well: fewer would lose changes of a day's work, more would cost every turn a long read. */
export const MOST_WAITING_HELD = 2_000;

/** Of one pipeline under one layout; in memory only. */
export interface Rechecks {
  /** Events that wait for their time. */
  readonly waiting: number;
  /** @returns without the events that wait for a later time. */
  due<Entry extends QueueEntry<PipelineEvent>>(entries: readonly Entry[], now: Nanoseconds): readonly Entry[];
  /**
   * After a turn at `now`.
   *
   * @param postponed events that stay in the queue, each with its time.
   * @param times when a requirement of a change in the pipeline may give another verdict.
   */
  note(
    taken: readonly QueueEntry<PipelineEvent>[],
    postponed: ReadonlyMap<Uuid, Nanoseconds>,
    times: readonly Nanoseconds[],
  ): void;
  /** All events that wait are due. */
  release(): void;
  /** The earliest of all these times after `now`; null: there is none. */
  next(now: Nanoseconds): Nanoseconds | null;
}

/** No event waits at first. */
export function createRechecks(): Rechecks {
  /** By event. */
  const events = new Map<Uuid, Nanoseconds>();
  let moments: readonly Nanoseconds[] = [];
  return {
    get waiting() {
      return events.size;
    },
    due: (entries, now) =>
      entries.filter(({ value }) => {
        const time = events.get(value.uuid);
        return time === undefined || !isLater(time, now);
      }),
    note(taken, postponed, times) {
      for (const { value } of taken) events.delete(value.uuid);
      for (const [event, time] of postponed) events.set(event, time);
      moments = times;
    },
    release() {
      events.clear();
    },
    next(now) {
      const times = [...events.values(), ...moments].filter(time => isLater(time, now));
      return times.reduce<Nanoseconds | null>(
        (first, time) => (first === null || isLater(first, time) ? time : first),
        null,
      );
    },
  };
}

function isLater(time: Nanoseconds, than: Nanoseconds): boolean {
  return time !== than && laterOf(time, than) === time;
}
