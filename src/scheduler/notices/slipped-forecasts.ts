/** Items that will land much later than was first forecast. Pure. */
import type { Forecast } from '../../forecast/forecast.ts';
import { durationText } from '../../lib/duration-text.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { ItemNotice } from './turn-notices.ts';

/** The likely time, milliseconds since the epoch; undefined: no landing is forecast. */
export function likelyLanding(forecast: Forecast | undefined): number | undefined {
  return forecast?.kind === 'known' && forecast.lands > 0 ? forecast.likely : undefined;
}

/** Milliseconds that a forecast moves at most in a millisecond, while nothing happens to the queue: see `src/forecast/remaining.ts`. */
const FASTEST = 1.5;

/**
 * Milliseconds before which it cannot have moved too far, unless something happens to the queue; 0: it has.
 *
 * @param said what was forecast first, and `likely` what is now: milliseconds since the epoch.
 */
export function untilSlipped(said: number, likely: number, slippedByMs: number): number {
  return Math.max(0, (slippedByMs - (likely - said)) / FASTEST);
}

/** What people read. @param now milliseconds since the epoch. */
export function slippedNotice(item: QueueItem, said: number, likely: number, now: number): ItemNotice {
  const left = durationText(Math.max(0, likely - now));
  return {
    item,
    notice: { event: 'eta-slipped', cause: '' },
    headline: `Expected in ${left} (${item.pipeline}), ${durationText(likely - said)} later than first forecast.`,
    occasion: { action: 'start', result: '' },
  };
}
