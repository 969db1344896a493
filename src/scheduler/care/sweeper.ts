/**
 * Background work of one scheduler at a time. Requests of lost workers are settled as soon as their claims go. Every few minutes
 * unused records are removed: old delivery ids, closed changes, unused job graphs and recipes, slots of semaphores without a build, late cancels,
 * old signs of life, leftovers of pipelines and tenants that are gone.
 *
 * What is in use is read from the store, never taken from this process's pipelines: other schedulers hold pipelines, too. Records
 * are removed under the sweeper's fence and in the version that was found unused.
 *
 * A map of the folder:
 *
 *     what is in use     read-holdings → sweep-blobs, sweep-semaphores, outdated-changes, sweep-dead
 *     lost work          lost-workers (of all pipelines, here), settle-lost-work (of one, by its holder), late-executions
 *     executors, hosts   steady-executors → unservable-builds; grant-hosts, release-holds
 *     traces             pass-recorder, trace-rows
 */

import { addMilliseconds } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import { pause } from '../../lib/pause.ts';
import { createBodySweeper, staleMarks } from '../../store/abandoned-requests.ts';
import type { Fence } from '../../store/fence.ts';
import { type Operation, StoreError } from '../../store/port.ts';
import { sweepSeen } from '../../store/seen.ts';
import { outdatedSigns } from '../../store/signs-of-life.ts';
import { splitOperations } from '../../store/split-operations.ts';
import { vanishedClaims } from '../../store/vanished-claims.ts';
import { outdatedWatches } from '../../store/watched-tests.ts';
import { outdatedLandings } from '../changes/own-merges.ts';
import { fencedLoop, runTogether } from '../loop.ts';
import type { SchedulerShared } from '../shared.ts';
import { grantHosts } from './grant-hosts.ts';
import { type LostWorkersDeps, settleLostWorkers } from './lost-workers.ts';
import { outdatedChanges } from './outdated-changes.ts';
import { recordPass } from './pass-recorder.ts';
import { readHoldings } from './read-holdings.ts';
import { releaseHolds } from './release-holds.ts';
import { createBlobSweeper } from './sweep-blobs.ts';
import { deadLeftovers } from './sweep-dead.ts';
import { createSlotSweeper } from './sweep-semaphores.ts';
import { endStrandedBuilds, endUnservableBuilds, watchUnservableBuilds } from './unservable-builds.ts';

/** Milliseconds between sweeps. */
const INTERVAL = 300_000;
/** Milliseconds a closed change that no item holds stays in the cache. */
const CLOSED_CHANGE_KEPT = 3_600_000;

/** Until aborted. */
export async function runSweeper(shared: SchedulerShared, signal: AbortSignal): Promise<void> {
  const { deps, pauseSwitch, mergeRequests, buildRequests } = shared;
  const since = deps.clock.now();
  await mergeRequests.prepare(signal);
  await buildRequests.prepare(signal);
  const { lock, epoch, lastOperation } = deps.paths.sweeper;
  const request = {
    lockPath: lock,
    epochPath: epoch,
    lastOperationPath: lastOperation,
    guid: deps.ids.uuid(),
  };
  const lost = { ...deps, since, mergeRequests, buildRequests, pipelineQueue: shared.pipelineQueue };
  await fencedLoop('sweeper', request, { ...deps, pauseSwitch }, signal, (fence, stop) =>
    runTogether(AbortSignal.any([stop, fence.lost]), either => [
      watchClaims(mergeRequests.claimedPath, lost, either),
      watchClaims(buildRequests.claimedPath, lost, either),
      watchUnservableBuilds({ ...deps, ...shared }, fence, either),
      grantHosts(
        { ...deps, buildRequests, executors: shared.executors, pipelineQueue: shared.pipelineQueue },
        fence,
        {
          onPublished: () => endUnservableBuilds({ ...deps, ...shared }, fence),
          onStranded: due => endStrandedBuilds(due, { ...deps, ...shared }, fence),
        },
        either,
      ),
      releaseHolds(deps, fence, either),
      sweepRegularly(shared, lost, fence, either),
    ]),
  );
}

async function watchClaims(path: string, lost: LostWorkersDeps, signal: AbortSignal): Promise<void> {
  for await (const vanished of vanishedClaims(lost.store, path, signal))
    await settleLostWorkers(lost, vanished);
}

async function sweepRegularly(
  shared: SchedulerShared,
  lost: LostWorkersDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  const sweep = createSweep(shared, fence);
  while (!signal.aborted) {
    // Broken requests have no claims that vanish.
    await settleLostWorkers(lost);
    await sweep();
    await pause(INTERVAL, signal);
  }
}

/** One sweep per call. A job graph goes with the second sweep that finds it unused. */
export function createSweep(shared: SchedulerShared, fence: Fence): () => Promise<void> {
  const { store, paths, clock, connections, ids, log } = shared.deps;
  const { mergeRequests, buildRequests } = shared;
  const blobs = createBlobSweeper(store, paths);
  const bodies = [createBodySweeper(mergeRequests), createBodySweeper(buildRequests)];
  const slots = createSlotSweeper(store, paths);

  const { removeAll, removeEach } = removals(fence, ids);

  return async () => {
    const now = clock.now();
    const pass = recordPass('store', {}, shared.deps);
    await pass.part('Sweep', 'delivery-ids', async () => {
      let removed = 0;
      for (const name of connections.keys())
        removed += await sweepSeen(store, paths.connection(name).seen, now);
      return { removed };
    });
    await pass.part('Sweep', 'landings', async () =>
      removeAll(splitOperations(await outdatedLandings(store, paths.landings, now))),
    );
    const candidates = await blobs.candidates();
    const seenSlots = await slots.candidates();
    await shared.changes.fresh();
    const holdings = await readHoldings(store, paths);
    if (holdings.unreadable.length > 0)
      log.warn(
        { paths: holdings.unreadable },
        'unreadable records: job graphs, semaphores, changes and bodies of requests are not swept',
      );
    else {
      await pass.part('CacheCleanup', 'job-graphs', () =>
        removeEach(blobs.unused(candidates, holdings.blobs)),
      );
      await pass.part('CacheCleanup', 'semaphores', () =>
        removeAll(slots.unused(seenSlots, holdings.slots).map(operation => [operation])),
      );
      const before = addMilliseconds(now, -CLOSED_CHANGE_KEPT);
      const old = outdatedChanges(shared.changes.all(), holdings.changes, before);
      await pass.part('CacheCleanup', 'closed-changes', () =>
        removeAll(shared.changes.forget(old).map(operation => [operation])),
      );
      await pass.part('Sweep', 'request-bodies', async () => {
        const stale = await Promise.all(bodies.map(each => each.stale()));
        return removeAll(stale.flat().map(operation => [operation]));
      });
    }
    await pass.part('Sweep', 'stale-cancels', async () => {
      const stale = [mergeRequests, buildRequests].map(requests => staleMarks(requests));
      return removeAll((await Promise.all(stale)).flat().map(operation => [operation]));
    });
    await pass.part('Sweep', 'signs-of-life', async () =>
      removeAll((await outdatedSigns(store, paths.signs, now)).map(operation => [operation])),
    );
    await pass.part('Sweep', 'watched-tests', async () =>
      removeAll((await outdatedWatches({ store, paths }, now)).map(operation => [operation])),
    );
    await pass.part('Sweep', 'leftovers', async () => removeAll(await deadLeftovers(shared, holdings)));
    const rows = pass.rows();
    if (rows.length > 0) await fence.commit(rows, ids.uuid());
  };
}

interface Removed {
  readonly removed: number;
}

function removals(fence: Fence, ids: IdMaker) {
  /** One commit each: a record that was written meanwhile stays. @returns how many were removed. */
  async function removeAll(operations: readonly (readonly Operation[])[]): Promise<Removed> {
    let removed = 0;
    for (const each of operations) {
      try {
        await fence.commit(each, ids.uuid());
        removed += each.filter(({ kind }) => kind === 'delete').length;
      } catch (error) {
        if (!isCommitConflict(error)) throw error;
      }
    }
    return { removed };
  }

  /** In as few commits as possible; where one of many was written meanwhile, each alone. */
  async function removeEach(operations: readonly Operation[]): Promise<Removed> {
    let removed = 0;
    for (const chunk of splitOperations(operations)) {
      const together = await removeAll([chunk]);
      const each = together.removed > 0 ? together : await removeAll(chunk.map(operation => [operation]));
      removed += each.removed;
    }
    return { removed };
  }

  return { removeAll, removeEach };
}

function isCommitConflict(error: unknown): boolean {
  return (
    error instanceof StoreError && ['NoNode', 'BadVersion', 'NodeExists', 'NotEmpty'].includes(error.code)
  );
}
