/**
 * The start of a build is known later than it happens: the executor's event waits for the next turn, longer while there is no
 * scheduler. The timeline is corrected, so that no item waits for an executor while one works for it.
 */
import { earlierOf, laterOf, type Nanoseconds } from '../lib/clock.ts';
import type { Build } from '../model/build.ts';
import { isWait } from '../model/item-states.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { workWindows } from '../model/work-windows.ts';
import { inState } from './timeline.ts';

/** `executor` ends, as `running`, where the first build was taken. */
export function runningSinceTaken(item: QueueItem): QueueItem {
  const last = item.timeline[item.timeline.length - 1] ?? item.timeline[0];
  if (last.state !== 'executor') return item;
  const before = item.earlier[item.earlier.length - 1]?.builds ?? [];
  let taken: Nanoseconds | undefined;
  for (const build of [...before, ...item.buildset.builds]) {
    const since = workedOnSince(build, last.since);
    if (since !== undefined) taken = taken === undefined ? since : earlierOf(taken, since);
  }
  return taken === undefined ? item : inState(item, { state: 'running' }, taken);
}

/**
 * When a build that an executor took at `at` counts as begun: not within or before a wait of the item whose span was exported, or it
 * would have waited and run at the same time. Events of two executors can swap their places, and the first one ended the wait.
 *
 * @param before the item as of the last commit: its waits that have ended are exported.
 */
export function startAfterWaits(before: QueueItem, at: Nanoseconds): Nanoseconds {
  const { timeline } = before;
  const work = workWindows(before);
  let start = at;
  for (const [index, { state, since }] of timeline.entries()) {
    const end = timeline[index + 1]?.since ?? null;
    if (end !== null && isWait(state)) start = laterOf(start, end);
    if (isWait(state)) continue;
    for (const gap of work.idle(state, { start: since, end })) start = laterOf(start, gap.end);
  }
  return start;
}

/** Undefined: no executor worked on it after `time`. */
function workedOnSince({ state }: Build, time: Nanoseconds): Nanoseconds | undefined {
  switch (state.state) {
    case 'requested':
    case 'skipped':
      return undefined;
    case 'started':
      return laterOf(state.at, time);
    case 'completed':
    case 'cancelled': {
      const { startedAt, at } = state;
      return startedAt === null || BigInt(at) <= BigInt(time) ? undefined : laterOf(startedAt, time);
    }
  }
}
