/**
 * Performs one part of a report: tried a few times within seconds, each time with the right to act proved directly before it.
 *
 * When the project of the change has left the tenant, nothing is written at the host. A landing may have been sent before, though:
 * then the host is only asked whether it has arrived. The same in shadow mode.
 */
import type { Connection } from '../../driver/connection.ts';
import type { HostLater } from '../../driver/host-later.ts';
import { type HostSteps, hostSteps, hostStepsOfError } from '../../driver/host-steps.ts';
import type { LandingOutcome } from '../../driver/landing.ts';
import type { ReportRequest } from '../../driver/reporter.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import { unlessAborted } from '../../lib/unless-aborted.ts';
import { type Change, changeText } from '../../model/change.ts';
import type { HostTrouble } from '../../model/host-trouble.ts';
import type { Json } from '../../model/job.ts';
import type { ConnectionName, ProjectKey } from '../../model/project.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import type { Step } from '../../model/step.ts';
import { reportLogFacts } from '../../tracing/log-facts.ts';
import { hostTroubleOf } from '../remote-fault.ts';
import { changeOfPart, type PartOutcome, type ReportPart, recordOf, rememberedOf } from './part-record.ts';
import type { ProjectStanding } from './right-to-act.ts';
import { reportOf } from './stored-report.ts';
import { withheldOutcome } from './withheld-report.ts';

/** `prove` and `mayAct` come from the fence of the pipeline's holder. */
export interface PerformReportDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly connections: ReadonlyMap<ConnectionName, Pick<Connection, 'reporter' | 'landing'>>;
  /** Returns when a write has just proved that we hold the fence. @throws when we do not, or cannot know. */
  prove(changes: readonly [Change, ...Change[]]): Promise<ProjectStanding>;
  /** False: we may have lost the right to act since. */
  mayAct(): boolean;
  /** No process has tried this report before, and none has made a later one of its item. */
  readonly isFirstTry: boolean;
  /** When this process took the pipeline. */
  readonly since: Nanoseconds;
  /** What came of landings that were made together with others, beforehand. Absent: each part lands by itself. */
  readonly joint?: JointOutcome;
}

/** Of landings made together. */
interface JointOutcome {
  /** One that is not here was not sent, because one ahead of it did not land. */
  readonly answers: ReadonlyMap<ReportIntent['parts'][number], LandingAnswer>;
  /** Aborted: what is not announced by now is announced later. */
  readonly announcing: AbortSignal;
}

/** What came of one landing, and when. */
export interface LandingAnswer {
  readonly outcome: PartOutcome;
  readonly startedAt: Nanoseconds;
  readonly tries: number;
  readonly steps: readonly Step[];
}

/** Milliseconds before the second and third try. */
export const SHORT_PAUSES = [200, 1_000] as const;

/** The right to act is in doubt, so the report is broken off. The holder of the pipeline, this process or another, performs it again. */
export class NotAllowedToAct extends Error {
  override readonly name = 'NotAllowedToAct';
}

/** What comes of a part, and the record of it. */
interface PartEnd {
  readonly outcome: PartOutcome;
  readonly record: ReportPart;
}

/** A part that landed with others, or did not: reports the landing. @throws NotAllowedToAct */
export async function performLanded(
  intent: ReportIntent,
  part: ReportIntent['parts'][number],
  landing: LandingAnswer,
  deps: PerformReportDeps,
  signal: AbortSignal,
): Promise<PartEnd> {
  const { took, ended } = recorder(intent, part, deps, landing.startedAt);
  took(landing);
  const { outcome, tries } = landing;
  if (outcome.kind !== 'done') return ended(outcome, tries);
  const isFirstTry = deps.isFirstTry && intent.repeats !== true && tries === 1;
  return ended(await announce(intent, part, outcome, { ...deps, took, isFirstTry }, signal), tries);
}

/** @throws NotAllowedToAct */
export async function performPart(
  intent: ReportIntent,
  part: ReportIntent['parts'][number],
  deps: PerformReportDeps,
  signal: AbortSignal,
): Promise<PartEnd> {
  const log = deps.log.child({ ...reportLogFacts(intent), connection: part.connection });
  const { took, ended } = recorder(intent, part, deps, deps.clock.now());
  const isFirst = deps.isFirstTry && intent.repeats !== true;
  let unsettled = false;
  for (let tries = 1; ; tries++) {
    signal.throwIfAborted();
    const standing = await deps.prove([part.change]);
    if (!deps.mayAct()) throw new NotAllowedToAct(`report ${intent.uuid}`);
    try {
      const acting = { ...deps, took, isFirstTry: isFirst && tries === 1 };
      const outcome = await outcomeAs(standing, intent, part, acting, signal);
      return ended(outcome, tries);
    } catch (error) {
      signal.throwIfAborted();
      if (!deps.mayAct()) throw new NotAllowedToAct(`report ${intent.uuid}`);
      took({ steps: hostStepsOfError(error) });
      const wait = SHORT_PAUSES[tries - 1];
      const next = wait === undefined ? 'retrying later' : 'retrying';
      log.warn({ err: error, tries }, `could not report ${changeText(part.change)}; ${next}`);
      const trouble = hostTroubleOf(error, part.change.project);
      // An earlier holder of the pipeline may have sent a landing that may not be sent any more.
      unsettled ||= trouble.unsettled === true || standing !== 'held';
      if (wait === undefined)
        return ended({ kind: 'host', trouble: withUnsettled(trouble, unsettled) }, tries);
      await pause(wait, signal);
    }
  }
}

/** Collects what drivers answered of one part, from `startedAt` on. */
function recorder(
  intent: ReportIntent,
  part: ReportIntent['parts'][number],
  { clock }: Pick<PerformReportDeps, 'clock'>,
  startedAt: Nanoseconds,
) {
  const steps: Step[] = [];
  let memory: Json | undefined;
  return {
    took(answer: DriverAnswer | undefined): void {
      steps.push(...hostSteps(answer?.steps));
      memory = answer?.memory ?? memory;
    },
    ended(outcome: PartOutcome, tries: number): PartEnd {
      const kept = hostSteps(steps);
      const record = {
        ...recordOf(part, outcome, startedAt, clock.now(), tries),
        ...changeOfPart(intent, part),
        ...rememberedOf(part.change, memory),
      };
      return { outcome, record: kept.length === 0 ? record : { ...record, steps: kept } };
    },
  };
}

/** The trouble, with whether the landing may have arrived. */
export function withUnsettled(trouble: HostTrouble, unsettled: boolean): HostTrouble {
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

function outcomeAs(
  standing: ProjectStanding,
  intent: ReportIntent,
  part: ReportIntent['parts'][number],
  deps: ActingDeps,
  signal: AbortSignal,
): Promise<PartOutcome> {
  switch (standing) {
    case 'held':
      return act(intent, part, deps, signal);
    case 'removed': {
      const text = `${part.change.project} is not in tenant ${intent.tenant} any more`;
      return outcomeSoFar(part, { kind: 'withdrawn', text }, deps, signal);
    }
    case 'shadow': {
      const withheld = withheldOutcome(intent, part);
      return deps.isFirstTry ? Promise.resolve(withheld) : outcomeSoFar(part, withheld, deps, signal);
    }
  }
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
  const outcome = landingPartOutcome(done, part);
  return outcome.kind === 'done' ? announce(intent, part, outcome, deps, signal) : outcome;
}

/** The driver's answer as the outcome of its part. */
export function landingPartOutcome(
  done: LandingOutcome,
  { change }: ReportIntent['parts'][number],
): PartOutcome {
  switch (done.kind) {
    case 'landed':
      return { kind: 'done', landed: done.landed };
    case 'refused':
      return { kind: 'not-merged', text: done.text };
    case 'base-moved':
      return { kind: 'base-moved', text: done.text };
    case 'later':
      return { kind: 'host', trouble: troubleOf(done, change.project) };
  }
}

/** Reports that the change has landed. The landing may have given our own success already. */
async function announce(
  intent: ReportIntent,
  part: ReportIntent['parts'][number],
  done: Extract<PartOutcome, { readonly kind: 'done' }>,
  deps: ActingDeps,
  signal: AbortSignal,
): Promise<PartOutcome> {
  const { reporter } = deps.connections.get(part.connection) ?? {};
  const aloneSince = deps.isFirstTry ? deps.since : undefined;
  const announcing = deps.joint?.announcing ?? signal;
  if (reporter === undefined) return done;
  try {
    const request = requestOf(intent, part, false, aloneSince);
    const send = () => reporter.report(request, announcing, () => deps.mayAct());
    const answer = await unlessAborted(send, announcing);
    deps.took(answer);
    return { ...done, ...(answer === undefined || answer.kind === 'later' ? { unsent: true } : {}) };
  } catch (error) {
    signal.throwIfAborted();
    if (!deps.mayAct()) throw error;
    deps.took({ steps: hostStepsOfError(error) });
    deps.log.warn({ err: error, ...reportLogFacts(intent) }, 'landed; its report is sent later');
    return { ...done, unsent: true };
  }
}

function troubleOf({ reason, text, notBefore }: HostLater, project: ProjectKey): HostTrouble {
  return { project, reason, text, ...(notBefore === undefined ? {} : { notBefore }) };
}

function cannot({ connection }: ReportIntent['parts'][number], what: string): PartOutcome {
  return { kind: 'failed', text: `connection ${connection} cannot ${what}` };
}

/** @param otherwise unless an earlier try has landed it. */
async function outcomeSoFar(
  part: ReportIntent['parts'][number],
  otherwise: PartOutcome,
  deps: PerformReportDeps,
  signal: AbortSignal,
): Promise<PartOutcome> {
  const { landing } = deps.connections.get(part.connection) ?? {};
  const landed = part.merges ? await landing?.landed(part, signal) : undefined;
  return landed !== undefined && landed.length > 0 ? { kind: 'done', landed } : otherwise;
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
