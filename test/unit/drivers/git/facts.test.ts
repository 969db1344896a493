import { expect, test } from 'vitest';
import { readFacts } from '../../../../drivers/git/facts.ts';
import type { Json } from '../../../../src/model/job.ts';

test.each<[string, Json]>([
  ['nothing', null],
  ['a list', [{ approved: true }]],
  ['a word for yes', { approved: 'true', 'current-patchset': 1 }],
])('facts that are %s approve nothing', (_, facts) => {
  expect(readFacts(facts)).toEqual({ approved: false, 'current-patchset': false });
});

test('facts of the last release are read as they are', () => {
  expect(readFacts({ approved: true, 'current-patchset': true })).toEqual({
    approved: true,
    'current-patchset': true,
  });
});
