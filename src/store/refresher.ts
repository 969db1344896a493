/**
 * Keeps a copy fresh: however many changes ask for it, one reading at a time, and one that began after the last of them.
 *
 *     const copy = createRefresher(async () => { names = await store.children(path) }, onError);
 *     store.watch(path, () => void copy.touch());     // a burst of changes is one reading
 *     await copy.touch();                             // the first one
 */
import type { Store } from './port.ts';

export interface Refresher extends Disposable {
  /** Something may have changed. Resolves when a reading that began after this call has ended, well or not. */
  touch(): Promise<void>;
}

/** @param onError told of a reading that failed; the copy stays as it is until something changes again. */
export function createRefresher(read: () => Promise<void>, onError: (error: unknown) => void): Refresher {
  let last: Promise<void> = Promise.resolve();
  let isWaiting = false;
  let isOver = false;

  async function readUnlessOver(): Promise<void> {
    isWaiting = false;
    if (isOver) return;
    try {
      await read();
    } catch (error) {
      if (!isOver) onError(error);
    }
  }

  return {
    touch() {
      if (!isWaiting) {
        isWaiting = true;
        last = last.then(readUnlessOver);
      }
      return last;
    },
    [Symbol.dispose]() {
      isOver = true;
    },
  };
}

/** Reads again whenever contact with the store is regained: a reading that failed meanwhile has no other event. */
export function touchOnContact(store: Pick<Store, 'onSessionState'>, copy: Refresher): Disposable {
  return store.onSessionState(state => {
    if (state === 'connected') void copy.touch();
  });
}
