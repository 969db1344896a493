/** Callers that want the same at the same time share one request. */
export interface SingleFlight<T> {
  /**
   * @param make must end by itself: an abort ends the caller's wait and not the request, which is others' as well.
   * @throws the signal's reason, and as `make`.
   */
  run(key: string, make: () => Promise<T>, signal: AbortSignal): Promise<T>;
}

export function createSingleFlight<T>(): SingleFlight<T> {
  const running = new Map<string, Promise<T>>();
  return {
    async run(key, make, signal) {
      signal.throwIfAborted();
      let shared = running.get(key);
      if (shared === undefined) {
        shared = make().finally(() => running.delete(key));
        running.set(key, shared);
      }
      return raced(shared, signal);
    },
  };
}

function raced<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
