import { expect } from 'vitest';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

const gate = {
  more: [
    'window: 2',
    'window-floor: 1',
    'window-ceiling: 2',
    'window-increase-type: linear',
    'window-decrease-type: exponential',
  ],
};

story(
  'the window halves with a failure and grows with a success',
  { layout: classicLayout({ checkout: false, notes: false, gate, holdFollowing: false }) },
  async world => {
    const window = () =>
      world.observer.view()?.pipelines.find(each => each.name === 'gate')?.queues[0]?.window;
    await world.propose('A');
    await world.propose('B');
    await world.propose('C', { on: 'B' });
    world.fail('project-test1', 'A');
    for (const topic of ['A', 'B', 'C']) await world.approve(topic);
    await world.runs('project-merge: A', 'project-merge: A B');
    expect(window()).toBe(2);
    await world.observer.until('C to wait', () => world.item('C')?.state.name === 'window');

    world.release(/project-merge/);
    await world.runs('project-test1: A', 'project-test2: A', 'project-test1: A B', 'project-test2: A B');
    world.release(/./);
    await world.leaves('A', 'FAILURE');
    await world.runs('project-merge: B');
    expect(window()).toBe(1);
    world.release(/project-merge/);
    await world.runs('project-test1: B', 'project-test2: B');
    world.release(/./);
    await world.leaves('B', 'SUCCESS');
    await world.runs('project-merge: C');
    expect(window()).toBe(2);
    world.free();
    await world.leaves('C', 'SUCCESS');
    // At its ceiling.
    expect((await world.decisions('C')).filter(({ code }) => code === 'window-changed')).toEqual([]);
    expect(await world.landed()).toEqual(['B', 'C']);
  },
);
