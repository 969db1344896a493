/**
 * Limits the bytes of spans that each caller, and all callers together, may store per minute, in bursts of the same size. A full outbox
 * drops its oldest rows: without a quota, other programs could push out our own spans.
 */
import type { Clock } from '../lib/clock.ts';

/** Stored bytes of spans per caller: in one burst, and per minute in the long run. */
export const BYTES_PER_MINUTE = 8_000_000;
/** All callers together: after ten minutes without a collector, an outbox of default size still has room for our own spans. */
export const BYTES_PER_MINUTE_OF_ALL = 24_000_000;
/** Callers remembered; the oldest is forgotten, and starts over with its full quota. */
const MOST_CALLERS = 1000;

/** In memory, per process: a restart, and another web, grant the full quota again. */
export interface SpanQuota {
  /**
   * @param sizes bytes of each span.
   * @returns how many of them, from the first on, may be stored now; those are deducted.
   */
  take(caller: string, sizes: readonly number[]): number;
}

/** Bytes left at a time; they grow from then on. */
interface Allowance {
  readonly left: number;
  readonly at: number;
}

/** Every caller begins with a full minute's bytes. @param clock monotonic, so that a step of the wall clock grants nothing. */
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
