import { expect, test } from 'vitest';
import { backoffDelay } from '../../../src/lib/backoff.ts';

const BACKOFF = { firstMs: 100, maxMs: 1000 };

test('waits double with each attempt up to the bound', () => {
  const waits = [1, 2, 3, 4, 5, 6, 1000].map(attempt => backoffDelay(BACKOFF, attempt, 1));
  expect(waits).toEqual([100, 200, 400, 800, 1000, 1000, 1000]);
});

test('jitter takes away up to half', () => {
  expect(backoffDelay(BACKOFF, 2, 0)).toBe(100);
  expect(backoffDelay(BACKOFF, 2, 0.5)).toBe(150);
});
