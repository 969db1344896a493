/**
 * The final report of an item at the head: the intent is stored, the item waits in phase `reporting`, and the answer of the reporters
 * (`apply-report-result.ts`) decides how it leaves.
 */
import { laterOf } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { aboutItem, changesText } from '../model/about-item.ts';
import { testedMergeOf } from '../model/build-set.ts';
import { leaveText } from '../model/cause.ts';
import { type BranchAfter, branchesAfter, hasLanded, type Landed } from '../model/landed.ts';
import { notBuiltText } from '../model/not-built.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { BuildSetResult } from '../model/results.ts';
import { leave } from './leave-item.ts';
import type { QueueDraft } from './queue-draft.ts';
import { withKeptSteps } from './report-steps.ts';
import { actionFor, hasReporters, requestReport } from './request-report.ts';
import { failureOf } from './standing.ts';
import { withEvent } from './timeline.ts';
import type { TurnDraft } from './turn-draft.ts';
import { adjustWindow } from './window.ts';

/**
 * @param together report of the first item that lands with it, ahead of it; absent: it is at the head.
 * @returns the item in phase `reporting`, or null: there are no reporters and it has left.
 */
export function reportItem(
  draft: TurnDraft,
  queue: QueueDraft,
  item: QueueItem,
  result: BuildSetResult,
  together?: Uuid,
): QueueItem | null {
  const action = draft.disabled ? 'disabled' : actionFor(result);
  // Once, also when the host did not take the report.
  if (item.hostWait?.doing !== 'report') countFailures(draft, item, result);
  if (!hasReporters(draft, action)) {
    leaveReported(draft, queue, item, {
      result,
      landed: [],
      text: `the pipeline has no ${action} reporters`,
    });
    return null;
  }
  const report = draft.input.ids.uuid();
  const text = troubleText(item);
  const intent = { report, action, result, awaited: true, ...(together === undefined ? {} : { together }) };
  const requested = requestReport(draft, item, intent, text);
  return { ...requested, phase: { phase: 'reporting', report, action } };
}

/** A reason that is not in the pipeline's own message. */
function troubleText(item: QueueItem): string | undefined {
  const { stage, mergerWork } = item.buildset;
  return stage.state === 'complete' && stage.result === 'ERROR' ? mergerWork.at(-1)?.done?.text : undefined;
}

/** The failure that reaches the limit is reported as usual; later ones are not. */
function countFailures(draft: TurnDraft, item: QueueItem, result: BuildSetResult): void {
  if (result === 'SUCCESS') draft.consecutiveFailures = 0;
  if (result !== 'FAILURE') return;
  draft.consecutiveFailures += 1;
  const limit = draft.input.pipeline.disableAfterConsecutiveFailures;
  if (limit === undefined || draft.disabled || draft.consecutiveFailures < limit) return;
  draft.disabled = true;
  draft.decide(
    'pipeline-disabled',
    aboutItem(item),
    `${draft.consecutiveFailures} consecutive failures reach the limit of ${limit}: reports go to the disabled reporters from now on`,
  );
}

/** The outcome of a report. */
export interface Reported {
  readonly result: BuildSetResult;
  /** What the branches hold now; empty: it has not landed. */
  readonly landed: Landed;
  /** One clause; null: there is nothing to add to the result. */
  readonly text: string | null;
  /** Nothing was written at a host, so `landed` is what would have been. Absent: it was reported. */
  readonly withheld?: true;
}

/** The last step of every item that was reported. */
export function leaveReported(
  draft: TurnDraft,
  queue: QueueDraft,
  item: QueueItem,
  reported: Reported,
): void {
  const merged = hasLanded(reported.landed);
  const refused = draft.manager.success === 'must-merge' && reported.result === 'SUCCESS' && !merged;
  const result = refused ? 'MERGE_FAILURE' : reported.result;
  const reason = reported.withheld === true ? 'not-reported' : 'reported';
  const text = notBuiltText(item.buildset, item.changes) ?? reported.text ?? leaveText(reason);
  const details = reported.text === null ? '' : `: ${reported.text}`;
  const what =
    reported.withheld === true
      ? `ended with ${result}, ${leaveText(reason)}`
      : `was reported with ${result}${details}`;
  draft.decide(reason, aboutItem(item), `${changesText(item)} ${what}`);
  if (merged) {
    const branches = branchesAfter(testedMergeOf(item.buildset), reported.landed);
    const leaving = withTreesCompared(draft, item, branches);
    leave(draft, leaving, {
      reason,
      result,
      text: reported.withheld === true ? leaveText(reason) : 'merged',
      became: { kind: 'landed', branches },
    });
    adjustWindow(draft, queue, item, 'widen');
    return;
  }
  const culprit = { item: item.uuid, change: changesText(item), buildset: item.buildset.uuid };
  const blame = refused
    ? ({ code: 'item-ahead-not-merged', culprit } as const)
    : (failureOf(item) ?? { code: 'item-ahead-left', culprit: { ...culprit, left: reason } });
  const failureReport = refused
    ? {
        report: {
          action: 'failure',
          text: `The change was not merged: ${reported.text ?? 'no reporter merged it'}`,
        } as const,
      }
    : {};
  leave(draft, item, { reason, result, text, became: { kind: 'gone', blame }, ...failureReport });
  if (result === 'FAILURE') adjustWindow(draft, queue, item, 'narrow');
}

/** Must not happen: a host that merges by itself landed another tree than was tested. One decision per branch. */
function withTreesCompared(draft: TurnDraft, item: QueueItem, branches: readonly BranchAfter[]): QueueItem {
  let compared = item;
  for (const { project, branch, tested, now } of branches) {
    if (now.tree === tested.tree) continue;
    draft.decide(
      'landed-tree-differs',
      aboutItem(item),
      `${changesText(item)} landed on ${branch} of ${project} as ${now.commit}, whose tree ${now.tree} is not the tested ${tested.tree}`,
    );
    compared = withEvent(compared, {
      at: draft.input.now,
      name: 'landed-tree-differs',
      facts: { project, branch, commit: now.commit, tree: now.tree, tested: tested.tree },
    });
  }
  return compared;
}

/** The answer, on the record it belongs to; the same item when that is unknown or answered already. */
export function withReportDone(
  item: QueueItem,
  report: string,
  done: NonNullable<QueueItem['reports'][number]['done']>,
): QueueItem {
  const open = item.reports.some(record => record.uuid === report && record.done === null);
  if (!open) return item;
  const kept = withKeptSteps(item, done);
  const reports = item.reports.map(record =>
    record.uuid === report
      ? { ...record, done: { ...kept, at: laterOf(kept.at, record.requestedAt) } }
      : record,
  );
  return { ...item, reports };
}
