import type { Wait } from './listener.ts';

/** Timers hold at most about 24 days. */
const LONGEST = 2 ** 31 - 1;

/** Waits on a timer; `Infinity` waits for the signal alone. */
export const waitOnTimer: Wait = (milliseconds, signal) =>
  new Promise(resolve => {
    if (signal.aborted) return resolve();
    const timer = Number.isFinite(milliseconds)
      ? setTimeout(done, Math.min(milliseconds, LONGEST))
      : undefined;
    signal.addEventListener('abort', done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    }
  });
