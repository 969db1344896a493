import { expect } from 'vitest';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

story(
  'when another push moves the branch, what was tested does not land but is tested again',
  { layout: classicLayout() },
  async world => {
    const developer = world.developer('org/project');
    await world.propose('A');
    await world.propose('B');
    await world.approve('A');
    await world.approve('B');
    await world.runs('project-merge: A');
    world.release(/./);
    await world.runs('project-test1: A', 'project-test2: A', 'project-merge: A B');

    // Past the gate, and without a webhook: it finds out when it lands.
    const foreign = await developer.commit({
      files: { 'foreign.txt': 'by hand\n' },
      message: 'Past the gate',
    });
    await developer.push(foreign, 'refs/heads/master');
    world.release(/: A$/);
    await world.observer.until('A to be tested again', () => world.item('A')?.resets.length === 1);
    expect(world.item('A')?.resets[0]?.text).toContain('another push moved the branch');
    expect(await world.landed()).toEqual([]);
    world.free();
    await world.leaves('A', 'SUCCESS');
    await world.leaves('B', 'SUCCESS');
    expect(await world.landed()).toEqual(['A', 'B']);
    expect(await developer.git('rev-parse', 'master~1^1')).toBe(foreign);
    expect((await world.notes('A')).at(-1)).toContain('Tested again because another push moved the branch');
  },
);
