/**
 * When builds began to run is known later than it happened: an executor's word waits for the next turn, and while no scheduler is
 * there for as long as that takes. The timeline tells what happened, so that no item waits for an executor that works for it.
 */
import { earlierOf, laterOf, type Nanoseconds } from '../lib/clock.ts';
import type { Build } from '../model/build.ts';
import type { QueueItem } from '../model/queue-item.ts';
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
 * When the item last stopped waiting for an executor; undefined: it never did, or waits for one now. The span of that wait may have
 * been sent, so a start that is known later begins no earlier, although it may have: events of two executors can swap their places.
 */
export function executorWaitEnd({ timeline }: QueueItem): Nanoseconds | undefined {
  const index = timeline.findLastIndex(({ state }) => state === 'executor');
  return index === -1 ? undefined : timeline[index + 1]?.since;
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
