/**
 * The start of a build is known later than it happens: the executor's event waits for the next turn, longer while there is no
 * scheduler. So are its waits for hosts. The timeline is corrected, so that no item waits for an executor while one works for it, and none
 * for hosts while it has some.
 */
import { earlierOf, laterOf, type Nanoseconds } from '../lib/clock.ts';
import { type Build, isOpen } from '../model/build.ts';
import { isWait } from '../model/item-states.ts';
import { awaitsNodes, labelsText, lastNodeWait, nodesSince } from '../model/node-wait.ts';
import type { QueueItem, TimelineEntry } from '../model/queue-item.ts';
import { workWindows } from '../model/work-windows.ts';
import { inAnotherWait, inState } from './timeline.ts';

/** The waits for hosts and executors as they were: to be called before the state of now is recorded. */
export function waitsAsTheyWere(item: QueueItem): QueueItem {
  return runningSinceTaken(executorSinceGranted(nodesSinceWanted(item)));
}

/** `executor` ends, as `nodes`, where the last open build had to wait for hosts. */
function nodesSinceWanted(item: QueueItem): QueueItem {
  const open = item.buildset.builds.filter(isOpen);
  const [first] = open;
  if (lastEntry(item).state !== 'executor' || first?.nodes === undefined || !open.every(awaitsNodes))
    return item;
  const since = open.flatMap(build => lastNodeWait(build)?.since ?? []).reduce(laterOf);
  return inAnotherWait(item, { state: 'nodes', subject: labelsText(first.nodes.labels) }, since);
}

/** `nodes` ends, as `executor`, where the first build got its nodes. */
function executorSinceGranted(item: QueueItem): QueueItem {
  const last = lastEntry(item);
  if (last.state !== 'nodes') return item;
  const grants = buildsOf(item).flatMap(({ nodes }) =>
    (nodes?.waits ?? []).flatMap(wait => nodesSince(wait) ?? []),
  );
  const since = grants.filter(at => BigInt(at) > BigInt(last.since));
  return since.length === 0 ? item : inState(item, { state: 'executor' }, since.reduce(earlierOf));
}

function lastEntry({ timeline }: QueueItem): TimelineEntry {
  return timeline[timeline.length - 1] ?? timeline[0];
}

/** Of the present buildset and of the one before: a reset may have come in the same turn. */
function buildsOf({ earlier, buildset }: QueueItem): readonly Build[] {
  return [...(earlier[earlier.length - 1]?.builds ?? []), ...buildset.builds];
}

/** `executor` ends, as `running`, where the first build was taken. */
function runningSinceTaken(item: QueueItem): QueueItem {
  const last = lastEntry(item);
  if (last.state !== 'executor') return item;
  let taken: Nanoseconds | undefined;
  for (const build of buildsOf(item)) {
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
