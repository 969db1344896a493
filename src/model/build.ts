/**
 * One attempt at one job.
 *
 *     requested ──► started ──► completed {result}
 *         │            │
 *         └────────────┴──────► cancelled {cause}
 *
 * requested → started     an executor took it (`build-started` event)
 * started   → completed   the executor's result (`build-result` event), or it was lost with its executor: RETRY, which is no attempt
 * any       → cancelled   a decision of the scheduler; from then on a result of it is never counted
 *
 * A job that never got a build (a parent failed) has an entry with state `skipped`.
 */
import { addMilliseconds, earlierOf, laterOf, type Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { CancelCause } from './cause.ts';
import type { Precedence } from './pipeline.ts';
import type { JobName } from './project.ts';
import type { BuildResult } from './results.ts';
import type { Step } from './step.ts';

/** What the executor says of its work; its times are the executor's, clamped into the build when drawn. */
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
 *     stopped    it was told to (an update, a restart) and handed the build back
 *     outage     it vanished, and the scheduler that noticed was not there either when it took the build: a machine, a service
 *     lost       it alone vanished; whether of this build nobody knows
 */
export type WorkerEnd = 'stopped' | 'outage' | 'lost';

/** How often one job of one buildset may lose its worker: the last time it is RETRY_LIMIT. An operator may stop it as often as he likes. */
export const WORKER_ENDS_PER_JOB: { readonly [end in WorkerEnd]: number } = {
  stopped: Number.POSITIVE_INFINITY,
  outage: 20,
  lost: 5,
};

interface WorkedUntil {
  /**
   * No executor is known to have worked on it after this time, although the scheduler learned only at `at` that it had ended: its result lay
   * unread when it was cancelled, or its executor vanished and was last heard of then. Absent: `at`, or what the execution of a completed one says.
   */
  readonly workedUntil?: Nanoseconds;
}

export type BuildState =
  | { readonly state: 'requested' }
  | {
      readonly state: 'started';
      readonly at: Nanoseconds;
      readonly worker: string;
      /** The run phase has failed although the job still runs (post-run); the item counts as failing. */
      readonly failingSince?: Nanoseconds;
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
      /** Of a RETRY: it is no attempt, because its executor ended before it did. */
      readonly workerEnd?: WorkerEnd;
      /** Of a RETRY: it is no attempt, because the code host did not give what it takes. */
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
  | { readonly state: 'skipped'; readonly at: Nanoseconds; readonly because: JobName };

export interface Build {
  readonly uuid: Uuid;
  readonly job: JobName;
  /** 1 for the first try. */
  readonly attempt: number;
  readonly voting: boolean;
  readonly requestedAt: Nanoseconds;
  /** Its pipeline's when it was requested: which of several is taken first. Absent: it was skipped, or it is not recorded. */
  readonly priority?: Precedence;
  /** Its JobExecution is the root of a trace of its own, decided when it was requested: it was expected to take long. */
  readonly ownTrace?: true;
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
 * What was done took time, also where an executor's slow clock says otherwise: spans of its parts were sent while it was open, and
 * lie behind its start.
 */
const SHORTEST_MS = 0.001;

/**
 * When the work on it ended, by the executor's clock within what the scheduler knows; null: it is open. The result may have lain
 * unread after that, while no scheduler was there: that is no time of the build.
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

/** @param until by the executor's clock; undefined: it is not known, and the work counts up to when the scheduler handled its end. */
function endOfWork(
  requestedAt: Nanoseconds,
  { startedAt, at }: { readonly startedAt: Nanoseconds | null; readonly at: Nanoseconds },
  until: Nanoseconds | undefined,
): Nanoseconds {
  if (until === undefined) return at;
  const end = laterOf(startedAt ?? requestedAt, earlierOf(until, at));
  return end === requestedAt ? earlierOf(addMilliseconds(end, SHORTEST_MS), at) : end;
}

/** Its executor had vanished, and no scheduler knew yet; null: no such time. */
export function unnoticedLoss(
  build: Build,
): { readonly start: Nanoseconds; readonly end: Nanoseconds } | null {
  const { state } = build;
  if (state.state !== 'completed' || state.workedUntil === undefined) return null;
  return { start: endOfBuild(build) ?? state.at, end: state.at };
}

export function isOpen(build: Build): boolean {
  return build.state.state === 'requested' || build.state.state === 'started';
}

/** Ended in a way that starts the job again while attempts are left. */
export function isRetried(build: Build): boolean {
  return build.state.state === 'completed' && build.state.result === 'RETRY';
}
