import { describe, expect, test } from 'vitest';
import { mixedOrder } from '../../setup/mixed-order.ts';

const SECONDS: Readonly<Record<string, number>> = {
  '/test/simulation/a.test.ts': 60,
  '/test/scenario/b.test.ts': 30,
  '/test/unit/c.test.ts': 10,
  '/test/e2e/cluster/d.test.ts': 50,
  '/test/e2e/chaos/e.test.ts': 50,
  '/test/github/stories/f.test.ts': 75,
  '/test/gerrit/g.test.ts': 25,
};

function order(files: readonly string[], lasted: (file: string) => number | undefined): readonly string[] {
  return mixedOrder(files, file => file, lasted).map(file => file.replace(/^.*\/(\w)\.test\.ts$/, '$1'));
}

describe('the order of test files', () => {
  test('begins with the longest of each kind, and spreads each kind over the run', () => {
    const [first, ...rest] = order(Object.keys(SECONDS), file => SECONDS[file]);
    expect([first, ...rest].slice(0, 3).sort()).toEqual(['a', 'd', 'f']);
    // At a half of the files that start many processes, at 0.6 of those that compute, at 0.75 of those that wait, at 0.9.
    expect(rest.slice(2)).toEqual(['e', 'b', 'g', 'c']);
  });

  test('takes a file that was never run for as long as others of its room are', () => {
    const never = ['/test/unit/c.test.ts', '/test/scenario/b.test.ts', '/test/simulation/a.test.ts'];
    expect(order(never, () => undefined)).toEqual(['a', 'b', 'c']);
    expect(order(never, file => (file.includes('unit') ? 300 : undefined))).toEqual(['c', 'a', 'b']);
  });

  test('keeps all files, also where nothing takes any time', () => {
    expect(order(Object.keys(SECONDS), () => 0).toSorted()).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  });
});
