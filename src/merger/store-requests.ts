/**
 * The merger's end of the store: requests of the queue `requests/merge/default`, and their answers.
 *
 * A question about an item is answered by a `merger-result` event in its pipeline's queue, any other in a node of the
 * tenant (`answers/<request>`). The answer is stored and the request removed in one multi-write; how a chain was merged goes into a
 * blob of its own (chain-recipe.ts).
 */
import type { Clock } from '../lib/clock.ts';
import { derivedUuid } from '../lib/ids.ts';
import { mergerOutcomeCodec, pipelineEventCodec } from '../model/codec/records.ts';
import type { MergerOutcome, MergerRequest } from '../model/merge.ts';
import { recipeApart } from '../store/chain-recipe.ts';
import { EventQueue } from '../store/event-queue.ts';
import type { StorePaths } from '../store/paths.ts';
import { create, type Operation, type Store, StoreError } from '../store/port.ts';
import type { Claim } from '../store/request-claim.ts';
import type { RequestQueue } from '../store/request-queue.ts';
import { parseRequestName } from '../store/request-record.ts';
import { claimRequest, createRequestWorker } from '../store/request-worker.ts';
import { isReadable, type StoredRequest } from '../store/stored-request.ts';
import type { ClaimedRequest, MergerRequests } from './deps.ts';

/** Where requests wait and where answers go. */
export interface StoreRequestsDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly queue: RequestQueue<MergerRequest>;
  readonly clock: Clock;
  /** Name of this merger, for people. */
  readonly worker: string;
}

/** A request that a merger was lost over is claimed alone, so that it puts no other at risk. */
export function createStoreRequests(deps: StoreRequestsDeps): MergerRequests {
  const { queue } = deps;
  const worker = createRequestWorker(queue, deps);

  /** Claims the other waiting requests, so that all share one fetch. A request that a merger was lost over is claimed alone. */
  async function others(most: number): Promise<readonly Claim<MergerRequest>[]> {
    if (most <= 0) return [];
    const { names, claimed } = await queue.overview();
    const free = names.filter(name => !claimed.has(parseRequestName(name)?.uuid ?? ''));
    const requests = [...(await queue.read(free.slice(0, most)))].filter(isReadable);
    const waiting = requests.filter(({ state, attempt }) => state.kind === 'requested' && attempt === 1);
    const claims = await Promise.allSettled(waiting.map(request => claimRequest(queue, request, deps)));
    return claims.flatMap(claim => (claim.status === 'fulfilled' ? (claim.value ?? []) : []));
  }

  /** The first request is claimed and must be served: a failure here shows again in the next call. */
  async function othersIfPossible(most: number): Promise<readonly Claim<MergerRequest>[]> {
    try {
      return await others(most);
    } catch (error) {
      if (error instanceof StoreError) return [];
      throw error;
    }
  }

  return {
    async claim(most, signal) {
      try {
        const first = await worker.next(signal);
        const isSuspect = first.request.attempt > 1;
        const claims = [first, ...(isSuspect ? [] : await othersIfPossible(most - 1))];
        return claims.map(claim => claimedRequest(deps, claim));
      } catch (error) {
        if (signal.aborted && error === signal.reason) return [];
        throw error;
      }
    },
  };
}

function claimedRequest(deps: StoreRequestsDeps, claim: Claim<MergerRequest>): ClaimedRequest {
  const request = claim.request.value;
  return {
    request,
    attempt: claim.request.attempt,
    async complete(outcome) {
      // A lost claim writes nothing: another merger answers.
      await claim.complete(answerTo(deps, claim.request, outcome));
    },
    async again(attempt) {
      await claim.complete(deps.queue.resubmit(claim.request, attempt));
    },
    async drop() {
      await claim.complete();
    },
  };
}

function answerTo(
  { store, paths, clock }: StoreRequestsDeps,
  { value, losses }: StoredRequest<MergerRequest>,
  outcome: MergerOutcome,
): readonly Operation[] {
  const { item, tenant, uuid } = value;
  if (item === undefined)
    return [create(paths.tenant(tenant).answer(uuid), mergerOutcomeCodec.encode(outcome))];
  const path = paths.pipeline(tenant, item.pipeline).eventQueue;
  const events = new EventQueue({ store, path, codec: pipelineEventCodec, clock });
  const apart = recipeApart(paths, value, outcome);
  const event = {
    kind: 'merger-result' as const,
    uuid: derivedUuid(uuid, 'result'),
    item: item.item,
    buildset: item.buildset,
    request: uuid,
    at: clock.now(),
    outcome: apart.outcome,
    ...(losses === undefined ? {} : { losses }),
  };
  return [...apart.operations, ...events.put(event)];
}
