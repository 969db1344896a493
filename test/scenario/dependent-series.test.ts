import { expect } from 'vitest';
import { NOTED } from '../fake/layout-text.ts';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

story(
  'changes that build on a failing one are not tested',
  { layout: classicLayout({ checkout: false, gate: { notes: NOTED } }) },
  async world => {
    await world.propose('A');
    await world.propose('B', { on: 'A' });
    await world.propose('C', { on: 'B' });
    world.fail('project-merge', 'A');
    await world.approve('C');
    await world.approve('B');
    await world.runs();
    expect(world.queued()).toEqual([]);
    await world.approve('A');
    await world.runs('project-merge: A');
    expect(world.queued()).toEqual(['A', 'B', 'C']);
    world.release(/project-merge/);
    for (const topic of ['A', 'B', 'C']) await world.leaves(topic, 'FAILURE');

    expect(await world.landed()).toEqual([]);
    expect(await world.history()).toEqual(['project-merge: A FAILURE']);
    expect((await world.notes('A', 2)).at(-1)).toContain('- project-merge ');
    expect(await world.notes('B', 2)).toHaveLength(2);
    for (const topic of ['A', 'B'])
      expect(await world.developer('org/project').tip(`refs/heads/for/master/${topic}`)).toBeDefined();
    expect((await world.notes('C', 2)).at(-1)).toMatch(/depends on a change that (failed|is failing)/i);
  },
);

story(
  'a series lands in its order, regardless of the order of approval',
  { layout: classicLayout({ checkout: false, gate: { notes: NOTED } }) },
  async world => {
    await world.propose('A');
    await world.propose('B', { on: 'A' });
    await world.propose('C', { on: 'B' });
    world.free();
    await world.approve('C');
    await world.approve('B');
    await world.approve('A');
    for (const topic of ['A', 'B', 'C']) await world.leaves(topic, 'SUCCESS');
    expect(await world.landed()).toEqual(['A', 'B', 'C']);
    for (const topic of ['A', 'B', 'C']) expect(await world.notes(topic, 2)).toHaveLength(2);
  },
);
