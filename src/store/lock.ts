/**
 * A lock among sessions, in the order they asked: an ephemeral, sequential child per contender, the lowest number holds.
 *
 * Each contender watches only the one before it, so a release wakes one. A child is named `<guid>-<session id>-lock-<seq>`:
 * when the reply to its creation is lost, only a child with our guid *and* our session id is ours (a child of our previous,
 * dying session would vanish while we rely on it).
 *
 * A lock only decides who acts. Effects under it must also be fenced: see fence.ts.
 */
import { isConnectionLoss, settle } from './connection.ts';
import { ensureNode } from './ensure-node.ts';
import { create, remove, type Store, StoreError } from './port.ts';

/** One attempt to get a lock; each attempt is a contender of its own. */
export interface LockRequest {
  /** Parent of the contenders; created when missing. */
  readonly path: string;
  /** Unique per attempt: a fresh uuid. */
  readonly guid: string;
  /** Stops waiting. */
  readonly signal?: AbortSignal | undefined;
}

/** A lock that is held, until its release or the end of the session. */
export interface Lock {
  /** Our child: it exists exactly as long as we hold the lock. */
  readonly path: string;
  /** Idempotent; also fine when the session is over. */
  release(): Promise<void>;
}

/**
 * Waits until the lock is ours.
 *
 * @throws StoreError `SessionExpired` or `Closed` when the session ends meanwhile; the signal's reason when aborted.
 */
export async function acquireLock(store: Store, request: LockRequest): Promise<Lock> {
  const { path, guid, signal } = request;
  await ensureNode(store, path, signal);
  const own = `${path}/${await contend(store, path, `${guid}-${store.sessionId}-lock-`, signal)}`;
  try {
    await waitForTurn(store, path, own, signal);
  } catch (error) {
    await removeOwn(store, own);
    throw error;
  }
  return { path: own, release: () => removeOwn(store, own) };
}

/** @returns the name of our child. */
async function contend(store: Store, path: string, prefix: string, signal?: AbortSignal): Promise<string> {
  for (;;) {
    signal?.throwIfAborted();
    try {
      const made = await store.multi([
        create(`${path}/${prefix}`, undefined, { ephemeral: true, sequential: true }),
      ]);
      return (made[0]?.path ?? '').slice(path.length + 1);
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
    }
    // Not abortable: a child that was created must be found, or it would stay until the session ends.
    const names = await settle(store, () => store.children(path));
    const ours = names?.find(name => name.startsWith(prefix));
    if (ours !== undefined) return ours;
  }
}

async function waitForTurn(store: Store, path: string, own: string, signal?: AbortSignal): Promise<void> {
  for (;;) {
    signal?.throwIfAborted();
    const names = await settle(store, () => store.children(path), signal);
    const order = inLockOrder(names ?? []);
    const place = order.findIndex(name => `${path}/${name}` === own);
    if (place === -1) throw new StoreError('SessionExpired', own);
    const before = order[place - 1];
    if (before === undefined) return;
    await goneOrChanged(store, `${path}/${before}`, signal);
  }
}

/** By number, regardless of the prefix. */
export function inLockOrder(names: readonly string[]): readonly string[] {
  return names.toSorted((a, b) => Number(a.slice(-10)) - Number(b.slice(-10)));
}

/** Returns when `path` is gone, or when a fresh look is needed (missed events, connection regained). */
async function goneOrChanged(store: Store, path: string, signal?: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  using _watch = store.watch(path, event => {
    if (event.kind === 'deleted' || event.kind === 'resync') wake();
  });
  using _state = store.onSessionState(wake);
  signal?.addEventListener('abort', wake, { once: true }); // the caller checks the signal itself
  try {
    if ((await settle(store, () => store.get(path), signal)) !== undefined) await promise;
  } finally {
    signal?.removeEventListener('abort', wake);
  }
}

async function removeOwn(store: Store, own: string): Promise<void> {
  for (;;) {
    try {
      await store.multi([remove(own)]);
      return;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      // Already gone, or ends with the session.
      if (error.code === 'NoNode' || error.code === 'SessionExpired' || error.code === 'Closed') return;
      if (error.code !== 'ConnectionLoss') throw error;
    }
    const over = await settle(store, async () => false).catch(trueIfEnded);
    if (over) return;
  }
}

/** @returns true for the error of an ended session. */
function trueIfEnded(error: unknown): boolean {
  if (error instanceof StoreError && (error.code === 'SessionExpired' || error.code === 'Closed'))
    return true;
  throw error;
}
