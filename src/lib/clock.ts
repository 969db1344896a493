/**
 * Time, as all of Gatehouse reads it.
 *
 * Facts carry wall time in nanoseconds since the Unix epoch as a decimal string (`Nanoseconds`): JSON has no 64-bit
 * integers and a float loses the last digits. Durations and timeouts use `monotonic`.
 */
declare const nanoseconds: unique symbol;

/** Nanoseconds since the Unix epoch, decimal, e.g. `"1795000000123456789"`. */
export type Nanoseconds = string & { readonly [nanoseconds]: true };

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

export function fromMilliseconds(ms: number): Nanoseconds {
  return (BigInt(Math.round(ms * 1000)) * 1000n).toString() as Nanoseconds;
}

export function toMilliseconds(time: Nanoseconds): number {
  return Number(BigInt(time) / 1000n) / 1000;
}

/** `to - from` in milliseconds (fractional), negative when `to` is earlier. */
export function millisecondsBetween(from: Nanoseconds, to: Nanoseconds): number {
  return Number(BigInt(to) - BigInt(from)) / 1e6;
}

export function addMilliseconds(time: Nanoseconds, ms: number): Nanoseconds {
  return (BigInt(time) + BigInt(Math.round(ms * 1e6))).toString() as Nanoseconds;
}

export function earlierOf(a: Nanoseconds, b: Nanoseconds): Nanoseconds {
  return BigInt(a) <= BigInt(b) ? a : b;
}

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
