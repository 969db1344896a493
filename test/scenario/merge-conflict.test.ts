import { expect } from 'vitest';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

story(
  'a change that conflicts with one ahead runs nothing, and those behind are tested without it',
  { layout: classicLayout() },
  async world => {
    await world.propose('A', { files: { 'conflict.txt': 'one thing\n' } });
    await world.propose('B', { files: { 'conflict.txt': 'another thing\n' } });
    await world.propose('C');
    for (const topic of ['A', 'B', 'C']) await world.approve(topic);
    await world.runs('project-merge: A');
    world.release(/project-merge: A$/);
    await world.runs('project-test1: A', 'project-test2: A', 'project-merge: A C');
    world.release(/./);
    await world.leaves('A', 'SUCCESS');
    await world.leaves('B', 'MERGE_CONFLICT');
    await world.runs('project-test1: A C', 'project-test2: A C');
    world.release(/./);
    await world.leaves('C', 'SUCCESS');

    expect(await world.landed()).toEqual(['A', 'C']);
    expect(await world.history()).toEqual([
      'project-merge: A C SUCCESS',
      'project-merge: A SUCCESS',
      'project-test1: A C SUCCESS',
      'project-test1: A SUCCESS',
      'project-test2: A C SUCCESS',
      'project-test2: A SUCCESS',
    ]);
    const said = (await world.notes('B')).at(-1);
    expect(said).toContain('Merge failed (gate)');
    expect(said).toContain('- conflict.txt');
  },
);
