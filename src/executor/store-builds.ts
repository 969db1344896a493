/**
 * The executor's side of the store: builds of the queue `requests/build/default`, results to the pipeline that requested them. A result
 * and the end of its request are one multi: there is never one without the other. The job's own spans ride along, as far as they fit.
 */

import type { Clock, Nanoseconds } from '../lib/clock.ts';
import type { IdMaker } from '../lib/ids.ts';
import type { BuildPlaybook, BuildRequest } from '../model/build-request.ts';
import { cancelTimeOf } from '../model/cancel-message.ts';
import { pipelineEventCodec, spansCodec } from '../model/codec/records.ts';
import type { PipelineEvent } from '../model/event.ts';
import { type ExecutorZone, reachesZone } from '../model/executor-zone.ts';
import type { SemaphoreHolder } from '../model/semaphore.ts';
import { findHold } from '../nodes/hold-requests.ts';
import { EventQueue } from '../store/event-queue.ts';
import { type HeldSlots, holdSlots, type SlotWait } from '../store/hold-slots.ts';
import { outboxRows } from '../store/outbox-rows.ts';
import type { StorePaths } from '../store/paths.ts';
import { type Operation, type Store, StoreError } from '../store/port.ts';
import type { Claim } from '../store/request-claim.ts';
import type { RequestQueue } from '../store/request-queue.ts';
import { createRequestWorker, type RequestWorker } from '../store/request-worker.ts';
import { splitOperations } from '../store/split-operations.ts';
import { readWatched, watchFailures } from '../store/watched-tests.ts';
import type { BuildEvent, BuildQueue, BuildResultEvent, TakenBuild } from './deps.ts';
import { failedBuildOf, withHostsAfter } from './hosts/hold-hosts.ts';
import { hostLease } from './hosts/host-lease.ts';

/** Where results and spans are written. */
export interface StoreBuildsDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly ids: IdMaker;
  /** Shown as the worker of its builds. */
  readonly worker: string;
  /** Of this executor: builds of other zones are left to others. Default: it is in none. */
  readonly zone?: ExecutorZone;
  /** Called when a playbook has taken its semaphores, and with -1 when it has freed them. */
  readonly onHeld?: (
    held: { readonly tenant: string; readonly semaphores: readonly string[] },
    by: 1 | -1,
  ) => void;
}

/** @param queue the build requests this executor takes from. @returns the queue for `createExecutor`. */
export function createStoreBuilds(queue: RequestQueue<BuildRequest>, deps: StoreBuildsDeps): BuildQueue {
  const { worker, clock, zone = {} } = deps;
  // Each remembers what its function declined.
  const workers = new WeakMap<object, RequestWorker<BuildRequest>>();
  return {
    async take(accepts, signal) {
      const taker =
        workers.get(accepts) ??
        createRequestWorker(queue, {
          ...{ worker, clock },
          isFor: name => reachesZone(zone, name.zone),
          accepts: (request, { granted }) => accepts(request, granted !== undefined),
        });
      workers.set(accepts, taker);
      try {
        return takenBuild(await taker.next(signal), deps);
      } catch (error) {
        if (signal.aborted) return undefined;
        throw error;
      }
    },
  };
}

function takenBuild(claim: Claim<BuildRequest>, deps: StoreBuildsDeps): TakenBuild {
  const request = claim.request.value;
  const events = pipelineQueue(deps, request.tenant, request.pipeline);
  const { granted } = claim.request;
  return {
    request,
    ...(granted === undefined ? {} : { lease: hostLease(claim, granted, events, deps) }),
    cancelled: claim.cancelled,
    lost: claim.lost,
    async report(event: BuildEvent) {
      await claim.report(events.put(event), deps.ids.uuid());
    },
    resumed: ended => claim.resumed(ended),
    hold: (playbook, wait) => holdCounted(request, playbook, wait, deps),
    cancelledAt: () => cancelTime(claim),
    findHold: () => findHold(deps, failedBuildOf(request)),
    watchedTests: () => readWatched({ ...deps, ...failedBuildOf(request) }, deps.clock.now()),
    watchTests: failed => watchFailures({ ...deps, ...failedBuildOf(request) }, failed, deps.clock.now()),
    async complete(event: BuildResultEvent, spans, hosts = {}) {
      const result = events.put(withCancelTime(event, cancelTime(claim)));
      const rows = outboxRows(deps.paths.spanOutbox, spans, spansCodec, deps.clock.now());
      const [first, ...rest] = splitOperations([...result, ...rows]);
      const labels = new Map(request.job.nodes.map(({ name, label }) => [name, label]));
      const held = { build: request.uuid, granted, labels };
      const outcome = await withHostsAfter(deps, hosts, held, states =>
        claim.complete([...(first ?? []), ...states]),
      );
      return outcome === 'lost' || (await storeAll(deps.store, rest)) ? 'whole' : 'spans-cut';
    },
  };
}

async function holdCounted(
  request: BuildRequest,
  playbook: BuildPlaybook,
  wait: SlotWait,
  deps: StoreBuildsDeps,
): Promise<HeldSlots | undefined> {
  const wanted = playbook.holds ?? [];
  const slots = await holdSlots(deps, wanted, holderOf(request, playbook, deps.clock.now()), wait);
  if (slots === undefined) return undefined;
  const held = { tenant: request.tenant, semaphores: wanted.map(({ name }) => name) };
  deps.onHeld?.(held, 1);
  return {
    async release() {
      try {
        await slots.release();
      } finally {
        deps.onHeld?.(held, -1);
      }
    },
  };
}

/** Named to builds that wait for what the playbook holds. */
function holderOf(
  { tenant, pipeline, item, buildset, uuid, jobName, changes = '' }: BuildRequest,
  { path }: BuildPlaybook,
  since: Nanoseconds,
): SemaphoreHolder {
  const build = { tenant, pipeline, item, buildset, build: uuid, job: jobName };
  return { ...build, change: changes, since, playbook: path };
}

/**
 * Stores spans that did not fit beside the result, parents before their children. Only after the result: if the executor died in
 * between, their playbooks would never be exported, and the spans would stay without parents for ever.
 *
 * @returns false when some are lost: they are detail, the result is stored, and the spans written so far are complete in themselves.
 */
async function storeAll(store: Store, chunks: readonly (readonly Operation[])[]): Promise<boolean> {
  try {
    for (const chunk of chunks) await store.multi(chunk);
    return true;
  } catch (error) {
    // Not retried: without a claim a lost reply leaves the outcome unknown.
    if (!(error instanceof StoreError)) throw error;
    return false;
  }
}

function cancelTime({ cancelMessage }: Claim<BuildRequest>): Nanoseconds | undefined {
  return cancelMessage === undefined ? undefined : cancelTimeOf(cancelMessage);
}

function withCancelTime(event: BuildResultEvent, cancelledAt: Nanoseconds | undefined): BuildResultEvent {
  if (event.of === undefined || cancelledAt === undefined) return event;
  return { ...event, of: { ...event.of, cancelledAt } };
}

function pipelineQueue(deps: StoreBuildsDeps, tenant: string, pipeline: string): EventQueue<PipelineEvent> {
  const { store, paths, clock } = deps;
  return new EventQueue({
    store,
    path: paths.pipeline(tenant, pipeline).eventQueue,
    codec: pipelineEventCodec,
    clock,
  });
}
