/**
 * Keeps a copy fresh: one read at a time however many changes ask for it, and always one that began after the last of them.
 *
 *     const read = async () => { names = await store.children(path) };
 *     using copy = createPathRefresher(store, path, read, { onError });     // a burst of changes is one read
 *     await copy.touch();                                                   // the first read
 */
import type { Store, WatchEvent } from './port.ts';

/** Disposing of it ends the reads; a read under way no longer reports its error. */
export interface Refresher extends Disposable {
  /** Something may have changed. Resolves when a read that began after this call has ended, successfully or not. */
  touch(): Promise<void>;
}

interface PathRefresherOptions {
  /** Called for a failed read; the copy stays as it is until the next event. */
  readonly onError: (error: unknown) => void;
  /** False: the copy is the same after this event. Default: all matter. */
  readonly matters?: (event: WatchEvent) => boolean;
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

/**
 * A refresher for what is at `path`. It reads after each event there that matters, and whenever contact with the store is regained:
 * no other event follows a read that failed meanwhile. Nothing is read before the first `touch`.
 */
export function createPathRefresher(
  store: Pick<Store, 'watch' | 'onSessionState'>,
  path: string,
  read: () => Promise<void>,
  { onError, matters = () => true }: PathRefresherOptions,
): Refresher {
  const copy = createRefresher(read, onError);
  const watch = store.watch(path, event => void (matters(event) && copy.touch()));
  const contact = store.onSessionState(state => void (state === 'connected' && copy.touch()));
  return {
    touch: copy.touch,
    [Symbol.dispose]() {
      watch[Symbol.dispose]();
      contact[Symbol.dispose]();
      copy[Symbol.dispose]();
    },
  };
}
