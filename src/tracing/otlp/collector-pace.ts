/** When the collector may be asked again: its own pace, not that of one batch. While it fails, everybody waits. */
import { type Backoff, backoffDelay } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';

export interface CollectorPace {
  /** Milliseconds until the next request; 0: now. */
  waitMs(): number;
  /** Waits at least as long as the collector asks, within {@link LONGEST_WAIT_MS}. Returns whether it worked until now. */
  failed(afterMs: number | undefined): boolean;
  /** Returns how often it failed in between. */
  worked(): number;
}

export interface PaceDeps {
  readonly clock: Pick<Clock, 'monotonic'>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
  readonly backoff?: Backoff;
}

const BACKOFF: Backoff = { firstMs: 500, maxMs: 30_000 };
/** Longest wait we grant a collector that asks for one. */
const LONGEST_WAIT_MS = 300_000;

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
