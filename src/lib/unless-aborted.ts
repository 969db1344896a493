/** Work that is awaited until a signal says that it takes too long. */

/**
 * Does not begin when the signal is aborted. Work that has begun goes on to its end, and its outcome is dropped, unless it heeds the
 * signal itself.
 *
 * @returns undefined: aborted first. @throws what the work throws before.
 */
export async function unlessAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const aborted = Promise.withResolvers<undefined>();
  const giveUp = () => aborted.resolve(undefined);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await Promise.race([aborted.promise, work()]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
