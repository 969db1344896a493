/**
 * Applies the events of executors about builds.
 *
 * Only an open build takes a result, and only builds of an item's current buildset can be open. A cancelled build keeps
 * its verdict when its executor sends a result: cancel wins. What the executor did until it stopped is attached, clamped into
 * the build's own time, because the span of the build has ended with the cancellation.
 */
import { earlierOf, laterOf, type Nanoseconds } from '../lib/clock.ts';
import { aboutItem } from '../model/about-item.ts';
import {
  type Build,
  type BuildState,
  type Execution,
  endOfBuild,
  hasResultRetry,
  isOpen,
  WORKER_ENDS_PER_JOB,
  type WorkerEnd,
} from '../model/build.ts';
import { graphOf } from '../model/build-set.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { HostTrouble } from '../model/host-trouble.ts';
import { lastNodeWait } from '../model/node-wait.ts';
import type { BuildResult } from '../model/results.ts';
import { withMadeNodes } from './apply-node-events.ts';
import { outdateDependents } from './build-pauses.ts';
import { buildOfEvent, type FoundBuild, ignoreFor, putBuild, within } from './found-build.ts';
import { hostServedBuild, waitForHost, withoutWait } from './host-wait.ts';
import { isShared } from './parked-projects.ts';
import { excessReturned } from './returned-room.ts';
import { startAfterWaits } from './since-taken.ts';
import type { TurnDraft } from './turn-draft.ts';

type Started = Extract<PipelineEvent, { readonly kind: 'build-started' }>;
type Failing = Extract<PipelineEvent, { readonly kind: 'build-failing' }>;
type Result = Extract<PipelineEvent, { readonly kind: 'build-result' }>;

/** An executor has begun a build. The event's time counts, bounded by the request and by now. */
export function applyBuildStarted(draft: TurnDraft, event: Started): void {
  const found = buildOfEvent(draft, event);
  if (found === undefined) return;
  const { build, item } = found;
  const before = draft.input.state.items.get(item.uuid) ?? item;
  const asked = lastNodeWait(build)?.granted?.at ?? build.requestedAt;
  const taken = within(event.at, asked, draft.input.now);
  const at = earlierOf(startAfterWaits(before, taken), draft.input.now);
  if (build.state.state === 'requested') {
    const nodes = withMadeNodes(build, event.nodes, at);
    putBuild(draft, found, { state: 'started', at, worker: event.worker }, nodes);
    return;
  }
  const { state } = build;
  // Only in the turn that cancelled it: after its commit the exported spans have no executor.
  if (state.state === 'cancelled' && state.startedAt === null && state.at === draft.input.now) {
    const startedAt = earlierOf(at, state.at);
    const nodes = withMadeNodes(build, event.nodes, startedAt);
    putBuild(draft, found, { ...state, startedAt, worker: event.worker }, nodes);
    return;
  }
  ignoreFor(draft, found, event, 'a start');
}

/** A job reports, while it still runs, that it is going to fail: the item counts as failing from then on. */
export function applyBuildFailing(draft: TurnDraft, event: Failing): void {
  const found = buildOfEvent(draft, event);
  if (found === undefined) return;
  const { build, item } = found;
  if (build.state.state !== 'started' || build.state.failingSince !== undefined) {
    ignoreFor(draft, found, event, 'an early failure');
    return;
  }
  const failingSince = within(event.at, build.state.at, draft.input.now);
  if (event.early === undefined) {
    putBuild(draft, found, { ...build.state, failingSince });
    return;
  }
  putBuild(draft, found, { ...build.state, failingSince, earlyFailure: event.early });
  const text = `${build.job} has failed while it still runs: ${event.early}`;
  draft.decide('early-failure', aboutItem(item, event.uuid), text);
}

/** The build's result; it may start another attempt, or make the item wait for its host. */
export function applyBuildResult(draft: TurnDraft, event: Result): void {
  const found = buildOfEvent(draft, event);
  if (found === undefined) return;
  const { build } = found;
  if (!isOpen(build)) {
    attachExecution(draft, found, event);
    return;
  }
  const started = build.state.state === 'started' ? build.state : null;
  const trouble =
    build.state.state === 'started' && build.state.failingSince !== undefined
      ? undefined
      : hostTrouble(found, event);
  if (trouble !== undefined) {
    putBuild(draft, found, {
      ...endedBy(draft, event, started),
      result: 'RETRY',
      ...(event.detail === undefined ? {} : { detail: event.detail }),
      hostTrouble: true,
    });
    outdateDependents(draft, found.item.uuid, build, build.state);
    const item = draft.item(found.item.uuid);
    if (item !== undefined) draft.put(waitForHost(draft, item, 'build', trouble, event.uuid));
    return;
  }
  const { result, detail, workerEnd, returned } = withReturned(
    found,
    event,
    finalResult(draft, found, event),
  );
  putBuild(draft, found, {
    ...endedBy(draft, event, started),
    result,
    ...(detail === undefined ? {} : { detail }),
    ...(returned === undefined ? {} : { returned }),
    ...(workerEnd === undefined ? {} : { workerEnd }),
  });
  if (result === 'RETRY') outdateDependents(draft, found.item.uuid, build, build.state);
  const item = draft.item(found.item.uuid);
  if (item === undefined || workerEnd !== undefined || result === 'RETRY') return;
  // The host had its commits.
  const served = new Set(item.changes.map(({ project }) => project));
  if (item.hostWait?.doing === 'build') {
    served.add(item.hostWait.project);
    draft.put(withoutWait(draft, item));
  }
  if (started !== null) hostServedBuild(draft, served, started.at);
}

function endedBy(draft: TurnDraft, event: Result, started: Extract<BuildState, { state: 'started' }> | null) {
  const { lastSign } = event;
  // An early failure and a pause are signs of its executor, too.
  const known = started?.pause?.since ?? started?.failingSince;
  const worked = lastSign === undefined || known === undefined ? lastSign : laterOf(lastSign, known);
  return {
    state: 'completed',
    startedAt: started?.at ?? null,
    at: draft.input.now,
    worker: event.worker ?? started?.worker ?? null,
    execution: event.execution,
    ...(worked === undefined || started === null
      ? {}
      : { workedUntil: within(worked, started.at, draft.input.now) }),
  } as const;
}

/** Tries for a commit that the host does not give, before a failure counts as an attempt. */
const MOST_TRIES = 3;

/** The trouble that the build waits for; undefined: its result counts. */
function hostTrouble({ item }: FoundBuild, { result, trouble }: Result): HostTrouble | undefined {
  if (result !== 'RETRY' || trouble === undefined) return undefined;
  const tries = item.hostWait?.doing === 'build' ? item.hostWait.tries : 0;
  return !isShared(trouble) && tries >= MOST_TRIES ? undefined : trouble;
}

/** What a build returned that is tried again counts for nothing. What does not fit ends it with ERROR: others would wait for it in vain. */
function withReturned(
  { item, build }: FoundBuild,
  { returned }: Result,
  ending: Ending,
): Ending & Pick<Result, 'returned'> {
  if (returned === undefined || ending.result === 'RETRY') return ending;
  const excess = excessReturned(item.buildset, build, returned);
  if (excess === undefined) return { ...ending, returned };
  return ending.result === 'SUCCESS' ? { ...ending, result: 'ERROR', detail: excess } : ending;
}

interface Ending {
  readonly result: BuildResult;
  readonly detail: string | undefined;
  readonly workerEnd?: WorkerEnd;
}

/**
 * A RETRY of the last attempt is final, and so is one of a job that had failed already: a verdict is never retried, even when the
 * worker is lost afterwards. An executor that ended before the build did costs no attempt.
 */
function finalResult(draft: TurnDraft, { item, build }: FoundBuild, event: Result): Ending {
  const { result, detail, workerEnd } = event;
  if (result !== 'RETRY') return { result, detail };
  if (build.state.state === 'started' && build.state.failingSince !== undefined)
    return { result: 'FAILURE', detail };
  const about = aboutItem(item, event.uuid);
  const why = detail === undefined ? '' : `: ${detail}`;
  const before = item.buildset.builds.filter(({ job }) => job === build.job).map(workerEndOfRetry);
  if (workerEnd === undefined) {
    const attempts = graphOf(item.buildset)?.jobs.find(job => job.name === build.job)?.attempts ?? 1;
    const attempt = before.filter(end => end === null).length + 1;
    if (attempt >= attempts) return { result: 'RETRY_LIMIT', detail };
    draft.decide('retry', about, `${build.job} is tried again after attempt ${attempt} of ${attempts}${why}`);
    return { result, detail };
  }
  const ends = before.filter(end => end === workerEnd).length + 1;
  if (ends >= WORKER_ENDS_PER_JOB[workerEnd])
    return { result: 'RETRY_LIMIT', detail: `${ends} executors were lost while running it`, workerEnd };
  draft.decide('retry', about, `${build.job} is tried again${why}; this does not count as an attempt`);
  return { result, detail, workerEnd };
}

/** How the worker of a retried build ended; null: the build was an attempt. Undefined for any other build. */
function workerEndOfRetry(build: Build): WorkerEnd | null | undefined {
  // Attempts before a person asked for it to run again do not count.
  if (build.outdatedBy === build.job) return undefined;
  if (build.state.state !== 'completed' || !hasResultRetry(build) || build.state.hostTrouble === true)
    return undefined;
  return build.state.workerEnd ?? null;
}

function attachExecution(draft: TurnDraft, found: FoundBuild, event: Result): void {
  const { build, item } = found;
  const { state } = build;
  if (state.state !== 'cancelled' || state.execution !== null || event.execution === null) {
    ignoreFor(draft, found, event, `the result ${event.result}`);
    return;
  }
  if (isVerdict(event.result)) {
    const text = `${build.job} ended with ${event.result} after it was cancelled: the result does not count`;
    draft.decide('result-ignored', aboutItem(item, event.uuid), text);
  }
  const worker = state.worker ?? event.worker;
  putBuild(draft, found, {
    ...state,
    worker,
    execution: clamped(event.execution, build.requestedAt, endOfBuild(build) ?? state.at),
  });
}

/** The job came to an end of its own before the cancellation reached its executor. */
function isVerdict(result: BuildResult): boolean {
  return result !== 'CANCELED' && result !== 'RETRY';
}

function clamped(execution: Execution, from: Nanoseconds, to: Nanoseconds): Execution {
  const clamp = <T extends { readonly startedAt: Nanoseconds; readonly endedAt: Nanoseconds }>(
    timed: T,
  ): T => ({
    ...timed,
    startedAt: within(timed.startedAt, from, to),
    endedAt: within(timed.endedAt, from, to),
  });
  return { ...clamp(execution), steps: execution.steps.map(clamp) };
}
