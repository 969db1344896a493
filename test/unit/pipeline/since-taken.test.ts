import { describe, expect, it } from 'vitest';
import { addMilliseconds } from '../../../src/lib/clock.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import { waitsAsTheyWere } from '../../../src/pipeline/since-taken.ts';
import { itemStory, jobNode } from '../../fake/queue-item.ts';
import { job, World } from './world.ts';

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
    const after = waitsAsTheyWere(item);
    expect(after.timeline.at(-1)).toEqual({ state: 'running', since: addMilliseconds(asked, 100) });
    expect(after.timeline.slice(0, -1)).toEqual(item.timeline);
  });

  it('also when it has ended meanwhile', () => {
    const { story, item } = takenUnnoticed();
    const ended = { ...story.finish('a', 'SUCCESS').item, timeline: item.timeline };
    expect(states(waitsAsTheyWere(ended)).at(-1)).toBe('running 101');
  });

  it('begins no earlier than the wait: what ran before it is exported already', () => {
    const { story } = takenUnnoticed();
    const waiting = story.finish('a', 'SUCCESS').request('c').enter('executor').item;
    expect(waitsAsTheyWere(waiting)).toBe(waiting);
    const taken = story.wait(50).start('c').item;
    const unnoticed = { ...taken, timeline: waiting.timeline };
    expect(states(waitsAsTheyWere(unnoticed)).at(-1)).toBe('running 351');
  });

  it('changes nothing while none was taken, or the item does something else', () => {
    const story = itemStory({ state: 'merge' }).merge().merged().freeze(['a']).wait(300);
    expect(waitsAsTheyWere(story.item)).toBe(story.item);
    const { item } = story.start('a');
    expect(waitsAsTheyWere(item)).toBe(item);
  });
});

describe('starts that arrive in the wrong order', () => {
  it('leave no moment in which an item both waits for an executor and has one', () => {
    const world = new World();
    const gate = world.pipeline('gate', { manager: 'dependent' });
    world.jobs('app', [job('a'), job('b')]);
    world.change('A', { project: 'app' });
    gate.enqueue('A');
    for (const merge of gate.merges) gate.turn([gate.mergeEvent(merge)]);
    const [first, second] = gate.builds;
    if (first === undefined || second === undefined) throw new Error('no builds');
    world.pass(100);
    const earlier = gate.startEvent(first);
    world.pass(100);
    const later = gate.startEvent(second);
    gate.turn([later]);
    gate.turn([earlier]);
    const [item] = gate.items();
    const running = item?.timeline.find(({ state }) => state === 'running')?.since;
    expect(running).toBe(later.kind === 'build-started' ? later.at : undefined);
    const starts = item?.buildset.builds.map(({ state }) => (state.state === 'started' ? state.at : null));
    expect(starts).toEqual([running, running]);
  });
});
