/**
 * Slots of semaphores that a process holds for as long as it does something: the executor, for a playbook. They lie beside those of
 * builds (`semaphore-slots.ts`) and count like them, but they are ephemeral: any end of the process, or of its session, frees them.
 *
 *     const held = await holdSlots({ store, paths }, [{ name: 'staging', scope: 'tenant', max: 1 }], holder, { signal, onFull });
 *     …
 *     await held?.release();
 *
 * A process takes all the slots that it asks for in one write, or none, so that no two hold one each and wait for the other's.
 */
import { createDirty } from '../lib/signal.ts';
import { semaphoreHolderCodec } from '../model/codec/records.ts';
import {
  freeSlot,
  type SemaphoreHold,
  type SemaphoreHolder,
  type WantedSemaphore,
} from '../model/semaphore.ts';
import { connected, settle, withRetry } from './connection.ts';
import type { StorePaths } from './paths.ts';
import { create, remove, type Store, StoreError } from './port.ts';
import { holderIn, slotPath, takenSlots } from './semaphore-slots.ts';

/** Slots that are held until they are released, or the session ends. */
export interface HeldSlots {
  /** Durable when it resolves; resolves as well when the session is over, which frees them too. */
  release(): Promise<void>;
}

/** How to wait for slots. */
export interface SlotWait {
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called once, when not all can be had at once, with some of those that hold them; builds of other tenants are left out. */
  onFull(heldBy: readonly SemaphoreHolder[]): void;
}

interface Place {
  readonly store: Store;
  readonly paths: StorePaths;
}

/** @returns undefined when the signal aborted first. @throws StoreError `SessionExpired` when the session is over. */
export async function holdSlots(
  place: Place,
  wanted: readonly WantedSemaphore[],
  holder: SemaphoreHolder,
  wait: SlotWait,
): Promise<HeldSlots | undefined> {
  const { store, paths } = place;
  const { signal } = wait;
  const changed = createDirty(true);
  using watches = new DisposableStack();
  for (const { scope, name } of wanted)
    watches.use(store.watch(paths.semaphore(holder.tenant, scope, name), () => changed.set()));
  watches.use(store.onSessionState(() => changed.set()));
  let reported = false;
  while (await isDue(store, changed, signal)) {
    const taken = await settle(store, () => takeAll(place, wanted, holder));
    if (taken.kind === 'full' && !reported) {
      reported = true;
      wait.onFull(await settle(store, () => holdersOf(store, taken.full, holder)));
    }
    if (taken.kind === 'again') changed.set();
    if (taken.kind !== 'held') continue;
    const held = { release: () => releaseAll(store, taken.slots, holder) };
    if (!signal.aborted) return held;
    await held.release();
  }
  return undefined;
}

async function isDue(
  store: Store,
  changed: ReturnType<typeof createDirty>,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await changed.wait(signal);
    await connected(store, signal);
    return true;
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  }
}

/** `again`: another process was faster. `full`: slots that are taken, of those without a free one. */
type Taken =
  | { readonly kind: 'held'; readonly slots: readonly string[] }
  | { readonly kind: 'full'; readonly full: readonly string[] }
  | { readonly kind: 'again' };

async function takeAll(
  { store, paths }: Place,
  wanted: readonly WantedSemaphore[],
  holder: SemaphoreHolder,
): Promise<Taken> {
  const holds: SemaphoreHold[] = [];
  const full: string[] = [];
  for (const { name, scope, max } of wanted) {
    const directory = paths.semaphore(holder.tenant, scope, name);
    const taken = await takenSlots(store, directory);
    const slot = freeSlot(taken, max);
    if (slot === undefined) full.push(...[...taken].map(each => `${directory}/${each}`));
    else holds.push({ name, scope, slot });
  }
  if (holds.length < wanted.length) return { kind: 'full', full };
  const slots = holds.map(hold => slotPath(paths, holder.tenant, hold));
  const data = semaphoreHolderCodec.encode(holder);
  try {
    await withRetry(
      store,
      () => store.multi(slots.map(slot => create(slot, data, { ephemeral: true }))),
      async () => (await ownOf(store, slots, holder)).length > 0,
    );
    return { kind: 'held', slots };
  } catch (error) {
    // Another process took one of them, or the sweeper removed an empty directory.
    if (error instanceof StoreError && ['NodeExists', 'NoNode'].includes(error.code))
      return { kind: 'again' };
    throw error;
  }
}

/** Those slots that this holder has: other builds of the process are of the same session. */
async function ownOf(
  store: Store,
  slots: readonly string[],
  { build }: SemaphoreHolder,
): Promise<readonly string[]> {
  const nodes = await store.getMany(slots);
  return slots.filter((_, index) => {
    const node = nodes[index];
    return node?.stat.ephemeralOwner === store.sessionId && holderIn(node.data)?.build === build;
  });
}

async function releaseAll(store: Store, slots: readonly string[], holder: SemaphoreHolder): Promise<void> {
  try {
    await withRetry(
      store,
      () => store.multi(slots.map(slot => remove(slot))),
      async () => (await ownOf(store, slots, holder)).length === 0,
    );
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    // With the session they are gone already.
    if (['SessionExpired', 'Closed'].includes(error.code)) return;
    // An operator removed one: the others must not stay.
    if (error.code !== 'NoNode') throw error;
    const left = await settle(store, () => ownOf(store, slots, holder));
    if (left.length > 0) await releaseAll(store, left, holder);
  }
}

const MOST_NAMED = 3;

async function holdersOf(
  store: Store,
  slots: readonly string[],
  { tenant }: SemaphoreHolder,
): Promise<readonly SemaphoreHolder[]> {
  const nodes = await store.getMany(slots.slice(0, MOST_NAMED));
  return nodes.flatMap(node => {
    const holder = node === undefined ? undefined : holderIn(node.data);
    return holder?.tenant === tenant ? [holder] : [];
  });
}
