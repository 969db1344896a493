/** Periods of time, exact to the nanosecond, compared as decimal strings (no floats, hardly any BigInt). */
import { type Nanoseconds, parseNanoseconds } from './clock.ts';

/** The time of a span, or of any part of it that is drawn or added up. */
export interface TimeWindow {
  readonly start: Nanoseconds;
  /** null: still open. */
  readonly end: Nanoseconds | null;
}

/** A window as it is exported, and how far it was moved; the span has that as an attribute when it is not 0. */
export interface ClampedWindow extends TimeWindow {
  /** Nanoseconds by which start and end were moved in total; 0 when neither was. */
  readonly adjusted: number;
}

/** Compares without BigInt, because a trace has many times. Right for times without leading zeros. */
export function isBefore(a: Nanoseconds, b: Nanoseconds): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

/** As `earlierOf` in clock.ts, at the cost of one comparison of strings. */
export function earliest(a: Nanoseconds, b: Nanoseconds): Nanoseconds {
  return isBefore(b, a) ? b : a;
}

/** As `laterOf` in clock.ts, at the cost of one comparison of strings. */
export function latest(a: Nanoseconds, b: Nanoseconds): Nanoseconds {
  return isBefore(a, b) ? b : a;
}

/** `to - from`, 0 when `to` is earlier. */
export function between(from: Nanoseconds, to: Nanoseconds): Nanoseconds {
  return isBefore(to, from)
    ? parseNanoseconds('0')
    : parseNanoseconds((BigInt(to) - BigInt(from)).toString());
}

/** @returns nanoseconds, as a decimal string like a time; `0` for none. */
export function sum(durations: Iterable<Nanoseconds>): Nanoseconds {
  let total = 0n;
  for (const duration of durations) total += BigInt(duration);
  return parseNanoseconds(total.toString());
}

/**
 * The part of a child that lies inside its parent: clocks of other hosts differ, and trace viewers move or flag a child outside.
 * An open child of an ended parent ends with it. A period of no length becomes one nanosecond, see {@link lasting}: before its end
 * where the parent has room there, which is known also while the parent is open.
 *
 * @param parent itself clamped, or lasting.
 */
export function clampInto(parent: TimeWindow, start: Nanoseconds, end: Nanoseconds | null): ClampedWindow {
  const low = bounded(start, parent);
  const wanted = end ?? parent.end;
  if (wanted === null) return { start: low, end: null, adjusted: distance(low, start) };
  const high = latest(bounded(wanted, parent), low);
  const adjusted = distance(low, start) + distance(high, wanted);
  if (low !== high) return { start: low, end: high, adjusted };
  if (isBefore(parent.start, low)) return { start: shifted(low, -1n), end: high, adjusted };
  return { ...lasting({ start: low, end: high }), adjusted };
}

/**
 * A window of at least one nanosecond. Jaeger treats a span that ends when it begins as an error: it lengthens it, out of its parent
 * if necessary, and warns of both.
 */
export function lasting<Window extends TimeWindow>(window: Window): Window {
  return window.end === window.start ? { ...window, end: shifted(window.start, 1n) } : window;
}

function shifted(time: Nanoseconds, by: 1n | -1n): Nanoseconds {
  return parseNanoseconds((BigInt(time) + by).toString());
}

/** The moment of the window nearest to `time`. */
export function bounded(time: Nanoseconds, window: TimeWindow): Nanoseconds {
  const notBefore = latest(time, window.start);
  return window.end === null ? notBefore : earliest(notBefore, window.end);
}

function distance(a: Nanoseconds, b: Nanoseconds): number {
  if (a === b) return 0;
  return Math.abs(Number(BigInt(a) - BigInt(b)));
}
