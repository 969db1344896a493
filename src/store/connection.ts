/** Waiting out a lost connection: the first step of every answer to `ConnectionLoss`. */
import { backoffDelay } from '../lib/backoff.ts';
import { pause } from '../lib/pause.ts';
import { type Store, StoreError } from './port.ts';

/** True for the one error that leaves open whether the operation was applied. */
export function isConnectionLoss(error: unknown): error is StoreError {
  return error instanceof StoreError && error.code === 'ConnectionLoss';
}

/** True for errors that say nothing about the operation, only that the store could not be reached or the session is over. */
export function isOutOfContact(error: unknown): error is StoreError {
  return error instanceof StoreError && ['ConnectionLoss', 'SessionExpired', 'Closed'].includes(error.code);
}

/**
 * Returns when the session is connected.
 *
 * @throws StoreError `SessionExpired` when it is over; the signal's reason when aborted.
 */
export async function connected(store: Store, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  if (store.sessionState === 'suspended') await leftSuspension(store, signal);
  if (store.sessionState === 'lost') throw new StoreError('SessionExpired', '/');
}

async function leftSuspension(store: Store, signal: AbortSignal | undefined): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  signal?.addEventListener('abort', wake, { once: true });
  using _ = store.onSessionState(state => {
    if (state !== 'suspended') resolve();
  });
  await promise;
  signal?.removeEventListener('abort', wake);
  signal?.throwIfAborted();
}

/**
 * Reads after a lost reply: waits until connected and caught up with everything committed before, then calls `ask`. Repeats
 * when the connection breaks meanwhile, until it succeeds or the session ends.
 *
 * @throws StoreError `SessionExpired` when the session ends first.
 */
export async function settle<T>(store: Store, ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    await connected(store, signal);
    try {
      await store.sync();
      return await ask();
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
    }
    // Without jitter: each session waits only for itself. A store that fails while connected (full disk) emits no event.
    await pause(backoffDelay(RETRY, attempt, 0), signal ?? NEVER);
  }
}

const RETRY = { firstMs: 10, maxMs: 1000 };
const NEVER = new AbortController().signal;

/**
 * Repeats a write until it is known to be applied: after each lost reply `isDone` decides whether to send it again.
 *
 * @throws StoreError every other failure of the write.
 */
export async function withRetry(
  store: Store,
  write: () => Promise<unknown>,
  isDone: () => Promise<boolean>,
): Promise<void> {
  for (;;) {
    try {
      await write();
      return;
    } catch (error) {
      if (!isConnectionLoss(error)) throw error;
    }
    if (await settle(store, isDone)) return;
  }
}
