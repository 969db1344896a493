/**
 * Background care: workers that vanished are settled as soon as their claims go; what nobody needs any more (old delivery ids,
 * closed changes, unused job graphs, cancels that came too late) is removed once an hour.
 */
import { addMilliseconds } from '../lib/clock.ts';
import { pause } from '../lib/pause.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import { sweepSeen } from '../store/seen.ts';
import { splitOperations } from '../store/split-operations.ts';
import { wakeUps } from '../store/wake-ups.ts';
import { settleLostWorkers } from './lost-workers.ts';
import { outdatedChanges } from './outdated-changes.ts';
import type { SchedulerShared } from './shared.ts';
import { createBlobSweeper } from './sweep-blobs.ts';

/** Milliseconds between sweeps. */
const INTERVAL = 3_600_000;
/** Milliseconds a closed change that no item holds stays in the cache. */
const CLOSED_CHANGE_KEPT = 3_600_000;

/** Until aborted. Harmless when several schedulers do it at once. */
export async function runSweeper(
  shared: SchedulerShared,
  states: () => readonly PipelineState[],
  signal: AbortSignal,
): Promise<void> {
  await shared.mergeRequests.prepare(signal);
  await shared.buildRequests.prepare(signal);
  await Promise.all([
    ...[shared.mergeRequests, shared.buildRequests].map(requests =>
      watchClaims(requests.claimedPath, shared, signal),
    ),
    tidyRegularly(shared, states, signal),
  ]);
}

async function watchClaims(path: string, shared: SchedulerShared, signal: AbortSignal): Promise<void> {
  const { store, clock, log } = shared.deps;
  const { mergeRequests, buildRequests, pipelineQueue } = shared;
  for await (const _ of wakeUps(store, path, signal, event => event.kind === 'deleted')) {
    await settleLostWorkers({ store, clock, log, mergeRequests, buildRequests, pipelineQueue });
  }
}

async function tidyRegularly(
  shared: SchedulerShared,
  states: () => readonly PipelineState[],
  signal: AbortSignal,
): Promise<void> {
  const { store, paths } = shared.deps;
  const sweepBlobs = createBlobSweeper(store, paths);
  while (!signal.aborted) {
    await tidy(shared, states(), sweepBlobs);
    await pause(INTERVAL, signal);
  }
}

async function tidy(
  shared: SchedulerShared,
  states: readonly PipelineState[],
  sweepBlobs: ReturnType<typeof createBlobSweeper>,
): Promise<void> {
  const { store, paths, clock, connections } = shared.deps;
  const now = clock.now();
  for (const name of connections.keys()) await sweepSeen(store, paths.connection(name).seen, now);
  const old = outdatedChanges(shared.changes.all(), states, addMilliseconds(now, -CLOSED_CHANGE_KEPT));
  for (const part of splitOperations(shared.changes.forget(old))) await store.multi(part);
  await sweepBlobs(states);
  for (const requests of [shared.mergeRequests, shared.buildRequests]) {
    for (const operation of await requests.staleCancels()) await store.multi([operation]);
  }
}
