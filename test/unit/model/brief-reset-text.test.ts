import { expect, test } from 'vitest';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import type { Uuid } from '../../../src/lib/ids.ts';
import { briefResetText, type Culprit, type ResetCode } from '../../../src/model/cause.ts';

const culprit: Culprit = { item: '1'.repeat(32) as Uuid, change: 'acme/app master/login,3f2a91c0' };
const brief = (code: ResetCode, who: Culprit | null = culprit) =>
  briefResetText({ code, at: '0' as Nanoseconds, culprit: who });

test('the badge of a reset says what the culprit did', () => {
  expect(brief('item-ahead-conflict')).toBe('acme/app master/login,3f2a91c0 cannot be merged');
  expect(brief('queue-changed')).toBe('acme/app master/login,3f2a91c0 was moved to another queue');
});

test('a culprit with a job or a departure is named once', () => {
  expect(brief('item-ahead-failed', { ...culprit, job: 'unit', result: 'FAILURE' })).toBe(
    'unit of acme/app master/login,3f2a91c0 ended with FAILURE',
  );
  expect(brief('item-ahead-left', { ...culprit, left: 'abandoned' })).toBe(
    'acme/app master/login,3f2a91c0 left: the change was abandoned',
  );
});

test('without a culprit it is the whole sentence', () => {
  expect(brief('queue-changed', null)).toBe('it was moved to another queue');
});
