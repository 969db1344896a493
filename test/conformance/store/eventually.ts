/** Waits for outcomes with a deadline, never for a time. */
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';

/**
 * Calls `probe` until it neither throws nor returns false; its last failure is the test's.
 *
 * @returns what `probe` returned.
 */
export async function eventually<T>(probe: () => T | Promise<T>, deadlineMs = 60_000): Promise<T> {
  const end = performance.now() + deadlineMs;
  for (;;) {
    let failure: unknown = new Error('condition not met');
    try {
      const value = await probe();
      if (value !== false) return value;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > end) throw failure;
    await (end - performance.now() > deadlineMs - 20 ? nextTurn() : pause(5));
  }
}
