/**
 * Asking for reports. Which one a result calls for, and the intent that is stored before anybody is told.
 *
 * project not in pipeline, no jobs → no-jobs; invalid configuration → config-error; conflict → merge-conflict; all voting
 * jobs good → success; everything else → failure. A disabled pipeline says all of them through its `disabled` reporters.
 * An action without reporters is not asked for at all.
 */
import { assertNever } from '../lib/assert-never.ts';
import type { Uuid } from '../lib/ids.ts';
import { leadChange } from '../model/about-item.ts';
import type { ReportAction } from '../model/pipeline.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { BuildSetResult } from '../model/results.ts';
import type { TurnDraft } from './turn-draft.ts';

export function actionFor(result: BuildSetResult): ReportAction {
  switch (result) {
    case 'SUCCESS':
      return 'success';
    case 'MERGE_CONFLICT':
      return 'merge-conflict';
    case 'CONFIG_ERROR':
      return 'config-error';
    case 'NO_JOBS':
      return 'no-jobs';
    case 'FAILURE':
    case 'MERGE_FAILURE':
    case 'ERROR':
      return 'failure';
    case 'DEQUEUED':
      return 'dequeue';
    default:
      return assertNever(result, 'buildset result');
  }
}

export function hasReporters(draft: TurnDraft, action: ReportAction): boolean {
  return draft.input.pipeline.reporters[action].length > 0;
}

/** The reporters that speak for an action now; null: nobody does. */
export function reportersInUse(draft: TurnDraft, action: ReportAction): ReportAction | null {
  const progress = action === 'enqueue' || action === 'start';
  if (draft.disabled && progress) return null;
  const spoken = draft.disabled ? 'disabled' : action;
  return hasReporters(draft, spoken) ? spoken : null;
}

/** Asks for a report nobody waits for; the item remembers that it was asked for. */
export function reportOnce(
  draft: TurnDraft,
  item: QueueItem,
  action: ReportAction,
  result: BuildSetResult | null,
  text?: string,
): QueueItem {
  const spoken = reportersInUse(draft, action);
  return spoken === null
    ? item
    : requestReport(
        draft,
        item,
        { report: draft.input.ids.uuid(), action: spoken, result, awaited: false },
        text,
      );
}

export interface Intent {
  readonly report: Uuid;
  readonly action: ReportAction;
  readonly result: BuildSetResult | null;
  readonly awaited: boolean;
}

/** Writes the intent on the item and asks for the report. */
export function requestReport(draft: TurnDraft, item: QueueItem, intent: Intent, text?: string): QueueItem {
  draft.command({
    kind: 'report',
    ...intent,
    item: item.uuid,
    change: leadChange(item).key,
    ...(text === undefined ? {} : { text }),
  });
  const record = { uuid: intent.report, action: intent.action, requestedAt: draft.input.now, done: null };
  return { ...item, reports: [...item.reports, record] };
}
