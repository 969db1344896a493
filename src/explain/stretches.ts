/**
 * The states of an item as adjacent stretches of time since its enqueue: the same as the `Wait …` spans and the work between them, so
 * that explanation and trace agree.
 *
 *     window 12s · merge 40ms · configure 2ms · scheduler 3s (configure) · executor 1s · running 38s · ...
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { between, earliest, isBefore, type TimeWindow } from '../lib/time-window.ts';
import { ITEM_STATES, isWait, type StretchState } from '../model/item-states.ts';
import { buildsetsOf, type QueueItem, type TimelineEntry } from '../model/queue-item.ts';
import { type WorkWindows, workWindows } from '../model/work-windows.ts';

/** A time in one state. Both ends are nanoseconds since the epoch; `duration` is their difference, never 0. */
export interface Stretch {
  readonly state: StretchState;
  readonly kind: 'wait' | 'work';
  /** What it waited for, if recorded. */
  readonly subject?: string;
  /** Uuid of the item it waited for. */
  readonly whom?: Uuid;
  readonly from: Nanoseconds;
  readonly to: Nanoseconds;
  readonly duration: Nanoseconds;
}

/** In order and without gap; states of zero duration are left out. */
export function stretchesOf(item: QueueItem, until: Nanoseconds): readonly Stretch[] {
  const work = workWindows(item);
  return item.timeline.flatMap((entry, index) => {
    const from = earliest(index === 0 ? item.enqueuedAt : entry.since, until);
    const to = earliest(item.timeline[index + 1]?.since ?? until, until);
    if (from === to) return [];
    return isWait(entry.state)
      ? [stretch(entry, from, to)]
      : workAndGaps(entry, { start: from, end: to }, work).flatMap(each => configuring(each, item));
  });
}

/** The layout is computed before a turn reads the merger's answer: from its begin the item's merge is over. */
function configuring(piece: Stretch, item: QueueItem): readonly Stretch[] {
  if (piece.state !== 'merge') return [piece];
  const begun = buildsetsOf(item)
    .flatMap(({ turnWork }) => turnWork.filter(({ kind }) => kind === 'layout'))
    .find(({ startedAt }) => isBefore(startedAt, piece.to) && !isBefore(startedAt, piece.from));
  if (begun === undefined) return [piece];
  const { startedAt } = begun;
  const configure = { ...piece, state: 'configure' as const, from: startedAt };
  const after = { ...configure, duration: between(startedAt, piece.to) };
  if (startedAt === piece.from) return [after];
  return [{ ...piece, to: startedAt, duration: between(piece.from, startedAt) }, after];
}

/** A state of work, cut where no work went on. */
function workAndGaps(
  entry: TimelineEntry,
  window: TimeWindow & { readonly end: Nanoseconds },
  work: WorkWindows,
): readonly Stretch[] {
  const stretches: Stretch[] = [];
  let from = window.start;
  for (const { state, start, end } of work.idle(entry.state, window)) {
    if (start !== from) stretches.push(stretch(entry, from, start));
    stretches.push(stretch({ state, subject: entry.state }, start, end));
    from = end;
  }
  if (from !== window.end) stretches.push(stretch(entry, from, window.end));
  return entry.state === 'merge' ? stretches.flatMap(each => withLayout(each, work.configured)) : stretches;
}

/** The jobs are frozen before the turn that handles the merge: until then the state is `merge`. */
function withLayout(whole: Stretch, configured: readonly TimeWindow[]): readonly Stretch[] {
  const begun = configured.find(
    ({ start }) => !isBefore(start, whole.from) && isBefore(start, whole.to),
  )?.start;
  if (whole.state !== 'merge' || begun === undefined) return [whole];
  const rest = stretch({ state: 'configure' }, begun, whole.to);
  return begun === whole.from ? [rest] : [stretch({ state: 'merge' }, whole.from, begun), rest];
}

function stretch(
  { state, subject, item }: { readonly state: StretchState } & Pick<TimelineEntry, 'subject' | 'item'>,
  from: Nanoseconds,
  to: Nanoseconds,
): Stretch {
  return {
    state,
    kind: ITEM_STATES[state].kind,
    ...(subject === undefined ? {} : { subject }),
    ...(item === undefined ? {} : { whom: item }),
    from,
    to,
    duration: between(from, to),
  };
}
