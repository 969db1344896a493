/**
 * Applies the outcome of a report.
 *
 *   done, landed    leaves; those behind go on untouched when the branch holds the tested tree, in any commit; otherwise they are
 *                   tested again, and the log has an error (decision 0053)
 *   done            leaves (in a dependent pipeline a success that did not merge is a MERGE_FAILURE)
 *   host            stays, and is reported again when the host serves
 *   base-moved      stays at the head and is tested again, and everything behind it with it
 *   withdrawn       stays for the moment: departures take it out, for its project is not in the tenant any more, or the item ahead
 *                   of it did not land, and it is tested again without that one
 *   not-merged      leaves with MERGE_FAILURE; those behind are tested again without it
 *   withheld        leaves with its result; where it would have landed, those behind go on as if it had (decision 0250)
 *   failed          a reporter failed for good; the result stands, and the change counts as not merged
 */
import { assertNever } from '../lib/assert-never.ts';
import { millisecondsBetween } from '../lib/clock.ts';
import type { PipelineEvent, ReportOutcome } from '../model/event.ts';
import { hasLanded } from '../model/landed.ts';
import type { QueueItem, ReportEnd } from '../model/queue-item.ts';
import { hostServed, waitForHost, withBoundedTries, withoutWait } from './host-wait.ts';
import { leaveReported, type Reported, withReportDone } from './report-item.ts';
import { resetItem } from './reset-item.ts';
import type { TurnDraft } from './turn-draft.ts';

type ReportResult = Extract<PipelineEvent, { readonly kind: 'report-result' }>;

/** @param event of a report that the turn waits for, or of any other one of the item: then only its record changes. */
export function applyReportResult(draft: TurnDraft, event: ReportResult): void {
  const item = draft.item(event.item);
  if (item === undefined) return;
  const { at, parts, outcome } = event;
  const message = outcome.kind === 'withheld' ? { message: outcome.message } : {};
  const done = { at, parts, outcome: recorded(outcome), ...message };
  const reported = withReportDone(item, event.report, done);
  if (reported === item) {
    draft.ignore({
      item: item.uuid,
      event: event.uuid,
      text: `the item does not wait for report ${event.report}`,
    });
    return;
  }
  if (reported.phase.phase !== 'reporting' || reported.phase.report !== event.report) {
    draft.put(reported);
    return;
  }
  if (outcome.kind === 'host' && !isGivenUp(draft, reported, event)) {
    const { trouble } = outcome;
    const queued: QueueItem = { ...reported, phase: { phase: 'queued' } };
    draft.put(waitForHost(draft, queued, 'report', trouble, event.uuid));
    draft.departuresDue = true; // departures are not checked while an item is reporting
    return;
  }
  if (outcome.kind === 'withdrawn') {
    draft.put({ ...withBoundedTries(reported), phase: { phase: 'queued' } });
    draft.departuresDue = true;
    return;
  }
  const served = reported.hostWait?.doing === 'report' ? withoutWait(draft, reported) : reported;
  draft.put(served);
  if (outcome.kind !== 'host' && outcome.kind !== 'withheld')
    hostServed(draft, 'report', new Set(served.changes.map(({ project }) => project)));
  if (outcome.kind === 'base-moved' && isSuccess(served)) {
    retest(draft, served);
    return;
  }
  const queue = draft.queues.get(served.queue);
  if (queue !== undefined) leaveReported(draft, queue, served, reportedAs(served, outcome));
}

/** Milliseconds after which a comment that the host does not take is given up. A landing is never given up. */
const LONGEST_NOTE_MS = 24 * 60 * 60 * 1000;

function isGivenUp(draft: TurnDraft, { hostWait }: QueueItem, { parts }: ReportResult): boolean {
  if (hostWait?.doing !== 'report' || parts.some(({ kind }) => kind === 'HostMerge')) return false;
  return millisecondsBetween(hostWait.since, draft.input.now) > LONGEST_NOTE_MS;
}

function retest(draft: TurnDraft, item: QueueItem): void {
  const cause = { code: 'base-moved', at: draft.input.now, culprit: null } as const;
  draft.put(resetItem(draft, item, cause));
  draft.retested.set(item.uuid, cause);
  draft.departuresDue = true; // departures are not checked while an item is reporting
}

function isSuccess(item: QueueItem): boolean {
  const { stage } = item.buildset;
  return stage.state === 'complete' && stage.result === 'SUCCESS';
}

function reportedAs(
  item: QueueItem,
  outcome: Exclude<ReportOutcome, { readonly kind: 'withdrawn' }>,
): Reported {
  const { stage } = item.buildset;
  const result = stage.state === 'complete' ? stage.result : 'ERROR';
  switch (outcome.kind) {
    case 'done':
      return hasLanded(outcome.landed)
        ? { result, landed: outcome.landed, text: 'merged' }
        : { result, landed: [], text: null };
    case 'withheld':
      return { result, landed: outcome.lands ? 'as-tested' : [], text: null, withheld: true };
    case 'base-moved':
    case 'not-merged':
    case 'failed':
      return { result, landed: [], text: outcome.text };
    case 'host':
      return { result, landed: [], text: outcome.trouble.text };
    default:
      return assertNever(outcome, 'report outcome');
  }
}

function recorded(outcome: ReportOutcome): ReportEnd {
  switch (outcome.kind) {
    case 'done':
    case 'failed':
    case 'withdrawn':
    case 'withheld':
      return outcome.kind;
    case 'host':
      return 'failed';
    case 'base-moved':
    case 'not-merged':
      return 'refused';
    default:
      return assertNever(outcome, 'report outcome');
  }
}
