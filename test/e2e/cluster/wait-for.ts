/** Waits for a condition, never for time. */
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds until a test gives up; loaded machines are slow. */
export const DEADLINE = Number(process.env.GATEHOUSE_STORY_DEADLINE ?? 90_000);
const LOOK_AGAIN = 50;

/** @throws Error naming `what` after the deadline; `look` may fail meanwhile, its last failure is the cause. */
export async function waitFor<T>(
  what: string,
  look: () => Promise<T | undefined | false> | T | undefined | false,
  deadlineMs = DEADLINE,
): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  let failure: unknown;
  for (;;) {
    try {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      failure = undefined;
    } catch (error) {
      failure = error;
    }
    if (performance.now() > deadline)
      throw new Error(`waited ${Math.round(deadlineMs / 1000)} s in vain for ${what}`, { cause: failure });
    await delay(LOOK_AGAIN);
  }
}
