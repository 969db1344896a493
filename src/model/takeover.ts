/**
 * The holder of a pipeline, and how the pipeline went from one scheduler to another. No decision reads this; it explains time.
 *
 *     scheduler A  ──────────┤ last heard of                  (killed; or released, `until`)
 *     scheduler B                            ├───────────────  its first turn
 *     takeover               ├── since … at ─┤
 */
import type { Nanoseconds } from '../lib/clock.ts';

/** A scheduler while it holds a pipeline. */
export interface Holder {
  /** Of the process, for people: `<host>/<pid>`. */
  readonly name: string;
  /** Its session with the store. */
  readonly session: string;
  /** When it could take its first turn. */
  readonly since: Nanoseconds;
  /** When it released the pipeline; absent: it holds it, or it was killed. */
  readonly until?: Nanoseconds;
}

/** The time between two holders. */
export interface Takeover {
  /** Names of the holders. */
  readonly from: string;
  readonly to: string;
  /** `released`: by a stop, a pause or to share the work. `lost`: its session ended. */
  readonly how: 'released' | 'lost';
  /** When the previous holder released the pipeline, or its last sign of life. */
  readonly since: Nanoseconds;
  /** When the next one could take its first turn: until then no scheduler held the pipeline. */
  readonly at: Nanoseconds;
}

/** The takeovers of an item after the first {@link MOST_TAKEOVERS}. */
export interface MoreTakeovers {
  readonly count: number;
  /** Of all of them together. */
  readonly duration: Nanoseconds;
  /** When the last one was over. */
  readonly last: Nanoseconds;
}

/** How many are listed per item: the first ones, so that a trace that is made again has the same spans. */
export const MOST_TAKEOVERS = 16;

/** The same holder and term, and released in both or in neither. */
export function isSameTerm(a: Holder | undefined, b: Holder): boolean {
  return a?.session === b.session && a.since === b.since && a.until === b.until;
}
