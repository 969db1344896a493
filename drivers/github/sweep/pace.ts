/** How long a sweep waits for the next. Pure. */
import { millisecondsBetween, type Nanoseconds } from '../../../src/lib/clock.ts';

/** What decides. */
export interface PassOutcome {
  /** Deliveries fail, or GitHub does not show whether they do. */
  readonly isFailing: boolean;
  /** Events the pass found before their delivery. */
  readonly missed: number;
}

/** While webhooks cannot be relied on. Milliseconds. */
const FREQUENT = 60_000;
/** No webhook for so long: it may be broken, or switched off at GitHub. Milliseconds. */
const SILENCE = 300_000;

/** @returns milliseconds; at most `interval`, which is the pause while webhooks arrive. */
export function nextPause(
  { isFailing, missed }: PassOutcome,
  lastDeliveryAt: Nanoseconds | null,
  now: Nanoseconds,
  interval: number,
): number {
  const isSilent = lastDeliveryAt === null || millisecondsBetween(lastDeliveryAt, now) > SILENCE;
  return isFailing || isSilent || missed > 0 ? Math.min(FREQUENT, interval) : interval;
}
