import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { WindowPolicy } from '../../../src/model/pipeline.ts';
import { DEEPEST, fitted, isInside, narrowed, widened } from '../../../src/pipeline/window.ts';
import { USUAL_WINDOW } from './world.ts';

describe('the window', () => {
  it('grows by one and halves down to the floor', () => {
    expect(widened(20, USUAL_WINDOW)).toBe(21);
    expect([20, 10, 5, 3].map(window => narrowed(window, USUAL_WINDOW))).toEqual([10, 5, 3, 3]);
  });

  it('can grow by a factor and shrink by a step', () => {
    const policy: WindowPolicy = {
      initial: 4,
      floor: 2,
      ceiling: 10,
      increase: { type: 'exponential', factor: 2 },
      decrease: { type: 'linear', factor: 3 },
    };
    expect([4, 8, 10].map(window => widened(window, policy))).toEqual([8, 10, 10]);
    expect([10, 4, 2].map(window => narrowed(window, policy))).toEqual([7, 2, 2]);
  });

  it('does not grow when it is below its floor and an item fails', () => {
    expect(narrowed(2, USUAL_WINDOW)).toBe(2);
  });

  it('of 0 stays so and reaches as deep as it goes', () => {
    expect(widened(0, USUAL_WINDOW)).toBe(0);
    expect(narrowed(0, USUAL_WINDOW)).toBe(0);
    expect([isInside(0, DEEPEST - 1), isInside(0, DEEPEST), isInside(10_000, DEEPEST)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('that is configured anew is taken as it is where it cannot move, and within its bounds where it learns', () => {
    const fixed = (initial: number) => ({ ...USUAL_WINDOW, initial, floor: initial, ceiling: initial });
    expect([fitted(2, fixed(1)), fitted(2, fixed(5)), fitted(0, fixed(4))]).toEqual([1, 5, 4]);
    expect(fitted(12, USUAL_WINDOW)).toBe(12);
    expect(fitted(1, USUAL_WINDOW)).toBe(3);
    expect(fitted(30, { ...USUAL_WINDOW, ceiling: 25 })).toBe(25);
    expect(fitted(2, { ...USUAL_WINDOW, initial: 2 })).toBe(2);
    expect(fitted(12, { ...USUAL_WINDOW, initial: 0 })).toBe(0);
  });

  it('always leaves an item inside', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.array(fc.boolean(), { maxLength: 60 }),
        fc.nat({ max: 5 }),
        (initial, verdicts, floor) => {
          const policy = { ...USUAL_WINDOW, initial, floor };
          const window = verdicts.reduce(
            (at, merged) => (merged ? widened(at, policy) : narrowed(at, policy)),
            initial,
          );
          expect(isInside(window, 0)).toBe(true);
        },
      ),
    );
  });
});
