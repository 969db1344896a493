import { expect, test } from 'vitest';
import { BYTES_PER_MINUTE, BYTES_PER_MINUTE_OF_ALL, spanQuota } from '../../../src/web/span-quota.ts';

function quotaAt(start = 0) {
  let now = start;
  const quota = spanQuota({ monotonic: () => now });
  const pass = (ms: number) => {
    now += ms;
  };
  return { quota, pass };
}

test('a caller hands over as many bytes as a minute allows at once, and no more', () => {
  const { quota } = quotaAt();
  const large = Array.from({ length: 200 }, () => 65_536);
  expect(quota.take('alice', large)).toBe(Math.floor(BYTES_PER_MINUTE / 65_536));
  expect(quota.take('alice', [65_536])).toBe(0);
  expect(quota.take('bob', [65_536])).toBe(1);
});

test('spans are taken from the first on, as long as they fit', () => {
  const { quota } = quotaAt();
  expect(quota.take('alice', [BYTES_PER_MINUTE - 10, 11, 1])).toBe(1);
  expect(quota.take('alice', [10])).toBe(1);
});

test('what was used grows back with time, and never beyond a minute’s worth', () => {
  const { quota, pass } = quotaAt();
  quota.take('alice', [BYTES_PER_MINUTE]);
  pass(30_000);
  expect(quota.take('alice', [BYTES_PER_MINUTE / 2, 1])).toBe(1);
  pass(3_600_000);
  expect(quota.take('alice', [BYTES_PER_MINUTE, 1])).toBe(1);
});

test('small hand-overs lose no fraction', () => {
  const { quota, pass } = quotaAt();
  quota.take('alice', [BYTES_PER_MINUTE]);
  const perByte = 60_000 / BYTES_PER_MINUTE;
  for (let n = 0; n < 8; n++) {
    pass(perByte / 2);
    quota.take('alice', []);
  }
  expect(quota.take('alice', [4])).toBe(1);
});

test('many callers together fill no more than all may, and it grows back for all', () => {
  const { quota, pass } = quotaAt();
  const counts = Array.from({ length: 5 }, (_, n) => quota.take(`caller ${n}`, [BYTES_PER_MINUTE]));
  expect(counts.reduce((sum, count) => sum + count)).toBe(BYTES_PER_MINUTE_OF_ALL / BYTES_PER_MINUTE);
  expect(quota.take('one more', [1])).toBe(0);
  pass(60_000);
  expect(quota.take('one more', [1])).toBe(1);
});

test('only so many callers are remembered', () => {
  const { quota } = quotaAt();
  quota.take('first', [BYTES_PER_MINUTE]);
  for (let n = 0; n < 1000; n++) quota.take(`caller ${n}`, [1]);
  expect(quota.take('first', [7])).toBe(1);
});
