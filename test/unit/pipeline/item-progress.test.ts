import { expect, test } from 'vitest';
import { toMilliseconds } from '../../../src/lib/clock.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { itemProgress } from '../../../src/pipeline/item-progress.ts';
import { at, itemStory, jobNode } from '../../fake/queue-item.ts';

const MINUTE = 60_000;
/** Minutes; `odd` never succeeded. */
const USUAL = new Map([
  ['lint', 2],
  ['unit', 20],
  ['deploy', 30],
]);

function story(seed: string, ...jobs: Parameters<typeof jobNode>[]) {
  return itemStory({ seed })
    .merge()
    .merged()
    .freeze(jobs.map(args => jobNode(...args)));
}

/** @param items one queue, the head first. @returns of the last one; `eta` in minutes from `now`, before it is rounded up at most. */
function progressOf(items: readonly QueueItem[], now = 10 * MINUTE) {
  const last = items.at(-1);
  if (last === undefined) return expect.unreachable('there is an item');
  const queue = { key: last.queue, name: 'integrated', window: 0, items: items.map(({ uuid }) => uuid) };
  const state = { queues: [queue], items: new Map(items.map(item => [item.uuid, item])) };
  const usual = (_: unknown, job: string) => {
    const minutes = USUAL.get(job);
    return minutes === undefined ? undefined : minutes * MINUTE;
  };
  const { eta, ...rest } = itemProgress(last, state, { now: at(now), usual });
  return { ...rest, eta: eta === null ? null : toMilliseconds(eta) };
}

/** The next full five minutes after so many minutes of the story. */
function fullFive(minutes: number): number {
  return Math.ceil(toMilliseconds(at(minutes * MINUTE)) / (5 * MINUTE)) * 5 * MINUTE;
}

test('an item is done when the longest way through its jobs is', () => {
  const item = story('a', ['lint'], ['deploy', 'unit', 'lint'], ['unit']).start('unit').wait(1).item;
  const { eta, ...rest } = progressOf([item]);
  expect(rest).toEqual({ ahead: 0, position: 1, running: ['unit'] });
  // 20 minutes of the unit tests, of which 10 have passed, and 30 of the deployment.
  expect(eta).toBe(fullFive(50));
});

test('an item is not done before those ahead of it, and one that has its result delays no other', () => {
  const first = story('a', ['unit']).start('unit').item;
  const second = story('b', ['lint']).item;
  expect(progressOf([first, second])).toEqual({ ahead: 1, position: 2, running: [], eta: fullFive(20) });
  const done = story('c', ['unit']).complete('SUCCESS').report().item;
  expect(progressOf([done, second])).toMatchObject({ ahead: 1, eta: fullFive(12) });
});

test('jobs that have ended cost no more time, those to be repeated cost all of it again', () => {
  const once = story('a', ['unit'], ['lint']).start('unit').finish('unit', 'SUCCESS').item;
  expect(progressOf([once])).toMatchObject({ eta: fullFive(12) });
  const again = story('b', ['unit'], ['lint']).start('unit').finish('unit', 'RETRY').item;
  expect(progressOf([again])).toMatchObject({ eta: fullFive(30) });
});

test('no time is named for a job that is unknown or late, nor before the jobs are known', () => {
  const odd = story('a', ['odd'], ['lint']).item;
  const late = story('b', ['lint']).start('lint').item;
  const merging = itemStory({ seed: 'c' }).merge().item;
  const known = story('d', ['lint']).item;
  for (const item of [odd, late, merging]) {
    expect(progressOf([item])).toMatchObject({ eta: null });
    expect(progressOf([item, known])).toMatchObject({ eta: null });
  }
});
