import type { Clock } from './clock.ts';

/** Tokens that are refilled at a steady rate, up to a maximum. */
export interface TokenBucket {
  /** Takes one. @returns 0, or, when there is none, the seconds until there is one: then nothing is taken. */
  take(): number;
}

/** @param size tokens at first, and at most. @param perSecond how many are refilled. */
export function createTokenBucket(
  size: number,
  perSecond: number,
  clock: Pick<Clock, 'monotonic'>,
): TokenBucket {
  let tokens = size;
  let at = clock.monotonic();
  return {
    take() {
      const now = clock.monotonic();
      tokens = Math.min(size, tokens + ((now - at) / 1000) * perSecond);
      at = now;
      if (tokens < 1) return (1 - tokens) / perSecond;
      tokens -= 1;
      return 0;
    },
  };
}
