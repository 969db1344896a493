/**
 * Requests reports: the action for a result, and the intent that is stored before the host is written to.
 *
 * project not in pipeline, no jobs → no-jobs; invalid configuration → config-error; conflict → merge-conflict; all voting
 * jobs good → success; everything else → failure. A disabled pipeline reports all of them with its `disabled` reporters. Without
 * reporters for its action no report is requested.
 */
import { assertNever } from '../lib/assert-never.ts';
import type { Uuid } from '../lib/ids.ts';
import { leadChange } from '../model/about-item.ts';
import type { ReportAction } from '../model/pipeline.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { BuildSetResult } from '../model/results.ts';
import type { TurnDraft } from './turn-draft.ts';

/** Which reporters of the pipeline a result goes to, while the pipeline is not disabled. */
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

/** Whether the pipeline configures any reporter for the action; without one, nothing is requested or awaited. */
export function hasReporters(draft: TurnDraft, action: ReportAction): boolean {
  return draft.input.pipeline.reporters[action].length > 0;
}

/** The reporters that an action uses now; null: there are none. */
export function reportersInUse(draft: TurnDraft, action: ReportAction): ReportAction | null {
  const progress = action === 'enqueue' || action === 'start';
  if (draft.disabled && progress) return null;
  const used = draft.disabled ? 'disabled' : action;
  return hasReporters(draft, used) ? used : null;
}

/** Requests a report without waiting for its answer; the request is recorded on the item. */
export function reportOnce(
  draft: TurnDraft,
  item: QueueItem,
  action: ReportAction,
  result: BuildSetResult | null,
  text?: string,
): QueueItem {
  const used = reportersInUse(draft, action);
  return used === null
    ? item
    : requestReport(
        draft,
        item,
        { report: draft.input.ids.uuid(), action: used, result, awaited: false },
        text,
      );
}

/** One report to request. */
export interface Intent {
  readonly report: Uuid;
  readonly action: ReportAction;
  /** Null: the item is not done, as for `start`. */
  readonly result: BuildSetResult | null;
  /** The item stays in phase `reporting` until the outcome comes. */
  readonly awaited: boolean;
  /** Report of the first item that lands with it; absent: none lands ahead of it. */
  readonly together?: Uuid;
}

/** Records the request on the item and requests the report. */
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
