/**
 * How long to wait before trying again: doubling, with a bound and jitter, so that many who failed together do not come
 * back together.
 */
export interface Backoff {
  /** Longest wait before the first retry, milliseconds. */
  readonly firstMs: number;
  /** Longest wait ever, milliseconds. */
  readonly maxMs: number;
}

/**
 * Milliseconds before retry number `attempt`: between half and all of `firstMs * 2^(attempt-1)`, at most `maxMs`.
 *
 * @param attempt 1 for the first retry.
 * @param random uniform in [0, 1), e.g. `Math.random()`; 0.5 in tests.
 */
export function backoffDelay(backoff: Backoff, attempt: number, random: number): number {
  const longest = Math.min(backoff.maxMs, backoff.firstMs * 2 ** Math.min(attempt - 1, 30));
  return longest * (0.5 + random / 2);
}
