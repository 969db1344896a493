import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createThrottledSignal } from '../../../../src/cmd/service/throttled-signal.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the first news is told at once, a burst behind it once, and nothing when it is quiet', () => {
  let told = 0;
  const teller = createThrottledSignal(() => {
    told += 1;
  });
  teller.touch();
  expect(told).toBe(1);
  for (let news = 0; news < 50; news++) teller.touch();
  expect(told).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect(told).toBe(2);
  vi.advanceTimersByTime(10_000);
  expect(told).toBe(2);
  teller.touch();
  expect(told).toBe(3);
  teller.touch();
  teller.close();
  vi.advanceTimersByTime(10_000);
  expect(told).toBe(3);
});
