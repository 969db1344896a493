import { expect } from 'vitest';
import { NOTED } from '../fake/layout-text.ts';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

story(
  'a change whose approval is withdrawn leaves at once and says why',
  { layout: classicLayout({ gate: { notes: NOTED } }) },
  async world => {
    await world.propose('A');
    await world.propose('B');
    await world.approve('A');
    await world.approve('B');
    await world.runs('project-merge: A');
    world.release(/project-merge: A$/);
    await world.runs('project-test1: A', 'project-test2: A', 'project-merge: A B');

    await world.withdraw('A');
    const left = await world.leaves('A', 'FAILURE');
    expect(left.reason).toBe('requirement-lost');
    await world.runs('project-merge: B');
    expect(world.item('B')?.resets[0]?.text).toContain('a requirement of the pipeline is no longer met');
    world.free();
    await world.leaves('B', 'SUCCESS');

    expect(await world.landed()).toEqual(['B']);
    expect((await world.history()).filter(line => line.includes(': A '))).toEqual([
      'project-merge: A B CANCELED',
      'project-merge: A SUCCESS',
      'project-test1: A CANCELED',
      'project-test2: A CANCELED',
    ]);
    const notes = await world.notes('A', 2);
    expect(notes).toHaveLength(2);
    expect(notes[1]).toContain(
      'This change is unable to merge due to a missing merge requirement: its current commit is not approved.',
    );
  },
);

story(
  'a change whose approval is withdrawn while its first job runs ends with that job cancelled',
  { layout: classicLayout({ gate: { notes: NOTED } }) },
  async world => {
    const proposed = await world.propose('A');
    await world.approve('A');
    await world.runs('project-merge: A');
    await world.withdraw('A');
    await world.leaves('A', 'FAILURE');
    expect(await world.history()).toEqual(['project-merge: A CANCELED']);
    expect(await world.landed()).toEqual([]);
    expect(await world.developer('org/project').tip('refs/heads/for/master/A')).toBe(proposed);
    const notes = await world.notes('A', 2);
    expect(notes).toHaveLength(2);
    expect(notes[1]).toContain('This change is unable to merge due to a missing merge requirement');
    // Approved again it is tested from the start.
    await world.approve('A');
    await world.runs('project-merge: A');
    world.free();
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed()).toEqual(['A']);
  },
);
