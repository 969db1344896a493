/** The workers' ends of the request queues: what mergers and executors take, and where their answers go. */
import type { BuildEvent, BuildQueue, BuildResultEvent, TakenBuild } from '../../executor/deps.ts';
import type { Clock } from '../../lib/clock.ts';
import { derivedUuid, type IdMaker } from '../../lib/ids.ts';
import type { ClaimedRequest, MergerRequests } from '../../merger/deps.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import { mergerOutcomeCodec, pipelineEventCodec } from '../../model/codec/records.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { MergerOutcome, MergerRequest } from '../../model/merge.ts';
import { EventQueue } from '../../store/event-queue.ts';
import type { StorePaths } from '../../store/paths.ts';
import { create, type Operation, type Store } from '../../store/port.ts';
import type { Claim } from '../../store/request-claim.ts';
import type { RequestQueue } from '../../store/request-queue.ts';
import { claimRequest, nextRequest } from '../../store/request-worker.ts';

export interface WorkerQueueDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly ids: IdMaker;
  /** Shown as the worker of what it does. */
  readonly worker: string;
}

export function mergerRequests(queue: RequestQueue<MergerRequest>, deps: WorkerQueueDeps): MergerRequests {
  return {
    async claim(most, signal) {
      const first = await nextUnlessAborted(queue, deps, () => true, signal);
      if (first === undefined) return [];
      const more = await claimWaiting(queue, deps, most - 1);
      return [first, ...more].map(claim => claimedMerge(claim, deps));
    },
  };
}

export function buildQueue(queue: RequestQueue<BuildRequest>, deps: WorkerQueueDeps): BuildQueue {
  return {
    async take(accepts, signal) {
      const claim = await nextUnlessAborted(queue, deps, accepts, signal);
      return claim === undefined ? undefined : takenBuild(claim, deps);
    },
  };
}

async function nextUnlessAborted<T extends { readonly uuid: string; readonly priority: number }>(
  queue: RequestQueue<T>,
  deps: WorkerQueueDeps,
  accepts: (request: T) => boolean,
  signal: AbortSignal,
): Promise<Claim<T> | undefined> {
  try {
    return await nextRequest(queue, { worker: deps.worker, clock: deps.clock, accepts }, signal);
  } catch (error) {
    if (signal.aborted) return undefined;
    throw error;
  }
}

/** Whatever waits at this moment: requests served together share their fetches. */
async function claimWaiting(queue: RequestQueue<MergerRequest>, deps: WorkerQueueDeps, most: number): Promise<readonly Claim<MergerRequest>[]> {
  const { names, claimed } = await queue.overview();
  if (most <= 0 || names.length <= claimed.size) return [];
  const waiting = (await queue.list()).filter(request => request.state.kind === 'requested').slice(0, most);
  const claims = await Promise.all(waiting.map(request => claimRequest(queue, request, { worker: deps.worker, clock: deps.clock })));
  return claims.filter(claim => claim !== undefined);
}

function claimedMerge(claim: Claim<MergerRequest>, deps: WorkerQueueDeps): ClaimedRequest {
  const request = claim.request.value;
  return {
    request,
    async complete(outcome) {
      await claim.complete(answerOperations(request, outcome, deps));
    },
    async drop() {
      await claim.complete();
    },
  };
}

/** An answer about an item goes to its pipeline, any other to a node the asker waits for. */
function answerOperations(request: MergerRequest, outcome: MergerOutcome, deps: WorkerQueueDeps): readonly Operation[] {
  if (request.item === undefined) return [create(deps.paths.tenant(request.tenant).answer(request.uuid), mergerOutcomeCodec.encode(outcome))];
  const { pipeline, item, buildset } = request.item;
  return pipelineQueue(deps, request.tenant, pipeline).put({
    kind: 'merger-result',
    uuid: derivedUuid(request.uuid, 'result'),
    item,
    buildset,
    request: request.uuid,
    at: deps.clock.now(),
    outcome,
  });
}

function takenBuild(claim: Claim<BuildRequest>, deps: WorkerQueueDeps): TakenBuild {
  const request = claim.request.value;
  const events = pipelineQueue(deps, request.tenant, request.pipeline);
  return {
    request,
    cancelled: claim.cancelled,
    lost: claim.lost,
    async report(event: BuildEvent) {
      await claim.report(events.put(event), deps.ids.uuid());
    },
    async complete(event: BuildResultEvent) {
      await claim.complete(events.put(event));
    },
  };
}

function pipelineQueue(deps: WorkerQueueDeps, tenant: string, pipeline: string): EventQueue<PipelineEvent> {
  const { store, paths, clock } = deps;
  return new EventQueue({ store, path: paths.pipeline(tenant, pipeline).eventQueue, codec: pipelineEventCodec, clock });
}
