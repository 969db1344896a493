/**
 * Lands the changes of several reports in the order of their items, with as few writes as their hosts allow.
 *
 * Consecutive changes of one repository are one call of its driver. The next repository is asked when they have landed: nothing
 * lands ahead of what it was tested on.
 *
 *     app A, app B, lib C, app D    →    app: A B, then lib: C, then app: D
 *
 * The first that does not land ends it: what is behind it is not sent, and is not among the answers.
 */
import { hostStepsOfError } from '../../driver/host-steps.ts';
import type { Landing, LandingOutcome } from '../../driver/landing.ts';
import type { Nanoseconds } from '../../lib/clock.ts';
import { pause } from '../../lib/pause.ts';
import { changeText } from '../../model/change.ts';
import type { ReportIntent } from '../../model/report-intent.ts';
import type { Step } from '../../model/step.ts';
import { reportLogFacts } from '../../tracing/log-facts.ts';
import { hostTroubleOf } from '../remote-fault.ts';
import {
  type LandingAnswer,
  landingPartOutcome,
  NotAllowedToAct,
  type PerformReportDeps,
  SHORT_PAUSES,
  withUnsettled,
} from './perform-part.ts';
import { reportOf } from './stored-report.ts';

type Part = ReportIntent['parts'][number];

interface PlannedLanding {
  readonly intent: ReportIntent;
  readonly part: Part;
}

/** Of one repository. */
type Run = readonly [PlannedLanding, ...PlannedLanding[]];

/**
 * @param intents in the order of their items; each has a part that lands.
 * @returns undefined: they are performed one by one. One may not be written about any more, or its host does not land several.
 * @throws NotAllowedToAct when the fence was lost in the middle; the next holder performs the intents again.
 */
export async function landReportsInOrder(
  intents: readonly ReportIntent[],
  deps: PerformReportDeps,
  signal: AbortSignal,
): Promise<ReadonlyMap<Part, LandingAnswer> | undefined> {
  const planned = intents.flatMap(intent =>
    intent.parts.filter(({ merges }) => merges).map(part => ({ intent, part })),
  );
  const [first, ...others] = planned.map(({ part }) => part.change);
  const lands = (part: Part) => part.merges && landingOf(part, deps) !== undefined;
  if (first === undefined || !intents.every(({ parts }) => parts.some(lands))) return undefined;
  if (!planned.every(({ part }) => lands(part))) return undefined;
  if ((await deps.prove([first, ...others])) !== 'held') return undefined;
  const answers = new Map<Part, LandingAnswer>();
  for (const run of runsOf(planned)) {
    const settled = await landRun(run, deps, signal);
    for (const [index, answer] of settled.entries()) {
      const landed = run[index];
      if (landed !== undefined) answers.set(landed.part, answer);
    }
    if (settled.length < run.length || settled.some(({ outcome }) => outcome.kind !== 'done')) break;
  }
  return answers;
}

function landingOf(
  { connection }: Part,
  { connections }: Pick<PerformReportDeps, 'connections'>,
): Landing['landInOrder'] {
  return connections.get(connection)?.landing?.landInOrder;
}

function runsOf(planned: readonly PlannedLanding[]): readonly Run[] {
  const runs: [PlannedLanding, ...PlannedLanding[]][] = [];
  for (const each of planned) {
    const last = runs.at(-1);
    const isSame =
      last?.[0].part.connection === each.part.connection &&
      last[0].part.change.project === each.part.change.project;
    if (last !== undefined && isSame) last.push(each);
    else runs.push([each]);
  }
  return runs;
}

/** @returns answers for the first ones, at least for one; all but the last have landed, unless the outcome of all is unknown. */
async function landRun(
  run: Run,
  deps: PerformReportDeps,
  signal: AbortSignal,
): Promise<readonly LandingAnswer[]> {
  const startedAt = deps.clock.now();
  const settled: LandingAnswer[] = [];
  const steps: Step[] = [];
  let unsettled = false;
  for (let tries = 1; ; tries++) {
    try {
      await landRest(run, settled, { startedAt, tries, steps }, deps, signal);
      return settled;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof NotAllowedToAct || !deps.mayAct()) throw notAllowed(run);
      steps.push(...hostStepsOfError(error));
      const rest = run.slice(settled.length);
      const [{ intent, part }] = [rest[0] ?? run[0]];
      const wait = SHORT_PAUSES[tries - 1];
      const next = wait === undefined ? 'retrying later' : 'retrying';
      deps.log.warn(
        { ...reportLogFacts(intent), err: error, tries, changes: rest.length },
        `could not land ${landingText(part, rest)}; ${next}`,
      );
      const trouble = hostTroubleOf(error, part.change.project);
      unsettled ||= trouble.unsettled === true;
      if (wait === undefined) {
        const outcome = { kind: 'host', trouble: withUnsettled(trouble, unsettled) } as const;
        // A push whose outcome is unknown may have landed all of them.
        const concerned = unsettled ? rest : rest.slice(0, 1);
        return [...settled, ...concerned.map(() => ({ outcome, startedAt, tries, steps }))];
      }
      await pause(wait, signal);
    }
  }
}

function landingText({ change }: Part, rest: readonly PlannedLanding[]): string {
  return rest.length > 1 ? `${changeText(change)} and what is behind it` : changeText(change);
}

/** Adds to `settled` until all have landed, or one has not. */
async function landRest(
  run: Run,
  settled: LandingAnswer[],
  { startedAt, tries, steps }: { startedAt: Nanoseconds; tries: number; steps: readonly Step[] },
  deps: PerformReportDeps,
  signal: AbortSignal,
): Promise<void> {
  while (settled.length < run.length) {
    const rest = run.slice(settled.length);
    const outcomes = await landOnce(rest, deps, signal);
    for (const [index, outcome] of outcomes.entries()) {
      const part = rest[index]?.part;
      if (part === undefined) break;
      const taken = [...steps, ...(outcome.steps ?? [])];
      settled.push({ outcome: landingPartOutcome(outcome, part), startedAt, tries, steps: taken });
    }
    if (outcomes.at(-1)?.kind !== 'landed') return;
  }
}

async function landOnce(
  rest: readonly PlannedLanding[],
  deps: PerformReportDeps,
  signal: AbortSignal,
): Promise<readonly LandingOutcome[]> {
  signal.throwIfAborted();
  const [first, ...others] = rest;
  const landInOrder = first === undefined ? undefined : landingOf(first.part, deps);
  if (first === undefined || landInOrder === undefined) throw new Error('nothing to land');
  const standing = await deps.prove([first.part.change, ...others.map(({ part }) => part.change)]);
  // Not any more: the reports are performed again, one by one.
  if (standing !== 'held' || !deps.mayAct()) throw new NotAllowedToAct(`report ${first.intent.uuid}`);
  const requests = rest.map(({ intent, part }) => ({ ...part, report: reportOf(intent) }));
  return landInOrder(requests, signal, () => deps.mayAct());
}

function notAllowed([{ intent }]: Run): NotAllowedToAct {
  return new NotAllowedToAct(`report ${intent.uuid}`);
}
