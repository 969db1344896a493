/** Timers hold at most about 24 days. */
const LONGEST = 2 ** 31 - 1;

/**
 * Waits for a back-off, never for a result; ends early, without an error, when aborted.
 *
 * @param ms milliseconds; `Infinity` waits for the signal alone.
 */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve();
    const timer = Number.isFinite(ms) ? setTimeout(done, Math.min(ms, LONGEST)) : undefined;
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
    signal.addEventListener('abort', done, { once: true });
  });
}
