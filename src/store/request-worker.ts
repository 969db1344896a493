/**
 * Requests for workers, from the worker's side: wait for one, claim it, report, complete.
 *
 *     const worker = createRequestWorker(requests, { worker: 'executor1', clock, accepts: request => fits(request) });
 *     for (;;) {
 *       const claim = await worker.next(signal);
 *       const result = await run(claim.request.value, AbortSignal.any([claim.cancelled, claim.lost]));
 *       await claim.complete(events.put(result));            // request removed and result stored in one transaction
 *     }
 */
import type { Clock } from '../lib/clock.ts';
import { withRetry } from './connection.ts';
import { create, type Store, StoreError, set } from './port.ts';
import { readNow } from './read-now.ts';
import { Claim } from './request-claim.ts';
import type { Requestable, RequestQueue } from './request-queue.ts';
import { keptOf, parseRequestName, type RequestName } from './request-record.ts';
import { isReadable, restated, type StoredRequest } from './stored-request.ts';
import { wakeUps } from './wake-ups.ts';

/** Passed by a merger or an executor for its own queue. */
export interface WorkerOptions<T> {
  /** Name of the worker, for people to read. */
  readonly worker: string;
  readonly clock: Pick<Clock, 'now'>;
  /** Requests that it may take, by their names alone: others are not read. Default: all. */
  readonly isFor?: (name: Pick<RequestName, 'zone'>) => boolean;
  /** Whether this worker can serve the request; default: any. */
  readonly accepts?: (request: T, stored: Pick<StoredRequest<T>, 'granted'>) => boolean;
}

/** Number of requests read in one call: usually the first one fits. */
const READ_AT_ONCE = 8;

/** Waits for requests again and again; remembers those it does not accept, so that they are not read again. */
export interface RequestWorker<T extends Requestable> {
  /**
   * Waits for a request this worker accepts and claims it, the most urgent first.
   *
   * @throws the signal's reason when aborted; StoreError `SessionExpired` when the session is over.
   */
  next(signal: AbortSignal): Promise<Claim<T>>;
}

/** @param queue whose parents exist. A worker may call `next` again while its earlier claims are still open. */
export function createRequestWorker<T extends Requestable>(
  queue: RequestQueue<T>,
  options: WorkerOptions<T>,
): RequestWorker<T> {
  let declined: ReadonlySet<string> = new Set();

  /** @returns names that are not claimed and not declined by us, in order of service. */
  async function candidates(signal: AbortSignal): Promise<readonly string[]> {
    const { names, claimed } = await readNow(queue.store, () => queue.overview(), signal);
    const waiting = new Map(
      names.flatMap(name => {
        const parsed = parseRequestName(name);
        if (parsed !== undefined && options.isFor?.(parsed) === false) return [];
        return [[parsed?.uuid ?? '', name] as const];
      }),
    );
    declined = declined.intersection(waiting);
    return [...waiting].flatMap(([uuid, name]) => (claimed.has(uuid) || declined.has(uuid) ? [] : [name]));
  }

  /** A request never changes what it asks for: once declined, always declined. */
  function accepts(stored: StoredRequest<T>): boolean {
    const { uuid, value } = stored;
    if (options.accepts?.(value, stored) !== false) return true;
    declined = new Set(declined).add(uuid);
    return false;
  }

  async function claimFirst(signal: AbortSignal): Promise<Claim<T> | undefined> {
    const free = await candidates(signal);
    for (let at = 0; at < free.length; at += READ_AT_ONCE) {
      const page = free.slice(at, at + READ_AT_ONCE);
      const requests = await readNow(queue.store, () => queue.read(page), signal);
      for (const request of requests) {
        if (!isReadable(request) || request.state.kind !== 'requested' || !accepts(request)) continue;
        signal.throwIfAborted();
        const claim = await claimRequest(queue, request, options);
        if (claim !== undefined) return claim;
      }
    }
    return undefined;
  }

  return {
    async next(signal) {
      const concerns = (event: { readonly kind: string }): boolean => event.kind !== 'deleted';
      for await (const _ of wakeUps(queue.store, queue.queuePath, signal, concerns)) {
        const claim = await claimFirst(signal);
        if (claim !== undefined) return claim;
      }
      throw signal.reason;
    },
  };
}

/** @returns undefined when another worker was first. */
export async function claimRequest<T extends Requestable>(
  queue: RequestQueue<T>,
  request: StoredRequest<T>,
  { worker, clock }: WorkerOptions<T>,
): Promise<Claim<T> | undefined> {
  const { store } = queue;
  const claimPath = queue.claimPath(request.uuid);
  const at = clock.now();
  const state = { kind: 'taken', worker, at, session: store.sessionId } as const;
  const taken = restated(request, { state, ...keptOf(request) });
  const token = `${worker} ${at}`;
  const claim = create(claimPath, new TextEncoder().encode(token), { ephemeral: true });
  try {
    await withRetry(
      store,
      () => store.multi([claim, set(request.path, taken, request.version)]),
      () => isOurs(store, claimPath, token),
    );
    return new Claim({ queue, request, claimPath });
  } catch (error) {
    if (error instanceof StoreError && ['NodeExists', 'BadVersion', 'NoNode'].includes(error.code))
      return undefined;
    throw error;
  }
}

async function isOurs(store: Store, claimPath: string, token: string): Promise<boolean> {
  const node = await store.get(claimPath);
  return node?.stat.ephemeralOwner === store.sessionId && new TextDecoder().decode(node.data) === token;
}
