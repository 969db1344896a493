/**
 * Time, as all of Gatehouse reads it.
 *
 * Facts carry wall time in nanoseconds since the Unix epoch as a decimal string (`Nanoseconds`): JSON has no 64-bit
 * integers and a float loses the last digits. Durations and timeouts use `monotonic`.
 */
declare const nanoseconds: unique symbol;

/** Nanoseconds since the Unix epoch, decimal, e.g. `"1795000000123456789"`. */
export type Nanoseconds = string & { readonly [nanoseconds]: true };

/** A dependency of all rooms that act; pure rooms get `now` as a value instead. Tests and the simulator pass their own. */
export interface Clock {
  /** Wall time that never runs backwards within a process. */
  now(): Nanoseconds;
  /** Milliseconds on a clock that is never adjusted; only differences are meaningful. */
  monotonic(): number;
}

/** @throws RangeError when `text` is not a non-negative decimal integer. */
export function parseNanoseconds(text: string): Nanoseconds {
  if (!/^\d{1,20}$/.test(text)) throw new RangeError(`not a time in nanoseconds: ${JSON.stringify(text)}`);
  return text as Nanoseconds;
}

/** @param ms since the Unix epoch, e.g. `Date.now()`; kept to the microsecond, a float has no more. */
export function fromMilliseconds(ms: number): Nanoseconds {
  return (BigInt(Math.round(ms * 1000)) * 1000n).toString() as Nanoseconds;
}

/** Milliseconds since the Unix epoch, for `Date` and for people: cut to the microsecond. */
export function toMilliseconds(time: Nanoseconds): number {
  return Number(BigInt(time) / 1000n) / 1000;
}

/** `to - from` in milliseconds (fractional), negative when `to` is earlier. */
export function millisecondsBetween(from: Nanoseconds, to: Nanoseconds): number {
  return Number(BigInt(to) - BigInt(from)) / 1e6;
}

/** `time` plus `ms`, which may be fractional or negative; exact to the nanosecond. */
export function addMilliseconds(time: Nanoseconds, ms: number): Nanoseconds {
  return (BigInt(time) + BigInt(Math.round(ms * 1e6))).toString() as Nanoseconds;
}

/** Compared as numbers; time-window.ts compares many times faster. */
export function earlierOf(a: Nanoseconds, b: Nanoseconds): Nanoseconds {
  return BigInt(a) <= BigInt(b) ? a : b;
}

/** As {@link earlierOf}. Keeps a time that another process reports from lying before one that is known. */
export function laterOf(a: Nanoseconds, b: Nanoseconds): Nanoseconds {
  return BigInt(a) >= BigInt(b) ? a : b;
}

/** The real clock: monotonic time anchored to the wall clock at start, so that it cannot step back while we run. */
export function systemClock(): Clock {
  const anchor = BigInt(Date.now()) * 1_000_000n - process.hrtime.bigint();
  return {
    now: () => (anchor + process.hrtime.bigint()).toString() as Nanoseconds,
    monotonic: () => performance.now(),
  };
}
