/**
 * Performs one report: its parts one after the other, each with the right to act proved directly before it.
 *
 * A host that does not answer is retried a few times within seconds. After that the outcome is `host`, and the caller waits: the
 * item in its queue or, where no item waits for the answer, the intent in its outbox.
 *
 * When the project of the change has left the tenant, nothing is written at the host. A landing may have been sent before, though:
 * then the host is only asked whether it has arrived.
 */
import type { Connection } from '../../driver/connection.ts';
import type { HostLater } from '../../driver/host-later.ts';
import { type HostSteps, hostSteps, hostStepsOfError } from '../../driver/host-steps.ts';
import type { ReportRequest } from '../../driver/reporter.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import { type Change, changeText } from '../../model/change.ts';
import type { ReportOutcome } from '../../model/event.ts';
import type { HostTrouble } from '../../model/host-trouble.ts';
import type { Json } from '../../model/job.ts';
import type { LandedBranch } from '../../model/landed.ts';
import type { ConnectionName, ProjectKey } from '../../model/project.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import type { Step } from '../../model/step.ts';
import { reportLogFacts } from '../../tracing/log-facts.ts';
import { hostTroubleOf } from '../remote-fault.ts';
import { type PartOutcome, type ReportPart, recordOf, rememberedOf } from './part-record.ts';
import type { ProjectStanding } from './right-to-act.ts';
import { reportOf } from './stored-report.ts';

/** `prove` and `mayAct` come from the fence of the pipeline's holder. */
export interface PerformReportDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  /** Returns when a write has just proved that we hold the fence. @throws when we do not, or cannot know. */
  prove(change: Change): Promise<ProjectStanding>;
  /** False: we may have lost the right to act since. */
  mayAct(): boolean;
  /** No process has tried this report before, and none has made a later one of its item. */
  readonly isFirstTry: boolean;
  /** When this process took the pipeline. */
  readonly since: Nanoseconds;
}

/** The outcome as the pipeline gets it, and the parts as the item's record and trace have them. */
export interface PerformedReport {
  readonly outcome: ReportOutcome;
  readonly parts: readonly ReportPart[];
  /** The change has landed, and these parts are still to be sent when the host takes them; absent: none. */
  readonly unsent?: ReportIntent['parts'];
}

/** Milliseconds before the second and third try. */
const SHORT_PAUSES = [200, 1_000] as const;

/** The right to act is in doubt, so the report is broken off. The holder of the pipeline, this process or another, performs it again. */
export class NotAllowedToAct extends Error {
  override readonly name = 'NotAllowedToAct';
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
  for (const [index, part] of intent.parts.entries()) {
    const done = await performPart(intent, onWhatLanded(part, landed), deps, signal);
    parts.push(done.record);
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
        return landed.length > 0 && !part.merges
          ? { outcome: { kind: 'done', landed }, parts, unsent: [...unsent, ...intent.parts.slice(index)] }
          : { outcome: unsettledAfter(landed, done.outcome), parts };
      case 'done':
        landed.push(...done.outcome.landed);
        if (done.outcome.unsent === true) unsent.push({ ...part, merges: false });
        break;
      case 'failed':
        break;
    }
  }
  return { outcome: { kind: 'done', landed }, parts, ...(unsent.length === 0 ? {} : { unsent }) };
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

async function performPart(
  intent: ReportIntent,
  part: ReportIntent['parts'][number],
  deps: PerformReportDeps,
  signal: AbortSignal,
): Promise<{ outcome: PartOutcome; record: ReportPart }> {
  const log = deps.log.child({ ...reportLogFacts(intent), connection: part.connection });
  const startedAt = deps.clock.now();
  const steps: Step[] = [];
  let memory: Json | undefined;
  const took = (answer: DriverAnswer | undefined) => {
    steps.push(...hostSteps(answer?.steps));
    memory = answer?.memory ?? memory;
  };
  const ended = (outcome: PartOutcome, tries: number) => {
    const kept = hostSteps(steps);
    const record = {
      ...recordOf(part, outcome, startedAt, deps.clock.now(), tries),
      ...rememberedOf(part.change, memory),
    };
    return { outcome, record: kept.length === 0 ? record : { ...record, steps: kept } };
  };
  const isFirst = deps.isFirstTry && intent.repeats !== true;
  let unsettled = false;
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    const standing = await deps.prove(part.change);
    if (!deps.mayAct()) throw new NotAllowedToAct(`report ${intent.uuid}`);
    try {
      const outcome =
        standing === 'held'
          ? await act(intent, part, { ...deps, took, isFirstTry: isFirst && tries === 1 }, signal)
          : await outcomeSoFar(intent, part, deps, signal);
      return ended(outcome, tries);
    } catch (error) {
      signal.throwIfAborted();
      if (!deps.mayAct()) throw new NotAllowedToAct(`report ${intent.uuid}`);
      steps.push(...hostStepsOfError(error));
      const wait = SHORT_PAUSES[tries - 1];
      const next = wait === undefined ? 'retrying later' : 'retrying';
      log.warn({ err: error, tries }, `could not report ${changeText(part.change)}; ${next}`);
      const trouble = hostTroubleOf(error, part.change.project);
      // An earlier holder of the pipeline may have sent a landing that may not be sent any more.
      unsettled ||= trouble.unsettled === true || standing === 'removed';
      if (wait === undefined)
        return ended({ kind: 'host', trouble: withUnsettled(trouble, unsettled) }, tries);
      await pause(wait, signal);
    }
  }
}

function withUnsettled(trouble: HostTrouble, unsettled: boolean): HostTrouble {
  return unsettled ? { ...trouble, unsettled } : trouble;
}

/** What is kept of an answer of the driver. */
interface DriverAnswer extends HostSteps {
  readonly memory?: Json;
}

interface ActingDeps extends PerformReportDeps {
  /** Gets each answer of the driver. */
  readonly took: (answer: DriverAnswer | undefined) => void;
}

/** A comment about a landing comes after it, and its failure does not undo it. */
async function act(
  intent: ReportIntent,
  part: ReportIntent['parts'][number],
  deps: ActingDeps,
  signal: AbortSignal,
): Promise<PartOutcome> {
  const { reporter, landing } = deps.connections.get(part.connection) ?? {};
  const aloneSince = deps.isFirstTry ? deps.since : undefined;
  if (!part.merges) {
    if (reporter === undefined) return cannot(part, 'report');
    const answer = await reporter.report(requestOf(intent, part, deps.isFirstTry, aloneSince), signal, () =>
      deps.mayAct(),
    );
    deps.took(answer);
    if (answer.kind === 'later') return { kind: 'host', trouble: troubleOf(answer, part.change.project) };
    return answer.kind === 'done' ? { kind: 'done', landed: [] } : { kind: 'failed', text: answer.text };
  }
  if (landing === undefined) return cannot(part, 'land changes');
  const done = await landing.land({ ...part, report: reportOf(intent) }, signal, () => deps.mayAct());
  deps.took(done);
  if (done.kind === 'refused') return { kind: 'not-merged', text: done.text };
  if (done.kind === 'base-moved') return { kind: 'base-moved', text: done.text };
  if (done.kind === 'later') return { kind: 'host', trouble: troubleOf(done, part.change.project) };
  const { landed } = done;
  try {
    // The landing may have given our own success already.
    const answer = await reporter?.report(requestOf(intent, part, false, aloneSince), signal, () =>
      deps.mayAct(),
    );
    deps.took(answer);
    return { kind: 'done', landed, ...(answer?.kind === 'later' ? { unsent: true } : {}) };
  } catch (error) {
    signal.throwIfAborted();
    if (!deps.mayAct()) throw error;
    deps.took({ steps: hostStepsOfError(error) });
    deps.log.warn({ err: error, ...reportLogFacts(intent) }, 'landed; its report is sent later');
    return { kind: 'done', landed, unsent: true };
  }
}

function troubleOf({ reason, text, notBefore }: HostLater, project: ProjectKey): HostTrouble {
  return { project, reason, text, ...(notBefore === undefined ? {} : { notBefore }) };
}

function cannot({ connection }: ReportIntent['parts'][number], what: string): PartOutcome {
  return { kind: 'failed', text: `connection ${connection} cannot ${what}` };
}

async function outcomeSoFar(
  intent: ReportIntent,
  part: ReportIntent['parts'][number],
  deps: PerformReportDeps,
  signal: AbortSignal,
): Promise<PartOutcome> {
  const { landing } = deps.connections.get(part.connection) ?? {};
  const landed = part.merges ? await landing?.landed(part, signal) : undefined;
  if (landed !== undefined && landed.length > 0) return { kind: 'done', landed };
  return { kind: 'withdrawn', text: `${part.change.project} is not in tenant ${intent.tenant} any more` };
}

function requestOf(
  intent: ReportIntent,
  { config, change, earlier }: ReportIntent['parts'][number],
  isFirstTry: boolean,
  aloneSince: Nanoseconds | undefined,
): ReportRequest {
  const isKnown = earlier !== undefined && (isFirstTry || earlier.kind === 'remembered');
  return {
    ...{ config, change, report: reportOf(intent) },
    ...(isKnown ? { earlier } : {}),
    ...(aloneSince === undefined ? {} : { aloneSince }),
  };
}
