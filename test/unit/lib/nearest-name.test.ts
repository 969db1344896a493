import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { didYouMean, hintBudget, nearestName } from '../../../src/lib/nearest-name.ts';

describe('nearestName', () => {
  it('finds a name one slip away, swaps of neighbours among them', () => {
    expect(nearestName('prot', ['host', 'port'])).toBe('port');
    expect(nearestName('unit-test', ['lint', 'unit-tests'])).toBe('unit-tests');
    expect(nearestName('LINT', ['docs', 'lint'])).toBe('lint');
  });

  it('suggests nothing further away than a quarter of the length', () => {
    expect(nearestName('unit', ['lint', 'docs'])).toBeUndefined();
    expect(didYouMean('unit', ['lint', 'docs'])).toBe('');
  });

  it('answers as the plain definition of the distance does', () => {
    const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '-'), maxLength: 14 });
    fc.assert(
      fc.property(name, fc.array(name, { maxLength: 6 }), (given, known) => {
        expect(nearestName(given, known)).toBe(plainlyNearest(given, known));
      }),
      { numRuns: 2000 },
    );
  });

  it('stops giving hints when the budget of a layout is used up', () => {
    const budget = hintBudget();
    const known = Array.from({ length: 1000 }, (_, index) => `a-rather-long-name-of-a-job-${index}`);
    expect(nearestName('a-rather-long-naem-of-a-job-7', known, budget)).toBe('a-rather-long-name-of-a-job-7');
    const before = budget.left;
    while (budget.left > 0) nearestName('a-rather-lnog-naem-of-a-job-xyz', known, budget);
    expect(before).toBeGreaterThan(0);
    expect(nearestName('a-rather-long-naem-of-a-job-7', known, budget)).toBeUndefined();
  });
});

function plainlyNearest(given: string, known: readonly string[]): string | undefined {
  const limit = Math.max(1, Math.floor(given.length / 4));
  const distances = known.map(name => plainDistance(given, name));
  const least = Math.min(...distances, Number.POSITIVE_INFINITY);
  return least <= limit ? known[distances.indexOf(least)] : undefined;
}

/** The whole table, row by row. */
function plainDistance(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, row) =>
    Array.from({ length: b.length + 1 }, (_unused, column) => (row === 0 ? column : column === 0 ? row : 0)),
  );
  const cell = (row: number, column: number) => table[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= a.length; row++) {
    for (let column = 1; column <= b.length; column++) {
      const replaced = cell(row - 1, column - 1) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]
          ? cell(row - 2, column - 2) + 1
          : Number.POSITIVE_INFINITY;
      const distance = Math.min(cell(row - 1, column) + 1, cell(row, column - 1) + 1, replaced, swapped);
      table[row]?.splice(column, 1, distance);
    }
  }
  return cell(a.length, b.length);
}
