/**
 * How many spans each caller may hand over: so many at once, and as many again with every minute. It bounds what one can
 * push through our outbox, whatever their token lets them do.
 */
import type { Clock } from '../lib/clock.ts';

/** Spans one may hand over at once, and in a minute in the long run. */
export const SPANS_PER_MINUTE = 12_000;
/** Callers remembered; the one that came first is forgotten, and has its whole quota again. */
const MOST_CALLERS = 1000;

export interface SpanQuota {
  /** @returns how many of `wanted` the caller may hand over now; they count. */
  take(caller: string, wanted: number): number;
}

export function spanQuota(clock: Pick<Clock, 'monotonic'>): SpanQuota {
  const callers = new Map<string, { readonly left: number; readonly at: number }>();
  return {
    take(caller, wanted) {
      const now = clock.monotonic();
      const known = callers.get(caller) ?? { left: SPANS_PER_MINUTE, at: now };
      const grown = known.left + ((now - known.at) / 60_000) * SPANS_PER_MINUTE;
      const left = Math.min(SPANS_PER_MINUTE, grown);
      const granted = Math.min(wanted, Math.floor(left));
      callers.delete(caller);
      callers.set(caller, { left: left - granted, at: now });
      const [first] = callers.keys();
      if (callers.size > MOST_CALLERS && first !== undefined) callers.delete(first);
      return granted;
    },
  };
}
