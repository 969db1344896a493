import { expect, test } from 'vitest';
import { createWorkCount } from '../../../src/lib/work-count.ts';

test('there is work until all of it has ended', () => {
  const count = createWorkCount();
  expect(count.isAtWork).toBe(false);
  const [one, another] = [count.hold(), count.hold()];
  one[Symbol.dispose]();
  one[Symbol.dispose]();
  expect(count.isAtWork).toBe(true);
  another[Symbol.dispose]();
  expect(count.isAtWork).toBe(false);
});

test('one waits for work while there is none, until the wait is aborted', async () => {
  const count = createWorkCount();
  const heard: string[] = [];
  const stop = new AbortController();
  const waits = [
    count.begun(new AbortController().signal).then(() => heard.push('work')),
    count.begun(stop.signal).then(() => heard.push('aborted')),
  ];
  stop.abort();
  await waits[1];
  expect(heard).toEqual(['aborted']);
  count.hold();
  await Promise.all([...waits, count.begun(stop.signal)]);
  expect(heard).toEqual(['aborted', 'work']);
  await count.begun(new AbortController().signal);
});
