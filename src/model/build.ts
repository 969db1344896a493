/**
 * One attempt at one job.
 *
 *     requested ──► started ──► completed {result}
 *         │            │
 *         └────────────┴──────► cancelled {cause}
 *
 * requested → started     an executor took it (`build-started` event); after its run it may pause while those that depend on it run
 * started   → completed   the executor's result (`build-result` event), or it was lost with its executor: RETRY, which is no attempt
 * any       → cancelled   a decision of the scheduler; from then on a result of it is never counted
 *
 * A job that never got a build (a parent failed, or left it out) has an entry with state `skipped`.
 */
import { addMilliseconds, earlierOf, laterOf, type Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { CancelCause } from './cause.ts';
import type { NodeRequest } from './node-wait.ts';
import type { Precedence } from './pipeline.ts';
import type { JobName } from './project.ts';
import type { BuildResult } from './results.ts';
import type { Returned } from './returned.ts';
import type { SemaphoreHold } from './semaphore.ts';
import type { Step } from './step.ts';

/** The executor's record of its work; its times are the executor's, clamped into the build when drawn. */
export interface Execution {
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  readonly steps: readonly Step[];
  /** It ran over `[tracing] split_after`: from here on its steps (`Step.continued`) are in the build's continuation trace. */
  readonly continuedAt?: Nanoseconds;
}

/**
 * How a worker ended before its build did; that is never an attempt (decision 0027).
 *
 *     stopped    it was stopped (an update, a restart) and handed the build back
 *     outage     it vanished while no scheduler was running either: a machine or a service was down
 *     lost       it alone vanished, perhaps because of this build
 */
export type WorkerEnd = 'stopped' | 'outage' | 'lost';

/** How often one job of one buildset may lose its worker: the last loss ends the job with RETRY_LIMIT. Stopping a worker is not limited. */
export const WORKER_ENDS_PER_JOB: { readonly [end in WorkerEnd]: number } = {
  stopped: Number.POSITIVE_INFINITY,
  outage: 20,
  lost: 5,
};

interface WorkedUntil {
  /**
   * The last time an executor is known to have worked on it; the scheduler learned only at `at` that it had ended. Its result was still
   * unread when it was cancelled, or its executor vanished after its last sign of life. Absent: `at`, or the end of the execution.
   */
  readonly workedUntil?: Nanoseconds;
}

/** The time between run and post-run of a build that returned `zuul.pause`, in which those that depend on it run. */
export interface BuildPause {
  readonly since: Nanoseconds;
  /** When they had all ended; null: it is paused. */
  readonly until: Nanoseconds | null;
  /** By then, for those that depend on it. Absent: nothing. */
  readonly returned?: Returned;
}

/** How far the build is, with the facts known in that state; transitions are listed above. */
export type BuildState =
  | { readonly state: 'requested' }
  | {
      readonly state: 'started';
      readonly at: Nanoseconds;
      readonly worker: string;
      /** The run phase has failed, or is certain to, although the job still runs; the item counts as failing. */
      readonly failingSince?: Nanoseconds;
      /** Why, for people, where run had not ended (`failure-output`). */
      readonly earlyFailure?: string;
      /** Absent: it has not paused. */
      readonly pause?: BuildPause;
    }
  | ({
      readonly state: 'completed';
      readonly startedAt: Nanoseconds | null;
      /** When the scheduler handled its end; when the work ended is {@link endOfBuild}. */
      readonly at: Nanoseconds;
      readonly result: BuildResult;
      readonly worker: string | null;
      readonly execution: Execution | null;
      /** One line for people: why it failed, as far as the executor knows. */
      readonly detail?: string;
      /** Absent: nothing. */
      readonly returned?: Returned;
      /** Of a RETRY: it is no attempt, because its executor ended before it did. */
      readonly workerEnd?: WorkerEnd;
      /** Of a RETRY: it is no attempt, because the code host did not serve what the build needs. */
      readonly hostTrouble?: true;
    } & WorkedUntil)
  | ({
      readonly state: 'cancelled';
      readonly startedAt: Nanoseconds | null;
      readonly at: Nanoseconds;
      readonly worker: string | null;
      readonly cause: CancelCause;
      /** Arrives after the fact, when the executor has stopped it. */
      readonly execution: Execution | null;
    } & WorkedUntil)
  | {
      readonly state: 'skipped';
      readonly at: Nanoseconds;
      readonly because: JobName;
      /** It succeeded, and returned a `zuul.child_jobs` that leaves this job out. Absent: it did not succeed. */
      readonly filtered?: true;
    };

/** One attempt at one job. Part of the record `queue-item`. */
export interface Build {
  readonly uuid: Uuid;
  readonly job: JobName;
  /** 1 for the first try. */
  readonly attempt: number;
  readonly voting: boolean;
  readonly requestedAt: Nanoseconds;
  /** Its pipeline's when it was requested, or `high` where a build pauses for it: which of several is taken first. Absent: it was skipped, or it is not recorded. */
  readonly priority?: Precedence;
  /** Its JobExecution is the root of a trace of its own, decided when it was requested: it was expected to take long. */
  readonly ownTrace?: true;
  /** Slots that were taken for it, by name; they are held exactly while it is open. Absent: its job has no semaphores. */
  readonly semaphores?: readonly SemaphoreHold[];
  /**
   * That job, which it depends on, is tried again after it had paused, and so is this one: its result does not count. Its own job: a person
   * asked for it to run again. Absent: it counts.
   */
  readonly outdatedBy?: JobName;
  /** A build of an earlier buildset, which tested the same state: its result stands, and nothing ran for this one. Absent: it ran itself. */
  readonly passedIn?: Uuid;
  /** It runs on hosts. Absent: it needs none. */
  readonly nodes?: NodeRequest;
  readonly state: BuildState;
}

/** The result that counts, in Zuul's words; undefined while it is open. */
export function resultOf(build: Build): BuildResult | undefined {
  switch (build.state.state) {
    case 'requested':
    case 'started':
      return undefined;
    case 'completed':
      return build.state.result;
    case 'cancelled':
      return 'CANCELED';
    case 'skipped':
      return 'SKIPPED';
  }
}

/** Why it was skipped, one clause for people. */
export function skipText({ because, filtered }: Extract<BuildState, { state: 'skipped' }>): string {
  return filtered === undefined ? `${because} did not succeed` : `left out by zuul.child_jobs of ${because}`;
}

/** When an executor took it, or null. */
export function startOfBuild({ state }: Build): Nanoseconds | null {
  switch (state.state) {
    case 'requested':
    case 'skipped':
      return null;
    case 'started':
      return state.at;
    case 'completed':
    case 'cancelled':
      return state.startedAt;
  }
}

/**
 * The shortest duration of a build, also where an executor's slow clock gives none: spans of its parts were exported while it was open
 * and begin after its start.
 */
const SHORTEST_MS = 0.001;

/**
 * When the work on it ended, by the executor's clock and within the scheduler's times; null: it is open. Time during which the result
 * waited unread, because no scheduler was running, is not part of the build.
 */
export function endOfBuild({ state, requestedAt }: Build): Nanoseconds | null {
  switch (state.state) {
    case 'requested':
    case 'started':
      return null;
    case 'skipped':
      return state.at;
    case 'cancelled':
      return endOfWork(requestedAt, state, state.workedUntil);
    case 'completed':
      return endOfWork(requestedAt, state, state.execution?.endedAt ?? state.workedUntil);
  }
}

/** @param until by the executor's clock; undefined: not known, the work then lasts until the scheduler handled its end. */
function endOfWork(
  requestedAt: Nanoseconds,
  { startedAt, at }: { readonly startedAt: Nanoseconds | null; readonly at: Nanoseconds },
  until: Nanoseconds | undefined,
): Nanoseconds {
  if (until === undefined) return at;
  const end = laterOf(startedAt ?? requestedAt, earlierOf(until, at));
  return end === requestedAt ? earlierOf(addMilliseconds(end, SHORTEST_MS), at) : end;
}

/** The time between the loss of its executor and its discovery by a scheduler; null: none. */
export function unnoticedLoss(
  build: Build,
): { readonly start: Nanoseconds; readonly end: Nanoseconds } | null {
  const { state } = build;
  if (state.state !== 'completed' || state.workedUntil === undefined) return null;
  return { start: endOfBuild(build) ?? state.at, end: state.at };
}

/** Requested or running: no result yet. */
export function isOpen(build: Build): boolean {
  return build.state.state === 'requested' || build.state.state === 'started';
}

/** Waits, between its run and its post-run, for those that depend on it. */
export function isPaused({ state }: Build): boolean {
  return state.state === 'started' && state.pause !== undefined && state.pause.until === null;
}

/** What it returned for those that depend on it, at its end or when it paused; undefined: nothing yet. */
export function returnedBy({ state }: Build): Returned | undefined {
  if (state.state === 'started') return state.pause?.returned;
  return state.state === 'completed' ? state.returned : undefined;
}

/** Ended in a way that starts the job again: its attempts are not used up, or one that it depends on starts again. */
export function isRetried(build: Build): boolean {
  return build.outdatedBy !== undefined || hasResultRetry(build);
}

/** Its executor's result is RETRY. */
export function hasResultRetry({ state }: Build): boolean {
  return state.state === 'completed' && state.result === 'RETRY';
}
