/** What is said of a test that failed, by how often it did lately. */
import { expect, test } from 'vitest';
import { elsewhereText, type TestRuns } from '../../../src/model/test-results.ts';

const last = { at: '1', build: 'b', change: 'c' };
const NONE: TestRuns = { failed: 0, passed: 0, unchanged: 0, here: 0 };

test.each<[number, Partial<TestRuns>, string]>([
  [0, {}, 'new: no other change failed it in 14 days'],
  [0, { passed: 38 }, 'new: no other change failed it in 14 days, 38 runs passed'],
  [0, { here: 1 }, 'new: no other change failed it in 14 days; this change passed it unchanged once'],
  [1, { failed: 3 }, 'also failed in 1 other change in 14 days'],
  [2, { failed: 3, passed: 38 }, 'failed 3 of 41 runs in 14 days, on 2 other changes'],
  [
    2,
    { failed: 3, passed: 38, unchanged: 1, here: 2 },
    'failed 3 of 41 runs in 14 days, on 2 other changes; 1 of them passed it unchanged; this change passed it unchanged 2 times',
  ],
])('failed in %d other changes, with %j: "%s"', (changes, runs, text) => {
  const elsewhere = changes === 0 ? null : { changes, last };
  expect(elsewhereText({ elsewhere, runs: { ...NONE, ...runs } })).toBe(text);
});

test('a service that counts no runs is understood', () => {
  expect(elsewhereText({ elsewhere: { changes: 1, last } })).toBe('also failed in 1 other change in 14 days');
});
