/** Waiting for time to pass, where there is no event to wait for: retries. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Rejects with the signal's reason when aborted. Does not keep the process alive by itself once aborted. */
export const sleep: Sleep = async (ms, signal) => {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  const abort = (): void => reject(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
};
