/**
 * Ends the work of a buildset: open builds become cancelled, pending merger requests withdrawn, and no job waits for a semaphore or a requirement any more. Cancelling is final: a later answer
 * of a worker is attached, never counted (`apply-build-events.ts`).
 */
import { earlierOf, laterOf, type Nanoseconds } from '../lib/clock.ts';
import { type Build, type BuildState, isOpen } from '../model/build.ts';
import type { BuildSet } from '../model/build-set.ts';
import type { CancelCause } from '../model/cause.ts';
import { endWaits } from '../model/semaphore.ts';
import type { TurnDraft } from './turn-draft.ts';

/**
 * @param workedUntil when its executor finished or was last heard of, from a result that is not applied yet. It says nothing of a build
 * whose start was not read either: that one is on record as awaiting an executor until the end.
 */
function cancelled(build: Build, cause: CancelCause, workedUntil: Nanoseconds | undefined): Build {
  const started = build.state.state === 'started' ? build.state : null;
  return {
    ...build,
    state: {
      state: 'cancelled',
      startedAt: started?.at ?? null,
      at: cause.at,
      worker: started?.worker ?? null,
      cause,
      execution: null,
      ...(started === null || workedUntil === undefined
        ? {}
        : { workedUntil: endedWithin(started, workedUntil, cause.at) }),
    },
  };
}

function endedWithin(
  started: Extract<BuildState, { readonly state: 'started' }>,
  workedUntil: Nanoseconds,
  at: Nanoseconds,
): Nanoseconds {
  return laterOf(started.pause?.since ?? started.failingSince ?? started.at, earlierOf(workedUntil, at));
}

/** The same buildset with its work ended; its stage is the caller's to change. */
export function stopWork(draft: TurnDraft, buildset: BuildSet, cause: CancelCause): BuildSet {
  return {
    ...buildset,
    builds: cancelOpenBuilds(draft, buildset.builds, cause),
    mergerWork: withdrawRequest(draft, buildset, cause.at),
    ...endedWaits(buildset, cause.at),
  };
}

/** The fields as they are stored: absent rather than empty. */
function endedWaits(
  { semaphoreWaits, requirementWaits }: BuildSet,
  at: Nanoseconds,
): Pick<BuildSet, 'semaphoreWaits' | 'requirementWaits'> {
  const [semaphores, requirements] = [endWaits(semaphoreWaits, at), endWaits(requirementWaits, at)];
  return {
    ...(semaphores === undefined ? {} : { semaphoreWaits: semaphores }),
    ...(requirements === undefined ? {} : { requirementWaits: requirements }),
  };
}

/** @returns the same list when none is open. */
export function cancelOpenBuilds(
  draft: TurnDraft,
  builds: readonly Build[],
  cause: CancelCause,
): readonly Build[] {
  if (!builds.some(isOpen)) return builds;
  return builds.map(build => (isOpen(build) ? cancelBuild(draft, build, cause) : build));
}

/** @param build that is open. */
export function cancelBuild(draft: TurnDraft, build: Build, cause: CancelCause): Build {
  draft.command({ kind: 'cancel-build', build: build.uuid });
  return cancelled(build, cause, draft.reportedEnd(build.uuid));
}

/** The answer is not awaited any more; the same list when no request is pending. */
export function withdrawRequest(
  draft: TurnDraft,
  buildset: BuildSet,
  at: Nanoseconds,
): BuildSet['mergerWork'] {
  if (buildset.stage.state !== 'merging' && buildset.stage.state !== 'repo-state') return buildset.mergerWork;
  const { request } = buildset.stage;
  draft.command({ kind: 'withdraw-merger-request', request });
  return buildset.mergerWork.map(work => {
    if (work.request !== request || work.done !== null) return work;
    return { ...work, done: { at, outcome: 'withdrawn', worker: null, steps: [] } };
  });
}
