import { expect, it } from 'vitest';
import { createTreeBudget, OverBudget } from '../../../src/git/objects/tree-budget.ts';
import { createLru } from '../../../src/git/support/lru.ts';
import { measureTurns } from '../../fake/turn-cost.ts';

it('a budget is spent by entries, and then says how many there were', async () => {
  const budget = createTreeBudget({ entries: 10 });
  await budget.spend(10);
  await expect(budget.spend(1)).rejects.toThrow('too large to read: 11 entries, limit 10');
});

it('a budget is spent by time', async () => {
  const budget = createTreeBudget({ seconds: 0 });
  const spending = async () => {
    for (;;) await budget.spend(1);
  };
  const failure = await spending().catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(OverBudget);
  expect(failure).toMatchObject({ of: 'time' });
});

it('a hundred computations at once leave the event loop as free as one', async () => {
  const compute = async () => {
    const budget = createTreeBudget();
    for (let round = 0; round < 200; round += 1) {
      await budget.spend(1);
      JSON.parse(JSON.stringify(Array.from({ length: 200 }, (_, index) => index)));
    }
  };
  const costs: number[] = [];
  // Some runs: the heap of a process that ran many test files may be collected in the middle of one.
  for (let run = 0; run < 3 && Math.min(...costs) >= 50; run += 1) {
    const turns = measureTurns();
    await Promise.all(Array.from({ length: 100 }, compute));
    costs.push(turns.stop());
  }
  expect(Math.min(...costs)).toBeLessThan(50);
});

it('a cache by weight forgets the oldest until what is left fits, and never keeps what is too heavy alone', () => {
  const cache = createLru<string, string>(10, value => value.length);
  cache.set('a', 'xxxx');
  cache.set('b', 'xxxx');
  cache.get('a');
  cache.set('c', 'xxxxx');
  expect(['a', 'b', 'c'].map(key => cache.get(key))).toEqual(['xxxx', undefined, 'xxxxx']);
  cache.set('a', 'x');
  cache.set('d', 'xxxx');
  expect(cache.size).toBe(3);
  cache.set('e', 'x'.repeat(11));
  expect(cache.get('e')).toBeUndefined();
  expect(cache.size).toBe(3);
});
