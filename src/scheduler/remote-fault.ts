/**
 * The host cannot be reached: nothing is wrong with what was asked for its sake, and asking again will do. Drivers say so on
 * the error (`retryable`).
 */
export function isRemoteFault(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error && error.retryable === true;
}

/** Milliseconds before the second, third, ... attempt; the last one repeats. */
export const REMOTE_PAUSES = [100, 500, 2_000, 5_000, 15_000, 30_000] as const;
