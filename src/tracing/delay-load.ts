/** How full a pipeline was over time, and what its items were doing. */
import { type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';
import type { DelayedItem } from './delayed-item.ts';
import type { StretchState } from './stretches.ts';

export interface LoadPoint {
  /** Beginning of the stretch of time it stands for; it ends where the next begins. */
  readonly at: Nanoseconds;
  /** Items in each state, averaged over the stretch; states nobody was in are left out. */
  readonly states: { readonly [state in StretchState]?: number };
  readonly left: number;
  readonly succeeded: number;
  readonly resets: number;
}

const POINTS = 48;

interface Bucket {
  readonly at: bigint;
  readonly states: Map<StretchState, number>;
  left: number;
  succeeded: number;
  resets: number;
}

export function loadOf(
  items: readonly DelayedItem[],
  { covered, until }: { readonly covered: Nanoseconds; readonly until: Nanoseconds },
): readonly LoadPoint[] {
  const start = BigInt(covered);
  const width = (BigInt(until) - start) / BigInt(POINTS);
  if (width <= 0n) return [];
  const buckets = Array.from(
    { length: POINTS },
    (_, index): Bucket => ({
      at: start + width * BigInt(index),
      states: new Map(),
      left: 0,
      succeeded: 0,
      resets: 0,
    }),
  );
  const bucketAt = (time: Nanoseconds) =>
    BigInt(time) < start ? undefined : buckets[Math.min(POINTS - 1, Number((BigInt(time) - start) / width))];
  for (const item of items) {
    for (const { state, from, to } of item.stretches) {
      for (const [bucket, share] of sharesOf(buckets, { from: BigInt(from), to: BigInt(to) }, width))
        bucket.states.set(state, (bucket.states.get(state) ?? 0) + share);
    }
    for (const reset of item.resets) {
      const bucket = bucketAt(reset.at);
      if (bucket !== undefined) bucket.resets += 1;
    }
    const end = item.ended === null ? undefined : bucketAt(item.until);
    if (end === undefined) continue;
    end.left += 1;
    if (item.ended?.result === 'SUCCESS') end.succeeded += 1;
  }
  return buckets.map(({ at, states, left, succeeded, resets }) => ({
    at: parseNanoseconds(at.toString()),
    states: Object.fromEntries([...states].map(([state, items]) => [state, Math.round(items * 100) / 100])),
    left,
    succeeded,
    resets,
  }));
}

/** The buckets a stretch of time touches, each with the share of the bucket it fills. */
function* sharesOf(
  buckets: readonly Bucket[],
  { from, to }: { readonly from: bigint; readonly to: bigint },
  width: bigint,
): Generator<readonly [Bucket, number]> {
  const start = buckets[0]?.at ?? 0n;
  const first = from < start ? 0 : Number((from - start) / width);
  for (const bucket of buckets.slice(first)) {
    if (bucket.at >= to) return;
    const end = bucket.at + width;
    const [low, high] = [from > bucket.at ? from : bucket.at, to < end ? to : end];
    if (high > low) yield [bucket, Number(high - low) / Number(width)];
  }
}
