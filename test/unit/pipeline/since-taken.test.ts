import { describe, expect, it } from 'vitest';
import { addMilliseconds } from '../../../src/lib/clock.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { runningSinceTaken } from '../../../src/pipeline/since-taken.ts';
import { itemStory, jobNode } from '../../fake/queue-item.ts';

/** Two jobs are asked for, 300 ms go by, the first was taken after 100 of them. */
function takenUnnoticed() {
  const story = itemStory({ state: 'merge' })
    .merge()
    .merged()
    .freeze([jobNode('a'), jobNode('b')]);
  const asked = story.now;
  const { timeline } = story.item;
  story.wait(100).start('a').wait(200);
  return { story, asked, item: { ...story.item, timeline } };
}

const states = ({ timeline, enqueuedAt }: QueueItem) =>
  timeline.map(({ state, since }) => `${state} ${(BigInt(since) - BigInt(enqueuedAt)) / 1_000_000n}`);

describe('a build that was taken before the scheduler heard of it', () => {
  it('ends the wait for an executor when it was taken', () => {
    const { item, asked } = takenUnnoticed();
    const after = runningSinceTaken(item);
    expect(after.timeline.at(-1)).toEqual({ state: 'running', since: addMilliseconds(asked, 100) });
    expect(after.timeline.slice(0, -1)).toEqual(item.timeline);
  });

  it('also when it has ended meanwhile', () => {
    const { story, item } = takenUnnoticed();
    const ended = { ...story.finish('a', 'SUCCESS').item, timeline: item.timeline };
    expect(states(runningSinceTaken(ended)).at(-1)).toBe('running 101');
  });

  it('begins no earlier than the wait: what ran before it is told already', () => {
    const { story } = takenUnnoticed();
    const waiting = story.finish('a', 'SUCCESS').request('c').enter('executor').item;
    expect(runningSinceTaken(waiting)).toBe(waiting);
    const taken = story.wait(50).start('c').item;
    const unnoticed = { ...taken, timeline: waiting.timeline };
    expect(states(runningSinceTaken(unnoticed)).at(-1)).toBe('running 351');
  });

  it('changes nothing while none was taken, or the item does something else', () => {
    const story = itemStory({ state: 'merge' }).merge().merged().freeze(['a']).wait(300);
    expect(runningSinceTaken(story.item)).toBe(story.item);
    const { item } = story.start('a');
    expect(runningSinceTaken(item)).toBe(item);
  });
});
