/** When an item's own work went on: whatever is not in here, nor a wait, is time the scheduler itself let pass. */
import { type BuildSet, endOf } from '../../model/build-set.ts';
import { endOfItem, type ItemStateName, type QueueItem } from '../../model/queue-item.ts';
import { earliest, isBefore, latest, type TimeWindow } from '../time-window.ts';
import { endOfBuild } from './build-spans.ts';

export interface WorkWindows {
  /** In a state: a report counts while the item is `reporting`; one on the side (`start`) moves nothing. */
  of(state: ItemStateName): readonly TimeWindow[];
}

/** Each list by start; windows may overlap; `end` null: still going on. */
export function workWindows(item: QueueItem): WorkWindows {
  const left = endOfItem(item);
  const reports = item.reports.map(report => ({ start: report.requestedAt, end: report.done?.at ?? left }));
  const sets = [...item.earlier, item.buildset].flatMap(buildset => windowsOf(buildset, left));
  const work = sets.sort(byStart);
  const all = [...sets, ...reports].sort(byStart);
  return { of: state => (state === 'reporting' ? all : work) };
}

function byStart(a: TimeWindow, b: TimeWindow): number {
  return isBefore(a.start, b.start) ? -1 : isBefore(b.start, a.start) ? 1 : 0;
}

function windowsOf(buildset: BuildSet, left: TimeWindow['end']): readonly TimeWindow[] {
  const closed = endOf(buildset) ?? left;
  return [
    ...buildset.mergerWork.map(work => ({ start: work.requestedAt, end: work.done?.at ?? closed })),
    ...buildset.turnWork.map(work => ({ start: work.startedAt, end: work.endedAt })),
    ...buildset.builds.map(build => ({ start: build.requestedAt, end: endOfBuild(build) ?? closed })),
  ];
}

/** The parts of `window`, which has ended, that none of `windows` (sorted by start) covers. */
export function gapsIn(window: TimeWindow, windows: readonly TimeWindow[]): readonly TimeWindow[] {
  if (window.end === null) return [];
  const gaps: TimeWindow[] = [];
  let covered = window.start;
  for (const { start, end } of windows) {
    if (isBefore(covered, start)) gaps.push({ start: covered, end: earliest(start, window.end) });
    covered = end === null ? window.end : latest(covered, end);
    if (!isBefore(covered, window.end)) break;
  }
  if (isBefore(covered, window.end)) gaps.push({ start: covered, end: window.end });
  return gaps.filter(gap => gap.end !== null && isBefore(gap.start, gap.end));
}
