/**
 * A dirty flag one loop waits for: set any number of times, seen once.
 *
 *     for (;;) { await dirty.wait(signal); await work(); }      // a set() during work() makes the next wait return immediately
 */
export interface Dirty {
  set(): void;
  /** Returns when it was set since the last return. Rejects with the signal's reason when aborted. */
  wait(signal: AbortSignal): Promise<void>;
}

/** @param initially true: the first `wait` returns immediately, for a loop that works once before anything happens. */
export function createDirty(initially = false): Dirty {
  let isSet = initially;
  let wake: (() => void) | undefined;
  return {
    set() {
      isSet = true;
      wake?.();
    },
    async wait(signal) {
      signal.throwIfAborted();
      if (!isSet) {
        await new Promise<void>((resolve, reject) => {
          const abort = () => reject(signal.reason);
          signal.addEventListener('abort', abort, { once: true });
          wake = () => {
            signal.removeEventListener('abort', abort);
            resolve();
          };
        });
        wake = undefined;
      }
      isSet = false;
    },
  };
}
