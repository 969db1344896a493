import { expect, test } from 'vitest';
import { createTokenBucket } from '../../../src/lib/token-bucket.ts';

test('gives what it holds, then at its rate, and says how long the next takes', () => {
  let now = 0;
  const bucket = createTokenBucket(2, 4, { monotonic: () => now });
  expect([bucket.take(), bucket.take(), bucket.take()]).toEqual([0, 0, 0.25]);
  now = 125;
  expect(bucket.take()).toBe(0.125);
  now = 250;
  expect([bucket.take(), bucket.take()]).toEqual([0, 0.25]);
  now = 60_000;
  expect([bucket.take(), bucket.take(), bucket.take()]).toEqual([0, 0, 0.25]);
});
