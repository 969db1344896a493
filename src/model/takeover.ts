/**
 * Who holds a pipeline, and how it went from one scheduler to another: nothing is decided by this, it explains time.
 *
 *     scheduler A  ──────────┤ last heard of                  (killed; or given up in order, `until`)
 *     scheduler B                            ├───────────────  its first turn
 *     takeover               ├── since … at ─┤
 */
import type { Nanoseconds } from '../lib/clock.ts';

export interface Holder {
  /** Of the process, for people: `<host>/<pid>`. */
  readonly name: string;
  /** Its session with the store. */
  readonly session: string;
  /** When it could take its first turn. */
  readonly since: Nanoseconds;
  /** It gave the pipeline up in order; absent: it has it, or it was killed. */
  readonly until?: Nanoseconds;
}

export interface Takeover {
  /** Names of the holders. */
  readonly from: string;
  readonly to: string;
  /** `released`: given up in order, by a stop, a pause or to share the work. */
  readonly how: 'released' | 'lost';
  /** When the one before gave the pipeline up, or was last heard of. */
  readonly since: Nanoseconds;
  /** When the next one could take its first turn: until then no scheduler held the pipeline. */
  readonly at: Nanoseconds;
}

/** Those an item went through after the first {@link MOST_TAKEOVERS}. */
export interface MoreTakeovers {
  readonly count: number;
  /** Of all of them together. */
  readonly duration: Nanoseconds;
  /** When the last one was over. */
  readonly last: Nanoseconds;
}

/** Listed per item. The first ones, not the last: their spans are sent, and are there again when the trace is made anew. */
export const MOST_TAKEOVERS = 16;

export function isSameTenure(a: Holder | undefined, b: Holder): boolean {
  return a?.session === b.session && a.since === b.since && a.until === b.until;
}
