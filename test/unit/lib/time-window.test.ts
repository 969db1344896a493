import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Nanoseconds, parseNanoseconds } from '../../../src/lib/clock.ts';
import { clampInto, lasting } from '../../../src/lib/time-window.ts';

const at = (offset: number): Nanoseconds =>
  parseNanoseconds((1_795_000_000_000_000_000n + BigInt(offset)).toString());
const window = (start: number, end: number | null) => ({
  start: at(start),
  end: end === null ? null : at(end),
});

describe('a child inside its parent', () => {
  test('keeps the times it has when they fit', () => {
    expect(clampInto(window(0, 100), at(10), at(20))).toEqual({ ...window(10, 20), adjusted: 0 });
  });

  test('that took no time is shown for the nanosecond before, as soon as the parent has begun', () => {
    expect(clampInto(window(0, 100), at(20), at(20))).toEqual({ ...window(19, 20), adjusted: 0 });
    expect(clampInto(window(0, null), at(20), at(20))).toEqual({ ...window(19, 20), adjusted: 0 });
    expect(clampInto(window(0, 20), at(20), at(20))).toEqual({ ...window(19, 20), adjusted: 0 });
  });

  test('that took no time when the parent began is shown for the nanosecond after', () => {
    expect(clampInto(window(0, 100), at(0), at(0))).toEqual({ ...window(0, 1), adjusted: 0 });
    expect(clampInto(window(0, 1), at(0), at(0))).toEqual({ ...window(0, 1), adjusted: 0 });
  });

  test('that lies behind the end of the parent is shown for its last nanosecond, and says how far it was moved', () => {
    expect(clampInto(window(0, 100), at(110), at(150))).toEqual({ ...window(99, 100), adjusted: 60 });
  });

  test('lasts, lies inside, and stays what it is when it is clamped again, at any times', () => {
    const time = fc.integer({ min: 0, max: 6 });
    fc.assert(
      fc.property(time, time, time, time, (parentStart, parentLength, start, length) => {
        const parent = lasting(window(parentStart, parentStart + parentLength));
        const child = clampInto(parent, at(start), at(start + length));
        expect(child.end! > child.start).toBe(true);
        expect(child.start >= parent.start && child.end! <= parent.end!).toBe(true);
        const { adjusted: _, ...again } = clampInto(parent, child.start, child.end);
        expect(again).toEqual({ start: child.start, end: child.end });
        const grandchild = clampInto(child, at(start), at(start));
        expect(grandchild.start >= child.start && grandchild.end! <= child.end!).toBe(true);
        expect(grandchild.end! > grandchild.start).toBe(true);
      }),
    );
  });
});

test('a window that lasts is left alone, an open one, too', () => {
  expect(lasting(window(3, 5))).toEqual(window(3, 5));
  expect(lasting(window(3, null))).toEqual(window(3, null));
  expect(lasting(window(3, 3))).toEqual(window(3, 4));
});
