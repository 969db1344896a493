/**
 * How long to wait before a retry: doubling, with a limit and jitter, so that many clients that failed together do not come
 * back together.
 */
export interface Backoff {
  /** Longest wait before the first retry, milliseconds. */
  readonly firstMs: number;
  /** Longest wait of all, milliseconds. */
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
