import { expect } from 'vitest';
import { NOTED } from '../fake/layout-text.ts';
import { classicLayout } from './layouts.ts';
import { storyOnBothStores } from './story.ts';

storyOnBothStores(
  'a failing item in the middle is stepped over: the items behind are tested without it',
  { layout: classicLayout({ checkout: false, gate: { notes: NOTED } }) },
  async world => {
    for (const topic of ['A', 'B', 'C']) await world.propose(topic);
    for (const topic of ['A', 'B', 'C']) await world.approve(topic);
    world.fail('project-test1', 'B');
    await world.runs('project-merge: A');
    world.release(/project-merge: A$/);
    await world.runs('project-merge: A B', 'project-test1: A', 'project-test2: A');
    world.release(/project-merge: A B$/);
    await world.runs(
      'project-merge: A B C',
      'project-test1: A',
      'project-test1: A B',
      'project-test2: A',
      'project-test2: A B',
    );
    world.release(/project-merge: A B C$/);
    const testsOfA = ['project-test1: A', 'project-test2: A'];
    await world.runs(
      ...testsOfA,
      'project-test1: A B',
      'project-test2: A B',
      'project-test1: A B C',
      'project-test2: A B C',
    );

    world.release(/project-test1: A B$/);
    await world.runs(...testsOfA, 'project-test2: A B', 'project-merge: A C');
    expect(world.item('C')?.resets).toHaveLength(1);
    expect(world.item('C')?.resets[0]?.text).toMatch(
      /^an item ahead failed: project-test1 of org\/project master\/B,\w+ ended with FAILURE$/,
    );
    world.release(/project-merge: A C$/);
    await world.runs(...testsOfA, 'project-test2: A B', 'project-test1: A C', 'project-test2: A C');
    const states = (topic: string) =>
      world
        .item(topic)
        ?.jobs.map(({ result, state }) => result ?? state)
        .toSorted();
    expect(states('A')).toEqual(['SUCCESS', 'started', 'started']);
    expect(states('B')).toEqual(['FAILURE', 'SUCCESS', 'started']);
    expect(states('C')).toEqual(['SUCCESS', 'started', 'started']);
    // B is decided, but not reported before A.
    world.release(/project-test2: A B$/);
    await world.runs(...testsOfA, 'project-test1: A C', 'project-test2: A C');
    expect(world.queued()).toEqual(['A', 'B', 'C']);
    expect(await world.notes('B')).toHaveLength(1);

    world.release(/./);
    await world.leaves('A', 'SUCCESS');
    await world.leaves('B', 'FAILURE');
    await world.leaves('C', 'SUCCESS');
    expect(await world.landed()).toEqual(['A', 'C']);
    const history = await world.history();
    expect(history).toHaveLength(12);
    expect(history.filter(line => line.endsWith('CANCELED'))).toEqual([
      'project-test1: A B C CANCELED',
      'project-test2: A B C CANCELED',
    ]);
    expect((await world.notes('C')).at(-1)).toContain(
      'Tested again because an item ahead failed: project-test1 of org/project master/B,',
    );
    for (const topic of ['A', 'B', 'C']) expect(await world.notes(topic)).toHaveLength(2);
  },
);
