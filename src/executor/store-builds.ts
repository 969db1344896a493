/**
 * The executor's end of the store: builds of the queue `requests/build/default`, results to the pipeline that asked. A result and the
 * end of its request are one multi: there is never one without the other.
 */

import type { Clock } from '../lib/clock.ts';
import type { IdMaker } from '../lib/ids.ts';
import type { BuildRequest } from '../model/build-request.ts';
import { cancelTimeOf } from '../model/cancel-word.ts';
import { pipelineEventCodec } from '../model/codec/records.ts';
import type { PipelineEvent } from '../model/event.ts';
import { EventQueue } from '../store/event-queue.ts';
import type { StorePaths } from '../store/paths.ts';
import type { Store } from '../store/port.ts';
import type { Claim } from '../store/request-claim.ts';
import type { RequestQueue } from '../store/request-queue.ts';
import { createRequestWorker } from '../store/request-worker.ts';
import type { BuildEvent, BuildQueue, BuildResultEvent, TakenBuild } from './deps.ts';

export interface StoreBuildsDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly ids: IdMaker;
  /** Shown as the worker of what it does. */
  readonly worker: string;
}

export function createStoreBuilds(queue: RequestQueue<BuildRequest>, deps: StoreBuildsDeps): BuildQueue {
  let accepted: (request: BuildRequest) => boolean = () => true;
  const worker = createRequestWorker(queue, {
    worker: deps.worker,
    clock: deps.clock,
    accepts: request => accepted(request),
  });
  return {
    async take(accepts, signal) {
      accepted = accepts;
      try {
        return takenBuild(await worker.next(signal), deps);
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
  return {
    request,
    cancelled: claim.cancelled,
    lost: claim.lost,
    async report(event: BuildEvent) {
      await claim.report(events.put(event), deps.ids.uuid());
    },
    async complete(event: BuildResultEvent) {
      await claim.complete(events.put(withCancelTime(event, claim.cancelWord)));
    },
  };
}

function withCancelTime(event: BuildResultEvent, word: Uint8Array | undefined): BuildResultEvent {
  const cancelledAt = word === undefined ? undefined : cancelTimeOf(word);
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
