/**
 * When an item's own work went on, and the gaps in a state of work: waiting for executors or hosts, time without a scheduler, and time until the
 * loss of an executor or a merger was noticed.
 *
 *     running      ├──────────── lint ───────────┤
 *                                   unit: requested ├──── unit ────┤       read by a scheduler │
 *     shown as     running                       executor   running    scheduler
 */
import type { Nanoseconds } from '../lib/clock.ts';
import { between, earliest, isBefore, latest, type TimeWindow } from '../lib/time-window.ts';
import { type Build, endOfBuild, startOfBuild, unnoticedLoss } from './build.ts';
import {
  type BuildSet,
  endOf,
  endOfMergerWork,
  type MergerWork,
  unnoticedMergerLosses,
} from './build-set.ts';
import type { ItemStateName, OwnGap } from './item-states.ts';
import { endOfItem, type QueueItem } from './queue-item.ts';

/** A time window that has an end. */
export interface Gap extends TimeWindow {
  readonly end: Nanoseconds;
}

/** A stretch of a state of work in which none of the work went on. */
interface Idle extends Gap {
  readonly state: IdleState;
}

/** What an item waits for in a state of work; `executor` and `nodes` are also states of their own. */
type IdleState = 'executor' | 'nodes' | OwnGap;

/** The times of an item's work, from which the gaps in a state follow. */
export interface WorkWindows {
  /** Layouts and job graphs, by start. */
  readonly configured: readonly TimeWindow[];
  /** Those of a stretch in `state`, in order. Of one that is still open, `end` null, those that nothing can change any more. */
  idle(state: ItemStateName, window: TimeWindow): readonly Idle[];
}

/** A shorter gap between two pieces of work gets no name: it is the time between two lines of the same turn. */
const SHORTEST_GAP_NS = 100_000n;

/** A pure function of the item: it gives the same windows whenever it is called for the same record. */
export function workWindows(item: QueueItem): WorkWindows {
  const left = endOfItem(item);
  const reports = item.reports.map(report => ({ start: report.requestedAt, end: report.done?.at ?? left }));
  const sets = [...item.earlier, item.buildset];
  const ran = sets.flatMap(buildset => buildsOf(buildset, left, 'ran'));
  const queued = sets.flatMap(buildset => buildsOf(buildset, left, 'queued')).sort(byStart);
  const unhoused = sets.flatMap(buildset => buildsOf(buildset, left, 'nodes')).sort(byStart);
  const lost = sets
    .flatMap(({ builds }) => builds.flatMap(build => unnoticedLoss(build) ?? []))
    .sort(byStart);
  const lostMergers = sets
    .flatMap(({ mergerWork }) => mergerWork.flatMap(unnoticedMergerLosses))
    .sort(byStart);
  const other = sets.flatMap(buildset => otherWork(buildset, left));
  const running = [...ran, ...other].sort(byStart);
  const preparing = [...running, ...queued, ...unhoused].sort(byStart);
  // A report counts while the item is `reporting`; one on the side (`start`) moves nothing.
  const reporting = [...preparing, ...reports].sort(byStart);
  const configured = sets
    .flatMap(({ turnWork }) => turnWork.map(({ startedAt, endedAt }) => ({ start: startedAt, end: endedAt })))
    .sort(byStart);
  return {
    configured,
    idle(state, window) {
      if (state === 'running')
        return gapsIn(window, running).flatMap(gap =>
          idleParts(gap, { executor: queued, nodes: unhoused, 'executor-lost': lost }),
        );
      const work = state === 'reporting' ? reporting : preparing;
      return gapsIn(window, work).flatMap(gap => idleParts(gap, { 'merger-lost': lostMergers }));
    },
  };
}

function byStart(a: TimeWindow, b: TimeWindow): number {
  return isBefore(a.start, b.start) ? -1 : isBefore(b.start, a.start) ? 1 : 0;
}

function otherWork(buildset: BuildSet, left: TimeWindow['end']): readonly TimeWindow[] {
  const closed = endOf(buildset) ?? left;
  return [
    ...buildset.mergerWork.flatMap(work => mergerTimes(work, closed)),
    ...buildset.turnWork.map(work => ({ start: work.startedAt, end: work.endedAt })),
  ];
}

/** From the request on, without the times in which its merger was gone. */
function mergerTimes(work: MergerWork, closed: TimeWindow['end']): readonly TimeWindow[] {
  const whole = { start: work.requestedAt, end: endOfMergerWork(work) ?? closed };
  const lost = unnoticedMergerLosses(work);
  return lost.length === 0 ? [whole] : gapsIn(whole, lost);
}

function buildsOf(
  buildset: BuildSet,
  left: TimeWindow['end'],
  part: 'queued' | 'nodes' | 'ran',
): readonly TimeWindow[] {
  const closed = endOf(buildset) ?? left;
  return buildset.builds.flatMap(build => {
    const taken = startOfBuild(build);
    const end = endOfBuild(build) ?? closed;
    if (part === 'queued') return queuedTimes(build, taken ?? end);
    if (part === 'nodes') return nodeTimes(build, taken ?? end);
    return taken === null ? [] : [{ start: taken, end }];
  });
}

/** When any executor could have taken it: of one that needs hosts, while it had some. */
function queuedTimes({ requestedAt, nodes }: Build, end: TimeWindow['end']): readonly TimeWindow[] {
  if (nodes === undefined) return [{ start: requestedAt, end }];
  return nodes.waits.flatMap(({ granted, returned }) =>
    granted === null ? [] : [{ start: granted.at, end: returned?.at ?? end }],
  );
}

/** When it waited for hosts. */
function nodeTimes({ nodes }: Build, end: TimeWindow['end']): readonly TimeWindow[] {
  return (nodes?.waits ?? []).map(({ since, granted }) => ({ start: since, end: granted?.at ?? end }));
}

/**
 * What the item waited for, with the times of each (sorted by start), the first that applies: while builds were requested and none ran for
 * executors, else for hosts, else for the loss of a worker to be noticed, and where nothing applies for a scheduler.
 */
function idleParts(
  gap: Gap,
  causes: { readonly [state in IdleState]?: readonly TimeWindow[] },
): readonly Idle[] {
  let parts: readonly (Gap & { readonly state: IdleState | null })[] = [{ ...gap, state: null }];
  for (const state of ['executor', 'nodes', 'executor-lost', 'merger-lost'] as const) {
    const times = causes[state] ?? [];
    parts = parts.flatMap(part => (part.state === null ? divided(part, times, state) : [part]));
  }
  return parts
    .map(({ state, ...part }) => ({ ...part, state: state ?? ('scheduler' as const) }))
    .filter(isLong);
}

/** Cut where `windows` (sorted by start) begin and end: in their `state`, or null between them. */
function divided(
  gap: Gap,
  windows: readonly TimeWindow[],
  state: IdleState,
): readonly (Gap & { readonly state: IdleState | null })[] {
  const parts: (Gap & { readonly state: IdleState | null })[] = [];
  let from = gap.start;
  const covered = (end: Nanoseconds) => {
    if (isBefore(from, end)) parts.push({ start: from, end, state });
  };
  for (const part of gapsIn(gap, windows)) {
    covered(part.start);
    parts.push({ ...part, state: null });
    from = part.end;
  }
  covered(gap.end);
  return parts;
}

function isLong({ start, end }: Gap): boolean {
  return BigInt(between(start, end)) >= SHORTEST_GAP_NS;
}

/**
 * The parts of `window` that none of `windows` (sorted by start) covers. Of an open one those before work that has begun: work is
 * never begun in the past, so they are certain.
 */
function gapsIn(window: TimeWindow, windows: readonly TimeWindow[]): readonly Gap[] {
  const gaps: Gap[] = [];
  const within = (time: Nanoseconds) => (window.end === null ? time : earliest(time, window.end));
  let covered: Nanoseconds | null = window.start;
  for (const { start, end } of windows) {
    if (isBefore(covered, start)) gaps.push({ start: covered, end: within(start) });
    covered = end === null ? window.end : within(latest(covered, end));
    if (covered === null || covered === window.end) break;
  }
  if (covered !== null && window.end !== null) gaps.push({ start: covered, end: window.end });
  return gaps.filter(gap => isBefore(gap.start, gap.end));
}
