/** The whole gate as a picture: a row for each item over time, with its states, its resets and who caused them, and its ghost. Pure. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import { isBefore } from '../lib/time-window.ts';
import type { ResetCode } from '../model/cause.ts';
import type { StretchState } from '../model/item-states.ts';
import type { BuildSetResult } from '../model/results.ts';
import type { DelayedItem } from './delayed-item.ts';
import type { Stretch } from './stretches.ts';
import type { WorstGhost } from './worst-culprits.ts';

/** One item. */
interface PictureRow {
  readonly item: Uuid;
  /** Its changes, for people. */
  readonly change: string;
  readonly queue: string;
  readonly enqueuedAt: Nanoseconds;
  /** When it left, or now. */
  readonly until: Nanoseconds;
  /** Null: still in the pipeline. */
  readonly result: BuildSetResult | null;
  /** Each ends where the next begins, the last one at `until`. At most {@link MOST_STATES}: short ones are part of those before them. */
  readonly states: readonly { readonly state: StretchState; readonly from: Nanoseconds }[];
  /** Oldest first; the newest {@link MOST_RESETS}. */
  readonly resets: readonly {
    readonly at: Nanoseconds;
    readonly code: ResetCode;
    /** Null: no item is to blame. */
    readonly culprit: Uuid | null;
  }[];
  /** Null: no culprit delayed it, or it has not landed. */
  readonly ghost: WorstGhost | null;
}

/** A page of it. */
export interface GatePicture {
  /** Of the period. */
  readonly items: number;
  /** Newer ones that are left out. */
  readonly skip: number;
  /** In the order in which they entered. */
  readonly rows: readonly PictureRow[];
}

const MOST_STATES = 40;
const MOST_RESETS = 40;

/** @param page `limit` of the items that entered last, but for the last `skip`. */
export function gatePicture(
  items: readonly DelayedItem[],
  ghosts: ReadonlyMap<Uuid, WorstGhost>,
  { limit, skip }: { readonly limit: number; readonly skip: number },
): GatePicture {
  const end = Math.max(0, items.length - skip);
  const rows = items.toSorted(entered).slice(Math.max(0, end - limit), end);
  return { items: items.length, skip, rows: rows.map(item => rowOf(item, ghosts.get(item.item) ?? null)) };
}

function entered(a: DelayedItem, b: DelayedItem): number {
  if (a.enqueuedAt === b.enqueuedAt) return a.item < b.item ? -1 : 1;
  return isBefore(a.enqueuedAt, b.enqueuedAt) ? -1 : 1;
}

function rowOf(item: DelayedItem, ghost: WorstGhost | null): PictureRow {
  const { changes, queue, enqueuedAt, until, ended, stretches, resets } = item;
  return {
    ...{ item: item.item, change: changes.join(' + '), queue, enqueuedAt, until },
    result: ended?.result ?? null,
    states: longest(stretches).map(({ state, from }) => ({ state, from })),
    resets: resets
      .slice(-MOST_RESETS)
      .map(({ at, code, culprit }) => ({ at, code, culprit: culprit?.item ?? null })),
    ghost,
  };
}

/** The first one stays: the row begins with it. */
function longest(stretches: readonly Stretch[]): readonly Stretch[] {
  if (stretches.length <= MOST_STATES) return stretches;
  const [first, ...others] = stretches;
  const kept = new Set(
    others.toSorted((a, b) => (isBefore(b.duration, a.duration) ? -1 : 1)).slice(0, MOST_STATES - 1),
  );
  return stretches.filter(each => each === first || kept.has(each));
}
