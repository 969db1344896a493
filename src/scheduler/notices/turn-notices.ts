/** What a turn gives notice of: items that landed, failed, or were reset for the second time. Pure. */

import { millisecondsBetween } from '../../lib/clock.ts';
import { durationText } from '../../lib/duration-text.ts';
import type { LeaveCode } from '../../model/cause.ts';
import { leaveText, resetText } from '../../model/cause.ts';
import type { Notice } from '../../model/notice.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { ReportOccasion } from '../report/report-facts.ts';
import type { ChangedTurn } from '../turn/changed-items.ts';

/** A notice before it is known who wants it. */
export interface ItemNotice {
  readonly item: QueueItem;
  readonly notice: Notice;
  /** One sentence, without the change. */
  readonly headline: string;
  /** Which report it resembles: that of a failure names its jobs. */
  readonly occasion: ReportOccasion;
}

/** @param landsHere the pipeline lands what succeeds. */
export function turnNotices(
  before: Pick<PipelineState, 'items'>,
  { changed, left }: Pick<ChangedTurn, 'changed' | 'left'>,
  landsHere: boolean,
): readonly ItemNotice[] {
  return [
    ...changed.flatMap(item => resetNotice(before.items.get(item.uuid), item)),
    ...left.flatMap(item => departureNotice(item, landsHere)),
  ];
}

function resetNotice(before: QueueItem | undefined, item: QueueItem): readonly ItemNotice[] {
  const { cause } = item.buildset;
  if (before === undefined || cause === null || resetsOf(before) >= 2 || resetsOf(item) < 2) return [];
  return [
    {
      item,
      notice: { event: 'reset-twice', cause: '' },
      headline: `Tested again for the second time (${item.pipeline}): ${resetText(cause)}.`,
      occasion: { action: 'start', result: '' },
    },
  ];
}

/** Those that a person did not ask for. */
function resetsOf({ events }: QueueItem): number {
  return events.filter(({ name, facts: { cause } }) => name === 'reset' && cause !== 'rerun').length;
}

/** Its people did that themselves, it enters again, or nothing is lost. */
const EXPECTED: ReadonlySet<LeaveCode> = new Set([
  ...(['abandoned', 'new-patchset', 'cycle-changed', 'superseded', 'overtaken'] as const),
  ...(['merged-elsewhere', 'no-longer-needed', 'not-reported'] as const),
]);

function departureNotice(item: QueueItem, landsHere: boolean): readonly ItemNotice[] {
  const { phase, role, pipeline } = item;
  if (role !== 'live' || phase.phase !== 'left' || EXPECTED.has(phase.reason)) return [];
  const { reason, result } = phase;
  if (reason !== 'reported')
    return [
      {
        item,
        notice: { event: 'failed', cause: '' },
        headline: `Left ${pipeline} without its result: ${leaveText(reason)}.`,
        occasion: { action: 'dequeue', result },
      },
    ];
  if (result === 'NO_JOBS' || (result === 'SUCCESS' && !landsHere)) return [];
  if (result !== 'SUCCESS')
    return [
      {
        item,
        notice: { event: 'failed', cause: '' },
        headline: `Failed (${pipeline}).`,
        occasion: { action: 'failure', result },
      },
    ];
  const took = durationText(millisecondsBetween(item.enqueuedAt, phase.at));
  return [
    {
      item,
      notice: { event: 'landed', cause: '' },
      headline: `Landed after ${took} (${pipeline}).`,
      occasion: { action: 'success', result },
    },
  ];
}
