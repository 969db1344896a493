import { addMilliseconds, type Clock, systemClock } from '../../src/lib/clock.ts';

/** The system's clock, but hours pass in no time. What waits for a timer waits as long as ever. */
export interface SkippingClock extends Clock {
  skip(ms: number): void;
}

export function skippingClock(): SkippingClock {
  const clock = systemClock();
  let skipped = 0;
  return {
    now: () => addMilliseconds(clock.now(), skipped),
    monotonic: () => clock.monotonic() + skipped,
    skip(ms) {
      skipped += ms;
    },
  };
}
