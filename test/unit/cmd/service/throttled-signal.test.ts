import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createThrottledSignal } from '../../../../src/cmd/service/throttled-signal.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('the first signal is forwarded immediately, a burst after it once, and nothing when there is none', () => {
  let forwarded = 0;
  const throttled = createThrottledSignal(() => {
    forwarded += 1;
  });
  throttled.touch();
  expect(forwarded).toBe(1);
  for (let burst = 0; burst < 50; burst++) throttled.touch();
  expect(forwarded).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect(forwarded).toBe(2);
  vi.advanceTimersByTime(10_000);
  expect(forwarded).toBe(2);
  throttled.touch();
  expect(forwarded).toBe(3);
  throttled.touch();
  throttled.close();
  vi.advanceTimersByTime(10_000);
  expect(forwarded).toBe(3);
});
