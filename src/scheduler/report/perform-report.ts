/**
 * Performs one report: its parts one after the other.
 *
 * A host that does not answer is retried a few times within seconds. After that the outcome is `host`, and the caller waits: the
 * item in its queue or, where no item waits for the answer, the intent in its outbox.
 */
import { unlessAborted } from '../../lib/unless-aborted.ts';
import { changeText } from '../../model/change.ts';
import type { ReportOutcome } from '../../model/event.ts';
import type { LandedBranch } from '../../model/landed.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import { reportLogFacts } from '../../tracing/log-facts.ts';
import type { PartOutcome, ReportPart } from './part-record.ts';
import { type PerformReportDeps, performLanded, performPart } from './perform-part.ts';

/** The outcome as the pipeline gets it, and the parts as the item's record and trace have them. */
export interface PerformedReport {
  readonly outcome: ReportOutcome;
  readonly parts: readonly ReportPart[];
  /** The change has landed, and these parts are still to be sent when the host takes them; absent: none. */
  readonly unsent?: ReportIntent['parts'];
}

/** @throws NotAllowedToAct when the fence was lost in the middle; the next holder performs the intent again. */
export async function performReport(
  intent: ReportIntent,
  deps: PerformReportDeps,
  signal: AbortSignal,
): Promise<PerformedReport> {
  const parts: ReportPart[] = [];
  const landed: LandedBranch[] = [];
  const unsent: ReportIntent['parts'][number][] = [];
  let withheld: Extract<ReportOutcome, { readonly kind: 'withheld' }> | undefined;
  for (const [index, part] of intent.parts.entries()) {
    const done = await performNext(intent, part, landed, deps, signal);
    if (done.record !== undefined) parts.push(done.record);
    switch (done.outcome.kind) {
      case 'base-moved':
      case 'not-merged':
        return {
          outcome: landed.length === 0 ? done.outcome : landedInPart(intent, index, done.outcome, deps),
          parts,
        };
      case 'withdrawn':
        return {
          outcome: landed.length > 0 && !part.merges ? { kind: 'done', landed } : done.outcome,
          parts,
        };
      case 'host':
        // The change has landed: only comments are left.
        if (landed.length === 0 || part.merges)
          return { outcome: unsettledAfter(landed, done.outcome), parts };
        unsent.push(...intent.parts.slice(index));
        return { outcome: { kind: 'done', landed }, parts, unsent };
      case 'done':
        landed.push(...done.outcome.landed);
        if (done.outcome.unsent === true) unsent.push({ ...part, merges: false });
        break;
      case 'failed':
        break;
      case 'withheld':
        withheld = { kind: 'withheld', lands: done.outcome.lands, message: done.outcome.message };
        break;
    }
  }
  const outcome = withheldUnless(landed, withheld);
  return { outcome, parts, ...(unsent.length === 0 ? {} : { unsent }) };
}

/** Shadow mode may have begun after a part has landed. */
function withheldUnless(
  landed: readonly LandedBranch[],
  withheld: Extract<ReportOutcome, { readonly kind: 'withheld' }> | undefined,
): ReportOutcome {
  return landed.length === 0 && withheld !== undefined ? withheld : { kind: 'done', landed };
}

/** The record is absent: the host was not asked. */
interface PerformedPart {
  readonly outcome: PartOutcome;
  readonly record?: ReportPart;
}

const NOT_SENT: PerformedPart = {
  outcome: { kind: 'withdrawn', text: 'a change that had to land before it did not' },
};
const LATER: PerformedPart = { outcome: { kind: 'done', landed: [], unsent: true } };

/** Landings were made together, or left out, beforehand, or each is made now. What is not announced in time is left for later. */
async function performNext(
  intent: ReportIntent,
  part: ReportIntent['parts'][number],
  landed: readonly LandedBranch[],
  deps: PerformReportDeps,
  signal: AbortSignal,
): Promise<PerformedPart> {
  if (deps.joint === undefined) return performPart(intent, onWhatLanded(part, landed), deps, signal);
  const { answers, announcing } = deps.joint;
  if (!part.merges)
    return (await unlessAborted(() => performPart(intent, part, deps, signal), announcing)) ?? LATER;
  const landing = answers.get(part);
  return landing === undefined ? NOT_SENT : performLanded(intent, part, landing, deps, signal);
}

/** Of several changes of an item for one branch, each lands on the one before it. */
function onWhatLanded(
  part: ReportIntent['parts'][number],
  landed: readonly LandedBranch[],
): ReportIntent['parts'][number] {
  const { tested, change } = part;
  const before = landed.findLast(
    ({ project, branch }) => project === change.project && branch === change.branch,
  );
  if (tested === undefined || before === undefined) return part;
  return { ...part, tested: { ...tested, before: before.commit, beforeTree: before.tree } };
}

/** What has landed cannot be taken back. @param refused place of the part that was refused: landings come first. */
function landedInPart(
  intent: ReportIntent,
  refused: number,
  { text }: { readonly text: string },
  { log }: Pick<PerformReportDeps, 'log'>,
): ReportOutcome {
  const name = ({ change }: ReportIntent['parts'][number]) => changeText(change);
  const done = intent.parts.slice(0, refused).map(name).join(', ');
  const open = intent.parts.slice(refused).filter(({ merges }) => merges);
  const what = `${done} landed, ${open.map(name).join(', ')} did not: ${text}`;
  log.error(reportLogFacts(intent), `changes that belong together landed in part: ${what}`);
  return { kind: 'not-merged', text: what };
}

/** Where a part has landed, the rest is tried until the host has said what came of it. */
function unsettledAfter(
  landed: readonly LandedBranch[],
  outcome: Extract<PartOutcome, { readonly kind: 'host' }>,
): Extract<PartOutcome, { readonly kind: 'host' }> {
  return landed.length === 0 ? outcome : { ...outcome, trouble: { ...outcome.trouble, unsettled: true } };
}
