/**
 * Reports without a waiting item that their host did not take. One report of a project is retried; the others of that project wait
 * with it, and those of other projects go on. Of messages the place is the connection instead. Kept in memory: the next holder of the pipeline starts with a try.
 */
import { backoffDelay } from '../../lib/backoff.ts';
import type { Clock } from '../../lib/clock.ts';
import type { ReportIntent } from '../../model/report-intent.ts';

/** Asked by report-loop.ts before each report, and informed of its outcome. */
export interface LaterReports {
  /** Its time has not come yet. */
  holds(intent: ReportIntent): boolean;
  /** @param notBefore milliseconds that the host named; 0: none. @returns milliseconds until it is due. */
  add(intent: ReportIntent, notBefore: number): number;
  /** The host took it: the other reports of its projects need not wait. */
  done(intent: ReportIntent): void;
}

/** What serves or does not, as a whole. */
export type ReportPlace = (part: ReportIntent['parts'][number]) => string;

/** A limit that the host names is kept, up to an hour. */
const LONGEST_NAMED_MS = 3_600_000;
const BACKOFF = { firstMs: 2_000, maxMs: 60_000 };

/** Nothing is held at first. */
export function createLaterReports(
  clock: Pick<Clock, 'monotonic'>,
  placeOf: ReportPlace = part => part.change.project,
): LaterReports {
  const waits = new Map<string, { readonly tries: number; readonly until: number }>();
  return {
    holds(intent) {
      // The waiting item decides when to ask again.
      if (intent.awaited === true) return false;
      return intent.parts.some(part => (waits.get(placeOf(part))?.until ?? 0) > clock.monotonic());
    },
    add(intent, notBefore) {
      const now = clock.monotonic();
      let due = now;
      for (const place of new Set(intent.parts.map(placeOf))) {
        const known = waits.get(place);
        // Reports sent at the same time fail together: that is one failure.
        const failed = known === undefined || known.until <= now;
        const tries = (known?.tries ?? 0) + (failed ? 1 : 0);
        const named = now + Math.min(notBefore, LONGEST_NAMED_MS);
        const own = failed ? now + backoffDelay(BACKOFF, tries, 0.5) : known.until;
        const until = Math.max(own, named);
        waits.set(place, { tries, until });
        due = Math.max(due, until);
      }
      return due - now;
    },
    done(intent) {
      for (const part of intent.parts) waits.delete(placeOf(part));
    },
  };
}
