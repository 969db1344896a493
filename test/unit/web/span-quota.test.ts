import { expect, test } from 'vitest';
import { SPANS_PER_MINUTE, spanQuota } from '../../../src/web/span-quota.ts';

function quotaAt(start = 0) {
  let now = start;
  const quota = spanQuota({ monotonic: () => now });
  const pass = (ms: number) => {
    now += ms;
  };
  return { quota, pass };
}

test('a caller hands over as many spans as a minute allows at once, and no more', () => {
  const { quota } = quotaAt();
  expect(quota.take('alice', 5000)).toBe(5000);
  expect(quota.take('alice', SPANS_PER_MINUTE)).toBe(SPANS_PER_MINUTE - 5000);
  expect(quota.take('alice', 1)).toBe(0);
  expect(quota.take('bob', 1)).toBe(1);
});

test('what was used grows back with time, and never beyond a minute’s worth', () => {
  const { quota, pass } = quotaAt();
  quota.take('alice', SPANS_PER_MINUTE);
  pass(30_000);
  expect(quota.take('alice', SPANS_PER_MINUTE)).toBe(SPANS_PER_MINUTE / 2);
  pass(3_600_000);
  expect(quota.take('alice', 2 * SPANS_PER_MINUTE)).toBe(SPANS_PER_MINUTE);
});

test('small hand-overs lose no fraction', () => {
  const { quota, pass } = quotaAt();
  quota.take('alice', SPANS_PER_MINUTE);
  const perSpan = 60_000 / SPANS_PER_MINUTE;
  for (let n = 0; n < 10; n++) {
    pass(perSpan / 2);
    quota.take('alice', 0);
  }
  expect(quota.take('alice', 10)).toBe(5);
});

test('only so many callers are remembered', () => {
  const { quota } = quotaAt();
  quota.take('first', SPANS_PER_MINUTE);
  for (let n = 0; n < 1000; n++) quota.take(`caller ${n}`, 1);
  expect(quota.take('first', 7)).toBe(7);
});
