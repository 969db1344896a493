/** Ages in requirements: `newer-than: 2d`. Something is older than an age from the nanosecond after it has reached it. */
import { type Nanoseconds, parseNanoseconds } from '../lib/clock.ts';

/** The first time at which what happened `at` is older than the age. @param age in seconds. */
export function olderFrom(at: Nanoseconds, age: number): Nanoseconds {
  return parseNanoseconds((BigInt(at) + BigInt(age) * 1_000_000_000n + 1n).toString());
}

/** @param age in seconds. */
export function isOlder(at: Nanoseconds, age: number, now: Nanoseconds): boolean {
  return BigInt(olderFrom(at, age)) <= BigInt(now);
}

/**
 * The first of the times after `now` at which the verdict is another one than at `now`; null: it stays. For
 * `DriverConfigLanguage.recheckAt`.
 *
 * @param times in any order; those that have passed may be among them.
 */
export function firstTurn(
  times: readonly Nanoseconds[],
  now: Nanoseconds,
  verdict: (at: Nanoseconds) => string,
): Nanoseconds | null {
  const today = verdict(now);
  const later = [...new Set(times.map(BigInt))].filter(time => time > BigInt(now)).toSorted(ascending);
  return later.map(time => parseNanoseconds(time.toString())).find(time => verdict(time) !== today) ?? null;
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : 1;
}
