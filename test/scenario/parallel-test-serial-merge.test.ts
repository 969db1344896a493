import { expect } from 'vitest';
import { NOTED } from '../fake/layout-text.ts';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

story(
  'changes are tested at the same time, each on top of the ones ahead, and land in order',
  { layout: classicLayout({ checkout: false, gate: { notes: NOTED } }) },
  async world => {
    for (const topic of ['A', 'B', 'C']) await world.propose(topic);
    for (const topic of ['A', 'B', 'C']) await world.approve(topic);

    // hold-following-changes: no item goes on before the merge job of the one ahead has succeeded.
    await world.runs('project-merge: A');
    expect(world.queued()).toEqual(['A', 'B', 'C']);
    expect(world.item('B')?.state.name).toBe('hold-following');
    world.release(/project-merge/);
    await world.runs('project-merge: A B', 'project-test1: A', 'project-test2: A');
    world.release(/project-merge/);
    await world.runs(
      'project-merge: A B C',
      'project-test1: A',
      'project-test1: A B',
      'project-test2: A',
      'project-test2: A B',
    );
    world.release(/project-merge/);
    await world.runs(
      'project-test1: A',
      'project-test1: A B',
      'project-test1: A B C',
      'project-test2: A',
      'project-test2: A B',
      'project-test2: A B C',
    );
    // The last one is done first and waits for its turn.
    world.release(/A B C/);
    await world.observer.until(
      'C to wait for the ones ahead',
      () => world.item('C')?.state.name === 'change-ahead',
    );
    expect(await world.landed()).toEqual([]);
    world.release(/./);
    for (const topic of ['A', 'B', 'C']) await world.leaves(topic, 'SUCCESS');

    expect(await world.landed()).toEqual(['A', 'B', 'C']);
    expect(await world.history()).toHaveLength(9);
    expect((await world.history()).every(line => line.endsWith(' SUCCESS'))).toBe(true);
    for (const topic of ['A', 'B', 'C']) {
      const notes = await world.notes(topic);
      expect(notes).toHaveLength(2);
      expect(notes[0]).toContain('Starting gate jobs.');
      expect(notes[1]).toContain('Build succeeded (gate).');
    }
  },
);
