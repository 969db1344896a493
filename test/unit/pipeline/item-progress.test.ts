import { expect, test } from 'vitest';
import { toMilliseconds } from '../../../src/lib/clock.ts';
import { itemProgress } from '../../../src/pipeline/item-progress.ts';
import { itemStory, jobNode } from '../../fake/queue-item.ts';

const MINUTE = 60_000;

test('shows the place in the queue, the jobs that run, and the forecast to five minutes', () => {
  const story = (seed: string) =>
    itemStory({ seed })
      .merge()
      .merged()
      .freeze([jobNode('unit'), jobNode('lint')]);
  const items = [story('a').item, story('b').start('lint').item];
  const queue = { key: items[0]!.queue, name: 'integrated', window: 0, items: items.map(({ uuid }) => uuid) };
  const { eta, ...rest } = itemProgress(items[1]!, { queues: [queue] }, 100 * MINUTE + 1);
  expect(rest).toEqual({ ahead: 1, position: 2, running: ['lint'] });
  expect(toMilliseconds(eta!)).toBe(105 * MINUTE);
  expect(itemProgress(items[0]!, { queues: [queue] }, null)).toEqual({
    ahead: 0,
    position: 1,
    eta: null,
    running: [],
  });
});
