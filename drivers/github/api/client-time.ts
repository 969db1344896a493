/** Time, as the client reads it and waits for it. */
import type { Clock } from '../../../src/lib/clock.ts';

/** The real ones, or a test's. */
export interface ClientTime {
  readonly clock: Clock;
  /** Ends early when aborted. @param ms at most a second. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
}
