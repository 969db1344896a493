/** The load of a pipeline over time, by state of its items. */

import { type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';
import type { StretchState } from '../model/item-states.ts';
import type { DelayedItem } from './delayed-item.ts';

/** A column of the chart: means over its period, and counts of what happened in it. */
export interface LoadPoint {
  /** Begin of its period, which ends where the next begins. */
  readonly at: Nanoseconds;
  /** Mean number of items in each state; states without items are left out. */
  readonly states: { readonly [state in StretchState]?: number };
  /** Items that left in the period; `succeeded` are those with the result SUCCESS. */
  readonly left: number;
  readonly succeeded: number;
  readonly resets: number;
  /** Mean number of builds of these items that executors had. */
  readonly builds: number;
  /** The narrowest window of its queues in the period; null: none is known, or without limit. */
  readonly window: number | null;
}

const POINTS = 48;

interface Bucket {
  readonly states: Map<StretchState, number>;
  left: number;
  succeeded: number;
  resets: number;
  builds: number;
  window: number | null;
}

/** 48 points, or none for an empty period. What the items did before `covered` is left out. */
export function loadOf(
  items: readonly DelayedItem[],
  { covered, until }: { readonly covered: Nanoseconds; readonly until: Nanoseconds },
  widths: ReadonlyMap<string, number>,
): readonly LoadPoint[] {
  const start = BigInt(covered);
  const width = (BigInt(until) - start) / BigInt(POINTS);
  if (width <= 0n) return [];
  const buckets = Array.from(
    { length: POINTS },
    (): Bucket => ({ states: new Map(), left: 0, succeeded: 0, resets: 0, builds: 0, window: null }),
  );
  // In widths of a bucket: a chart needs no nanoseconds, and there are many times.
  const place = (time: Nanoseconds) => (Number(time) - Number(covered)) / Number(width);
  for (const item of items) addItem(buckets, item, place);
  addWidths(buckets, items, place, widths);
  return buckets.map(({ states, left, succeeded, resets, builds, window }, index) => ({
    at: parseNanoseconds((start + width * BigInt(index)).toString()),
    states: Object.fromEntries([...states].map(([state, items]) => [state, hundredths(items)])),
    left,
    succeeded,
    resets,
    builds: hundredths(builds),
    window,
  }));
}

function hundredths(value: number): number {
  return Math.round(value * 100) / 100;
}

/** @param place 0 is the begin of the first bucket, 1 of the second. */
function addItem(buckets: readonly Bucket[], item: DelayedItem, place: (time: Nanoseconds) => number): void {
  for (const { state, from, to } of item.stretches)
    addStretch(buckets, place(from), place(to), ({ states }, share) =>
      states.set(state, (states.get(state) ?? 0) + share),
    );
  for (const { from, to } of item.work)
    addStretch(buckets, place(from), place(to), (bucket, share) => {
      bucket.builds += share;
    });
  for (const reset of item.resets) {
    const bucket = bucketAt(buckets, place(reset.at));
    if (bucket !== undefined) bucket.resets += 1;
  }
  for (const { at, window } of item.windows) {
    narrow(bucketAt(buckets, place(at)), window);
  }
  const end = item.ended === null ? undefined : bucketAt(buckets, place(item.until));
  if (end === undefined) return;
  end.left += 1;
  if (item.ended?.result === 'SUCCESS') end.succeeded += 1;
}

/** A width holds from one departure of the queue to the next: each says what it was until then, and `widths` what it is. */
function addWidths(
  buckets: readonly Bucket[],
  items: readonly DelayedItem[],
  place: (time: Nanoseconds) => number,
  widths: ReadonlyMap<string, number>,
): void {
  const ends = items.flatMap(({ queue, until, widthBefore }) =>
    widthBefore === null ? [] : [{ queue, end: place(until), width: widthBefore }],
  );
  for (const [queue, width] of widths) ends.push({ queue, end: buckets.length - 1, width });
  for (const all of Map.groupBy(ends, ({ queue }) => queue).values()) {
    let begin = 0;
    for (const { end, width } of all.sort((a, b) => a.end - b.end)) {
      for (let index = Math.floor(begin); index <= end; index++) narrow(buckets[index], width);
      begin = Math.max(begin, end);
    }
  }
}

function narrow(bucket: Bucket | undefined, width: number): void {
  if (bucket !== undefined) bucket.window = Math.min(width, bucket.window ?? width);
}

function bucketAt(buckets: readonly Bucket[], place: number): Bucket | undefined {
  return place < 0 ? undefined : buckets[Math.min(buckets.length - 1, Math.floor(place))];
}

/** Each bucket gets the fraction of it that the stretch covers. */
function addStretch(
  buckets: readonly Bucket[],
  from: number,
  to: number,
  add: (bucket: Bucket, share: number) => void,
): void {
  for (let index = Math.max(0, Math.floor(from)); index < to; index++) {
    const bucket = buckets[index];
    if (bucket === undefined) return;
    const share = Math.min(to, index + 1) - Math.max(from, index);
    if (share > 0) add(bucket, share);
  }
}
