/**
 * Requests whose workers vanished, and broken requests: the sweeper finds and settles them after workers were lost.
 *
 *     for (const each of await abandonedRequests(queue)) await fence.commit([...discarded(queue, each), ...result], id);
 */
import { isNewerRecord } from '../model/codec/record.ts';
import type { WorkerLoss } from '../model/worker-loss.ts';
import { create, type Operation, remove, set } from './port.ts';
import type { Requestable, RequestQueue } from './request-queue.ts';
import {
  isReadable,
  removalOf,
  restated,
  type StoredRequest,
  type UnreadableRequest,
} from './stored-request.ts';

/** A request that no worker will complete, and what its finder has to do about it. */
export type Abandoned<T> =
  /** Its worker vanished: requeue it, or fail it with a result. `cancelled`: a cancel had been requested anyway. */
  | { readonly kind: 'lost-worker'; readonly request: StoredRequest<T>; readonly cancelled: boolean }
  /** The record is broken, so no worker can take it: fail it with a result. */
  | { readonly kind: 'unreadable'; readonly request: UnreadableRequest; readonly cancelled: boolean };

/**
 * In order of service. Requests of a newer version are skipped, waiting or taken: an upgraded scheduler settles them.
 *
 * @param among uuids; only these requests are read. Default: all.
 */
export async function abandonedRequests<T extends Requestable>(
  queue: Pick<RequestQueue<T>, 'store' | 'everything' | 'only' | 'claimedPath' | 'cancelledPath'>,
  among?: ReadonlySet<string>,
): Promise<readonly Abandoned<T>[]> {
  // Claims after requests: one that is claimed between the two reads then shows as claimed, not as abandoned.
  const requests = among === undefined ? await queue.everything() : await queue.only(among);
  if (requests.length === 0) return [];
  const claimed = new Set(await queue.store.children(queue.claimedPath));
  const marked = new Set(await queue.store.children(queue.cancelledPath));
  return requests.flatMap((request): Abandoned<T>[] => {
    if (claimed.has(request.uuid)) return [];
    const cancelled = marked.has(request.uuid);
    if (!isReadable(request))
      return isNewerRecord(request.error) ? [] : [{ kind: 'unreadable', request, cancelled }];
    return request.state.kind === 'taken' ? [{ kind: 'lost-worker', request, cancelled }] : [];
  });
}

/**
 * Puts a request back whose worker vanished. Fails with `NodeExists` when it has a claim after all.
 *
 * @param loss undefined: from when the worker was gone is not known.
 */
export function requeued<T extends Requestable>(
  queue: Pick<RequestQueue<T>, 'claimPath'>,
  request: StoredRequest<T>,
  loss?: WorkerLoss,
): readonly Operation[] {
  const { attempt, losses, version, uuid, path } = request;
  const all = [...(losses ?? []), ...(loss === undefined ? [] : [loss])];
  const record = restated(request, {
    state: { kind: 'requested' },
    attempt: attempt + 1,
    ...(all.length === 0 ? {} : { losses: all }),
  });
  return unclaimed(queue.claimPath(uuid), set(path, record, version));
}

/** Removes an abandoned request; its result event rides in the same multi. Fails with `NodeExists` when it has a claim. */
export function discarded<T extends Requestable>(
  queue: Pick<RequestQueue<T>, 'claimPath' | 'cancelPath'>,
  { request, cancelled }: Abandoned<T>,
): readonly Operation[] {
  const operations = unclaimed(queue.claimPath(request.uuid), ...removalOf(request));
  return cancelled ? [...operations, remove(queue.cancelPath(request.uuid))] : operations;
}

/** Marks, to stop or to go on, whose requests are gone. Each removal is its own operation; any of them may fail. */
export async function staleMarks<T extends Requestable>(
  queue: Pick<
    RequestQueue<T>,
    'store' | 'cancelledPath' | 'cancelPath' | 'resumedPath' | 'resumePath' | 'pathsOf'
  >,
): Promise<readonly Operation[]> {
  const cancelled = (await queue.store.children(queue.cancelledPath)) ?? [];
  const resumed = (await queue.store.children(queue.resumedPath)) ?? [];
  if (cancelled.length + resumed.length === 0) return [];
  const present = await queue.pathsOf([...cancelled, ...resumed]);
  const stale = (uuids: readonly string[]) => uuids.filter(uuid => !present.has(uuid));
  return [
    ...stale(cancelled).map(uuid => remove(queue.cancelPath(uuid))),
    ...stale(resumed).map(uuid => remove(queue.resumePath(uuid))),
  ];
}

/**
 * Bodies without a request: an operator removed the request, or a process died between the parts of a withdrawal. A commit that
 * is carried out in parts writes the body first, so one is stale only when it was without a request the sweep before.
 */
export interface BodySweeper {
  /** Each removal is its own operation; any of them may fail. Its first call gives none. */
  stale(): Promise<readonly Operation[]>;
}

/** One for each term of the sweeper and queue. */
export function createBodySweeper<T extends Requestable>(
  queue: Pick<RequestQueue<T>, 'store' | 'bodiesPath' | 'bodyPath' | 'pathsOf'>,
): BodySweeper {
  let before: ReadonlySet<string> = new Set();
  return {
    async stale() {
      const bodies = (await queue.store.children(queue.bodiesPath)) ?? [];
      const present = bodies.length === 0 ? new Map() : await queue.pathsOf(bodies);
      const alone = bodies.filter(uuid => !present.has(uuid));
      const twice = alone.filter(uuid => before.has(uuid));
      before = new Set(alone);
      return twice.map(uuid => remove(queue.bodyPath(uuid)));
    },
  };
}

/** Creating and removing the claim in one multi proves that there is none. */
function unclaimed(claim: string, ...operations: readonly Operation[]): readonly Operation[] {
  return [create(claim, undefined, { ephemeral: true }), ...operations, remove(claim)];
}
