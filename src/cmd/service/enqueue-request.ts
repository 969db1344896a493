/**
 * Stores an operator's request to enqueue a change. Whether there is such a change only its host knows: where we have never heard of
 * it, the answer waits a moment for the scheduler that asks.
 */
import { createDirty } from '../../lib/signal.ts';
import { connectionOfKey } from '../../model/change.ts';
import { tenantEventCodec } from '../../model/codec/records.ts';
import type { TenantEvent } from '../../model/event.ts';
import type { RequestedChange } from '../../model/management-event.ts';
import { EventQueue } from '../../store/event-queue.ts';
import type { Store } from '../../store/port.ts';
import type { EnqueueRequest } from '../../web/deps.ts';
import { type RequestCore, requestOrigin } from './operator-requests.ts';

/** Milliseconds for which the answer waits; the request goes on without it. */
const LONGEST_WAIT = 5_000;

/** Resolves when the request is durable. @returns `no-such-change`: the host says so; true also where that is not known yet. */
export async function storeEnqueue(
  core: RequestCore,
  store: Store,
  request: EnqueueRequest,
): Promise<'stored' | 'no-such-change'> {
  const { paths, clock } = core;
  const { tenant, pipeline, wanted } = request;
  const origin = requestOrigin(core, request);
  const path = paths.tenant(tenant).triggerQueue;
  const queue = new EventQueue<TenantEvent>({ store, path, codec: tenantEventCodec, clock });
  const queuedAt = origin.management.storedAt;
  const isKnown = await isInCache(core, store, wanted);
  const put = queue.put({ kind: 'enqueue', ...{ tenant, pipeline, wanted, queuedAt }, ...origin });
  const [stored] = await store.multi(put);
  if (isKnown || stored === undefined || !(await isTaken(store, stored.path))) return 'stored';
  return (await isInCache(core, store, wanted)) ? 'stored' : 'no-such-change';
}

/** A ref is no change that a host has to know. */
async function isInCache({ paths }: RequestCore, store: Store, wanted: RequestedChange): Promise<boolean> {
  if (wanted.kind === 'ref') return true;
  const { key } = wanted;
  return (await store.get(paths.cachedChange(connectionOfKey(key), key))) !== undefined;
}

/** False: no scheduler has taken the event in time. */
async function isTaken(store: Store, path: string): Promise<boolean> {
  const dirty = createDirty(true);
  using watch = store.watch(path, () => dirty.set());
  void watch;
  const signal = AbortSignal.timeout(LONGEST_WAIT);
  try {
    for (;;) {
      await dirty.wait(signal);
      if ((await store.get(path)) === undefined) return true;
    }
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}
