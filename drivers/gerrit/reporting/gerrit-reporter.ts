/**
 * Reports to Gerrit: one review of the tested patch set with votes, message and comments on lines (send-review.ts).
 *
 *     line-comments.ts, changed-in-patchset.ts    remarks about lines of the change's files
 *     review-message.ts, report-key.ts            the text, which ends with the report's key
 *     review-refusal.ts                           what Gerrit does not take is left out, and the rest is sent
 *     own-message.ts, own-account.ts              a repetition asks first whether our message is there
 *
 * Votes are about the tested patch set alone: Gerrit takes them for an old one, where they do no harm. The same vote again changes
 * nothing, so that a report without a message is repeated without asking.
 *
 * A pipeline that submits gives its votes before (landing/own-votes.ts), and its message after the change is merged.
 */
import type { DriverLog } from '../../../src/driver/connection.ts';
import { gatherSteps } from '../../../src/driver/host-steps.ts';
import type { Reporter, ReporterOutcome, ReportRequest } from '../../../src/driver/reporter.ts';
import { changeText, type ProposedChange } from '../../../src/model/change.ts';
import { projectIdOf } from '../../../src/model/project.ts';
import type { GerritApi } from '../api/port.ts';
import { ownTag } from '../language/event-facts.ts';
import { gerritReporterDeeds } from '../language/reporter-config.ts';
import { readPatchsetFiles } from './changed-in-patchset.ts';
import { type LineCommentPlan, ownRemarks, planLineComments } from './line-comments.ts';
import type { OwnAccount } from './own-account.ts';
import { hasOwnMessage } from './own-message.ts';
import { type LabelVote, outcomeOfNotTaken, proposedOf, type ReviewCalls } from './report-context.ts';
import { reviewKey } from './report-key.ts';
import { briefMessage, type DroppedVote, droppedText, reviewMessage } from './review-message.ts';
import { sendReview } from './send-review.ts';

/** The log gets votes that Gerrit did not take. */
export interface GerritReporterDeps {
  readonly api: GerritApi;
  readonly log: DriverLog;
  /** Shared by reporter, answerer and landing of a connection. */
  readonly ourselves: OwnAccount;
  /** Gets what Gerrit took of the votes of a report, and what not. @param project its name. */
  readonly answered: (project: string, votes: readonly LabelVote[], dropped: readonly DroppedVote[]) => void;
}

/** Writes nothing that Gerrit holds already. */
export function createGerritReporter(deps: GerritReporterDeps): Reporter {
  return {
    async report(request, signal, mayAct) {
      signal.throwIfAborted();
      const change = proposedOf(request.change);
      if (change === undefined) return { kind: 'done' };
      const { steps, add } = gatherSteps();
      const project = projectIdOf(change.project).name;
      const acting = { signal, steps: add, ...(mayAct === undefined ? {} : { mayAct }) };
      const calls = { api: deps.api, log: deps.log, call: { project, ...acting } };
      const outcome = await reportTo(change, request, deps, calls);
      return { ...outcome, ...(steps.length === 0 ? {} : { steps }) };
    },
  };
}

async function reportTo(
  change: ProposedChange,
  request: ReportRequest,
  { ourselves, answered }: GerritReporterDeps,
  calls: ReviewCalls,
): Promise<ReporterOutcome> {
  const { report } = request;
  const { votes, comment, notify } = gerritReporterDeeds(request.config);
  const tag = ownTag(report.place.pipeline);
  if (comment && mayBeThere(request)) {
    const found = await hasOwnMessage(change, { tag, key: reviewKey(report) }, ourselves, calls);
    if (found.kind !== 'ok') return outcomeOfNotTaken(found, 'to show our messages');
    if (found.data) return { kind: 'done' };
  }
  const remarks = ownRemarks(report.fileComments, change);
  const lines = await planFor(remarks, change, calls);
  if ('kind' in lines) return outcomeOfNotTaken(lines, 'to show the files of the patch set');
  const message = comment
    ? {
        whole: (extras: Parameters<typeof reviewMessage>[1]) => reviewMessage(report, extras),
        brief: () => briefMessage(report),
      }
    : undefined;
  const sent = await sendReview({ change, tag, votes, notify, lines, remarks, message }, calls);
  switch (sent.kind) {
    case 'sent': {
      answered(calls.call.project, votes, sent.dropped);
      if (sent.dropped.length === 0) return { kind: 'done' };
      const text = droppedText(sent.dropped);
      calls.log.warn({ change: changeText(change), reason: text }, 'a vote was not taken');
      return { kind: 'failed', text };
    }
    case 'closed':
    case 'gone': {
      const reason = sent.kind === 'closed' ? 'it is abandoned' : 'it was deleted, or is hidden from us';
      calls.log.info({ change: changeText(change), reason }, 'there is no change to report to');
      return { kind: 'done' };
    }
    default:
      return outcomeOfNotTaken(sent, 'the review');
  }
}

/** False: no message of this report can be at Gerrit yet. */
function mayBeThere({ earlier, aloneSince }: ReportRequest): boolean {
  return aloneSince === undefined && earlier?.kind !== 'none';
}

const NO_LINES: LineCommentPlan = { comments: {}, leftOut: [] };

async function planFor(
  remarks: ReturnType<typeof ownRemarks>,
  change: ProposedChange,
  calls: ReviewCalls,
): Promise<LineCommentPlan | Exclude<Awaited<ReturnType<typeof readPatchsetFiles>>, { kind: 'ok' }>> {
  if (remarks.length === 0) return NO_LINES;
  const files = await readPatchsetFiles(change, calls);
  return files.kind === 'ok' ? planLineComments(remarks, files.data) : files;
}
