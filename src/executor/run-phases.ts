/**
 * The playbooks of a build, in the order of their phases.
 *
 *     pre-run ─► run ─► post-run            what fails before post-run skips the rest of its phase, and a failed pre-run skips run
 *                                           and what post-run has of definitions that pre-run had not reached
 *         └───────┴───► post-run        between run and post-run it may pause (`pause-build.ts`)
 *     ended early (cancelled, disk full, machine in trouble) ─► the playbooks of post-run that clean up, nothing else
 *
 * A playbook that cleans up has at least what is left of {@link CLEANUP_SECONDS}, also when post-run has used up its time, and a cancel does not
 * stop it. It does not run where the claim of the build is lost, which may be running elsewhere, or the executor stops at once.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { BuildSteps } from './build-steps.ts';
import type { BuildHalt } from './halt.ts';
import type { Phase, PlaybookFacts } from './job-environment.ts';
import { halted } from './judge-playbook.ts';
import { isFinalEnd, isVerdict, outcomeOf, type PhaseEnds, type PlaybookEnd } from './outcome.ts';
import { type Pause, pauseBuild } from './pause-build.ts';
import type { PlannedPlaybook, PlaybookPlan } from './plan-playbooks.ts';
import { noteReturned } from './returned/build-returns.ts';
import { NO_ORDERS, type ReturnedOrders } from './returned/zuul-members.ts';
import { type BuildContext, runPlaybook } from './run-playbook.ts';
import type { SplitTrace } from './split-trace.ts';
import { STEPS_PER_BUILD } from './step-file.ts';
import type { Workspace } from './workspace.ts';

/** For all playbooks of a build that clean up, together. */
const CLEANUP_SECONDS = 300;

/** Where progress is noted. */
export interface PhaseProgress {
  readonly steps: BuildSteps;
  readonly split: SplitTrace;
  /** Called at most once: when the run phase failed and post-run is still to come, or with the reason as soon as run is certain to fail. */
  readonly onFailing: (at: Nanoseconds, early?: string) => void;
  readonly pause: Pause;
}

/** A build whose playbooks that clean up outlive a cancel. */
export interface PhasedBuild extends BuildContext {
  readonly halt: BuildHalt;
}

/** What counts for the result so far, and what is left. */
interface Phases {
  readonly progress: PhaseProgress;
  readonly context: PhasedBuild;
  readonly plan: PlaybookPlan;
  readonly run: RunPlanned;
  readonly ends: { [phase in Phase]?: Unpassed };
  /** Level of the definition that pre-run had reached when it did not pass; undefined: it passed. */
  reached: number | undefined;
  /** The build was ended early. */
  over: boolean;
  /** Left for playbooks that clean up. */
  cleanupMs: number;
  /** A line of run matched `failure-output`, and why; undefined: none did. */
  early: string | undefined;
  /** What it returned when pre-run and run had ended. */
  orders: ReturnedOrders;
}

/** The ends of the phases, and what the build had returned when post-run was to begin. */
export interface EndedPhases {
  readonly ends: PhaseEnds;
  readonly orders: ReturnedOrders;
}

/** Never rejects because of what the job does. */
export async function runPhases(
  progress: PhaseProgress,
  context: PhasedBuild,
  workspace: Workspace,
  plan: PlaybookPlan,
): Promise<EndedPhases> {
  const run = playbookRunner(progress, context, workspace);
  const cleanupMs = (context.options.cleanupSeconds ?? CLEANUP_SECONDS) * 1000;
  const phases: Phases = {
    ...{ progress, context, plan, run, ends: {}, cleanupMs },
    ...{ reached: undefined, over: false, early: undefined, orders: NO_ORDERS },
  };
  const { ends } = phases;
  const { timeout, preTimeout } = context.request.job;
  const deadline = deadlineIn(context, timeout);
  const early = preTimeout === undefined ? deadline : deadlineIn(context, preTimeout);
  await runInOrder(phases, 'pre-run', Math.min(deadline, early));
  if (ends['pre-run'] === undefined) await runInOrder(phases, 'run', deadline);
  phases.orders = (await noteReturned(context)).orders;
  if (phases.orders.pause && hasPassed(phases)) await pauseAfterRun(phases);
  await runPost(phases);
  return { ends, orders: phases.orders };
}

/** In milliseconds of the monotonic clock; all playbooks of a phase share it. */
function deadlineIn({ deps, options }: PhasedBuild, seconds: number | undefined): number {
  return deps.clock.monotonic() + (seconds ?? options.defaultTimeout) * 1000;
}

async function runInOrder(phases: Phases, phase: 'pre-run' | 'run', deadline: number): Promise<void> {
  const { plan, ends, run } = phases;
  const watch = phase === 'run' ? onMatch(phases) : undefined;
  for (const planned of plan[phase]) {
    const end = await run(planned, { phase, success: null, willRetry: null }, deadline, watch);
    if (end.kind === 'passed') continue;
    ends[phase] = withEarly(phases, end);
    if (phase === 'pre-run') phases.reached = planned.playbook.level ?? 0;
    phases.over = isFinalEnd(ends[phase]);
    return;
  }
  if (phase === 'run' && phases.early !== undefined) ends.run = failedEarly(phases.early);
}

/** Nothing has failed, and nothing ends the build. */
function hasPassed({ ends, early, context }: Phases): boolean {
  return Object.keys(ends).length === 0 && early === undefined && !context.halt.signal.aborted;
}

async function pauseAfterRun(phases: Phases): Promise<void> {
  const { progress, context, ends } = phases;
  const end = await pauseBuild(progress.pause, progress, context);
  if (end === undefined || end.kind === 'passed') return;
  ends.run = end;
  phases.over = isFinalEnd(end);
}

function failedEarly(detail: string): Unpassed {
  return { kind: 'failed', detail, exitCode: null };
}

/** The scheduler learns it at once; the job goes on. */
function onMatch(phases: Phases): (source: string) => void {
  const { context, progress } = phases;
  return source => {
    if (phases.early !== undefined || context.halt.signal.aborted) return;
    phases.early = `a line of its output matches failure-output "${source}"`;
    progress.onFailing(context.deps.clock.now(), phases.early);
  };
}

type Unpassed = Exclude<PlaybookEnd, { kind: 'passed' }>;

/** What was said early holds, unless there is no verdict at all. */
function withEarly({ early }: Phases, end: Unpassed): Unpassed {
  if (early === undefined || (end.kind !== 'broken' && end.kind !== 'unreachable')) return end;
  return failedEarly(early);
}

/** Playbooks still run after one that failed: they fetch logs and clean up. */
async function runPost(phases: Phases): Promise<void> {
  const { context, progress, plan, ends, run } = phases;
  const failed = ends['pre-run'] ?? ends.run;
  if (!phases.over && phases.early === undefined && isDecided(phases) && plan['post-run'].length > 0)
    progress.onFailing(context.deps.clock.now());
  const deadline = deadlineIn(context, context.request.job.postTimeout);
  const success = failed === undefined;
  for (const planned of plan['post-run']) {
    if (!(await isReached(phases, planned))) continue;
    if (planned.playbook.cleanup !== undefined) await cleanUp(phases, planned, success, deadline);
    else if (!phases.over) note(phases, await run(planned, postRun(phases, success), deadline));
  }
}

/** Facts for a playbook of post-run. As in Zuul the last attempt is not tried again, also where it would not count as one. */
function postRun({ ends, orders, context: { request } }: Phases, success: boolean): PhaseFacts {
  const retried = outcomeOf(ends, orders).result === 'RETRY';
  return { phase: 'post-run', success, willRetry: retried && request.attempt < request.job.attempts };
}

/** It has failed for good. */
function isDecided({ ends, orders }: Phases): boolean {
  return isVerdict(ends.run) || (ends['pre-run'] !== undefined && !orders.retry);
}

/** As in Zuul a definition whose pre-run never began has nothing to clean up or to fetch. */
async function isReached({ reached, context }: Phases, { playbook }: PlannedPlaybook): Promise<boolean> {
  if (reached === undefined || (playbook.level ?? 0) <= reached) return true;
  const { canonicalName, path } = playbook;
  await context.log.line(`POST-RUN SKIPPED: ${canonicalName}/${path}: pre-run ended before its definition`);
  return false;
}

function note(phases: Phases, end: PlaybookEnd): void {
  if (end.kind !== 'passed') phases.ends['post-run'] ??= end;
  phases.over ||= isFinalEnd(end);
}

async function cleanUp(
  phases: Phases,
  planned: PlannedPlaybook,
  success: boolean,
  postDeadline: number,
): Promise<void> {
  const { clock } = phases.context.deps;
  const { halt } = phases.context;
  if (halt.despiteCancel.signal.aborted) return;
  const begun = clock.monotonic();
  const own = begun + phases.cleanupMs;
  const bound = phases.over ? own : Math.max(postDeadline, own);
  const end = await phases.run(planned, postRun(phases, success && !phases.over), bound);
  phases.cleanupMs = Math.max(0, phases.cleanupMs - (clock.monotonic() - begun));
  if (phases.over) return;
  // It was not stopped by a cancel, which counts all the same; nor does it hide one that ended it.
  if (halt.signal.aborted) note(phases, halted(halt));
  else if (planned.playbook.cleanup === 'judged') note(phases, end);
}

type PhaseFacts = Pick<PlaybookFacts, 'phase' | 'success' | 'willRetry'>;

type RunPlanned = (
  planned: PlannedPlaybook,
  facts: PhaseFacts,
  deadline: number,
  onMatch?: (source: string) => void,
) => Promise<PlaybookEnd>;

/** Runs one playbook after the other and notes each as a step. */
function playbookRunner(
  { steps, split }: PhaseProgress,
  context: PhasedBuild,
  workspace: Workspace,
): RunPlanned {
  const { clock } = context.deps;
  const started = new Map<string, number>();
  const unreachable = new Set<string>();
  let budget = STEPS_PER_BUILD;
  return async (planned, given, deadline, onMatch) => {
    const { playbook } = planned;
    let matched = false;
    const noted = (source: string) => {
      matched = true;
      onMatch?.(source);
    };
    const from = steps.end();
    if (split.boundary(from)) started.clear();
    const continued = split.continuedAt() !== undefined;
    const ordinal = started.get(playbook.path) ?? 0;
    started.set(playbook.path, ordinal + 1);
    const facts = { ...given, ordinal, continued, unreachable };
    const timeoutMs = deadline - clock.monotonic();
    const halt = playbook.cleanup === undefined ? context.halt : context.halt.despiteCancel;
    const {
      end,
      step,
      unused,
      unreachable: found,
    } = await runPlaybook({ ...context, halt }, workspace, {
      ...planned,
      ...facts,
      timeoutMs,
      budget,
      ...(onMatch === undefined ? {} : { onMatch: noted }),
    });
    budget = unused;
    for (const host of found) unreachable.add(host);
    const part = continued ? { continued } : {};
    steps.add({ kind: 'JobSetup', subject: 'sandbox', startedAt: from, endedAt: step.startedAt, ...part });
    const early = matched ? { facts: { ...step.facts, earlyFailure: true } } : {};
    steps.add({ ...step, ...early, ...part });
    return end;
  };
}
