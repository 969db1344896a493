/**
 * Keeps a copy fresh: one read at a time however many changes ask for it, and always one that began after the last of them.
 *
 *     const copy = createRefresher(async () => { names = await store.children(path) }, onError);
 *     store.watch(path, () => void copy.touch());     // a burst of changes is one read
 *     await copy.touch();                             // the first read
 */
import type { Store } from './port.ts';

/** Disposing of it ends the reads; a read under way no longer reports its error. */
export interface Refresher extends Disposable {
  /** Something may have changed. Resolves when a read that began after this call has ended, successfully or not. */
  touch(): Promise<void>;
}

/** @param onError called for a failed read; the copy stays as it is until the next change. */
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

/** Reads again whenever contact with the store is regained: no other event follows a read that failed meanwhile. */
export function touchOnContact(store: Pick<Store, 'onSessionState'>, copy: Refresher): Disposable {
  return store.onSessionState(state => {
    if (state === 'connected') void copy.touch();
  });
}
