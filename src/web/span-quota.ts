/**
 * How much of our outbox each caller may fill, and all of them together: so many bytes at once, and as many again with every
 * minute. The oldest rows give way when the outbox is full, and those may be our own: whatever their tokens let them do, others
 * cannot push them out.
 */
import type { Clock } from '../lib/clock.ts';

/** Bytes of spans, as they are stored, one may hand over at once, and in a minute in the long run. */
export const BYTES_PER_MINUTE = 8_000_000;
/** All callers together: what is stored of others in ten minutes without a collector leaves a default outbox room for ours. */
export const BYTES_PER_MINUTE_OF_ALL = 24_000_000;
/** Callers remembered; the one that came first is forgotten, and has its whole quota again. */
const MOST_CALLERS = 1000;

export interface SpanQuota {
  /**
   * @param sizes bytes of each span.
   * @returns how many of them, from the first on, may be stored now; these count.
   */
  take(caller: string, sizes: readonly number[]): number;
}

/** What was left, and when: it has grown since. */
interface Allowance {
  readonly left: number;
  readonly at: number;
}

export function spanQuota(clock: Pick<Clock, 'monotonic'>): SpanQuota {
  const callers = new Map<string, Allowance>();
  let all: Allowance = { left: BYTES_PER_MINUTE_OF_ALL, at: clock.monotonic() };
  return {
    take(caller, sizes) {
      const at = clock.monotonic();
      const own = leftAt(callers.get(caller), at, BYTES_PER_MINUTE);
      const ofAll = leftAt(all, at, BYTES_PER_MINUTE_OF_ALL);
      const { spans, bytes } = fitting(sizes, Math.min(own, ofAll));
      all = { left: ofAll - bytes, at };
      callers.delete(caller);
      callers.set(caller, { left: own - bytes, at });
      const [first] = callers.keys();
      if (callers.size > MOST_CALLERS && first !== undefined) callers.delete(first);
      return spans;
    },
  };
}

function leftAt(known: Allowance | undefined, at: number, perMinute: number): number {
  if (known === undefined) return perMinute;
  return Math.min(perMinute, known.left + ((at - known.at) / 60_000) * perMinute);
}

function fitting(sizes: readonly number[], room: number): { readonly spans: number; readonly bytes: number } {
  let spans = 0;
  let bytes = 0;
  for (const size of sizes) {
    if (bytes + size > room) break;
    bytes += size;
    spans += 1;
  }
  return { spans, bytes };
}
