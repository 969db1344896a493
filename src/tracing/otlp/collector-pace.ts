/** When the next request may be sent. The back-off is the collector's, not that of a batch: while it fails, all batches wait. */
import { type Backoff, backoffDelay } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';

/** One per sender, shared by its concurrent requests. In memory only: a restarted process begins without a wait. */
export interface CollectorPace {
  /** Milliseconds until the next request; 0: now. */
  waitMs(): number;
  /** Waits at least as long as the collector asks, up to {@link LONGEST_WAIT_MS}. @returns whether this is the first failure in a row. */
  failed(afterMs: number | undefined): boolean;
  /** Ends the back-off. @returns the number of failures since the last success. */
  worked(): number;
}

/** Time and randomness of the back-off; tests set both. */
export interface PaceDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  /** Default: at most 0.5 s before the first retry, doubling to 30 s. */
  readonly backoff?: Backoff;
}

const BACKOFF: Backoff = { firstMs: 500, maxMs: 30_000 };
/** Longest wait that a collector can ask for. */
const LONGEST_WAIT_MS = 300_000;

/** Begins without a wait. Requests that fail together count as one failure, so that eight in flight do not double the wait eight times. */
export function collectorPace({ clock, random, backoff = BACKOFF }: PaceDeps): CollectorPace {
  let failures = 0;
  let notBefore = 0;
  const waitMs = () => Math.max(0, notBefore - clock.monotonic());
  return {
    waitMs,
    failed(afterMs) {
      // Requests that failed together count as one failure of the collector.
      const first = failures === 0;
      if (waitMs() === 0) failures += 1;
      const wait = Math.max(backoffDelay(backoff, failures, random()), afterMs ?? 0);
      notBefore = Math.max(notBefore, clock.monotonic() + Math.min(LONGEST_WAIT_MS, wait));
      return first;
    },
    worked() {
      const between = failures;
      failures = 0;
      return between;
    },
  };
}
