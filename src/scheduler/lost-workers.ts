/**
 * Requests whose worker vanished: its claim was ephemeral and went with its session. A merge goes back into the queue; a
 * build ends as RETRY, so that a new attempt starts elsewhere.
 */
import type { Clock } from '../lib/clock.ts';
import { derivedUuid } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { BuildRequest } from '../model/build-request.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { MergerRequest } from '../model/merge.ts';
import type { EventQueue } from '../store/event-queue.ts';
import { type Operation, type Store, StoreError } from '../store/port.ts';
import type { Abandoned, RequestQueue } from '../store/request-queue.ts';
import { buildLogFacts, mergerRequestLogFacts } from '../tracing/log-facts.ts';
import { type PassDeps, recordPass } from './pass-recorder.ts';

export interface LostWorkersDeps extends PassDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly mergeRequests: RequestQueue<MergerRequest>;
  readonly buildRequests: RequestQueue<BuildRequest>;
  pipelineQueue(tenant: string, pipeline: string): EventQueue<PipelineEvent>;
}

/** Harmless when done by several schedulers at once: each request is settled by exactly one multi. */
export async function settleLostWorkers(deps: LostWorkersDeps): Promise<void> {
  for (const abandoned of await deps.mergeRequests.abandoned()) {
    const operations =
      abandoned.kind === 'lost-worker' && !abandoned.cancelled
        ? deps.mergeRequests.requeue(abandoned.request)
        : deps.mergeRequests.discard(abandoned);
    await settle(operations, 'merge', abandoned, deps);
  }
  for (const abandoned of await deps.buildRequests.abandoned()) {
    const result = abandoned.kind === 'lost-worker' ? lostResult(abandoned.request.value, deps) : [];
    await settle([...deps.buildRequests.discard(abandoned), ...result], 'build', abandoned, deps);
  }
}

function lostResult(request: BuildRequest, deps: LostWorkersDeps): readonly Operation[] {
  return deps.pipelineQueue(request.tenant, request.pipeline).put({
    kind: 'build-result',
    uuid: derivedUuid(request.uuid, 'lost-worker'),
    item: request.item,
    buildset: request.buildset,
    build: request.uuid,
    at: deps.clock.now(),
    result: 'RETRY',
    worker: null,
    execution: null,
    detail: 'its executor is gone',
  });
}

async function settle(
  operations: readonly Operation[],
  work: 'merge' | 'build',
  abandoned: Abandoned<MergerRequest> | Abandoned<BuildRequest>,
  deps: LostWorkersDeps,
): Promise<void> {
  const pass = recordPass('lost-workers', ownerOf(abandoned), deps);
  await pass.part('Sweep', `lost-${work}`, async () => ({ settled: 1 }));
  try {
    await deps.store.multi([...operations, ...pass.rows()]);
    deps.log.warn(
      logFactsOf(abandoned),
      `the worker of ${work} request ${abandoned.request.uuid} is gone; it is done again`,
    );
  } catch (error) {
    // Settled by another scheduler, or its worker is back: nothing of ours was applied.
    if (!(error instanceof StoreError && ['NoNode', 'NodeExists', 'BadVersion'].includes(error.code)))
      throw error;
  }
}

function logFactsOf(abandoned: Abandoned<MergerRequest> | Abandoned<BuildRequest>): object {
  if (abandoned.kind !== 'lost-worker') return { request: abandoned.request.uuid };
  const { value } = abandoned.request;
  return 'jobName' in value ? buildLogFacts(value) : mergerRequestLogFacts(value);
}

/** Nobody knows whose a broken request was. */
function ownerOf(abandoned: Abandoned<MergerRequest> | Abandoned<BuildRequest>) {
  if (abandoned.kind !== 'lost-worker') return {};
  const { value } = abandoned.request;
  if ('jobName' in value) return { tenant: value.tenant, pipeline: value.pipeline, item: value.item };
  const { tenant, item: whose } = value;
  return whose === undefined ? { tenant } : { tenant, pipeline: whose.pipeline, item: whose.item };
}
