import { afterEach, expect, test, vi } from 'vitest';
import { aborted } from '../../../src/lib/aborted.ts';
import { pause } from '../../../src/lib/pause.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a pause ends with its time or with its signal, whichever is first', async () => {
  const stop = new AbortController();
  await pause(1, stop.signal);
  const long = pause(2 ** 40, stop.signal);
  const forever = pause(Number.POSITIVE_INFINITY, stop.signal);
  stop.abort();
  await Promise.all([long, forever, aborted(stop.signal)]);
  await pause(Number.POSITIVE_INFINITY, stop.signal);
});

test('a pause that is longer than timers can hold does not end at once', async () => {
  vi.useFakeTimers();
  let isOver = false;
  void pause(2 ** 40, new AbortController().signal).then(() => {
    isOver = true;
  });
  await vi.advanceTimersByTimeAsync(60_000);
  expect(isOver).toBe(false);
});
