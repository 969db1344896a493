/**
 * How much happened within the last so many milliseconds, in at most 60 buckets. A bucket counts until its youngest entry is too
 * old, so the count errs towards too much. Immutable.
 */
export interface SlidingCount {
  readonly windowMs: number;
  /** In order of time; `at` is the time of the bucket's last entry. */
  readonly buckets: readonly { readonly begun: number; readonly at: number; readonly amount: number }[];
}

const BUCKETS = 60;

export function emptyCount(windowMs: number): SlidingCount {
  return { windowMs, buckets: [] };
}

/** @param now not before that of any other call, milliseconds. */
export function counted(count: SlidingCount, amount: number, now: number): SlidingCount {
  const live = liveBuckets(count, now);
  const last = live.at(-1);
  if (last !== undefined && now - last.begun < count.windowMs / BUCKETS)
    return { ...count, buckets: [...live.slice(0, -1), { ...last, at: now, amount: last.amount + amount }] };
  return { ...count, buckets: [...live, { begun: now, at: now, amount }] };
}

export function amountWithin(count: SlidingCount, now: number): number {
  return liveBuckets(count, now).reduce((sum, { amount }) => sum + amount, 0);
}

/** The first time at which the count is at most `most`, if nothing is added; `now` when it is already. */
export function timeOfAtMost(count: SlidingCount, most: number, now: number): number {
  let left = amountWithin(count, now);
  if (left <= most) return now;
  for (const { at, amount } of liveBuckets(count, now)) {
    left -= amount;
    if (left <= most) return at + count.windowMs;
  }
  return now + count.windowMs;
}

function liveBuckets({ windowMs, buckets }: SlidingCount, now: number): SlidingCount['buckets'] {
  return buckets.filter(({ at }) => at + windowMs > now);
}
