import { expect } from 'vitest';
import { NOTED } from '../fake/layout-text.ts';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

story(
  'a change that conflicts with one ahead runs nothing, and those behind are tested without it',
  { layout: classicLayout({ checkout: false, gate: { notes: NOTED } }) },
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
    for (const topic of ['A', 'C']) expect(await world.notes(topic, 2)).toHaveLength(2);
    expect(await world.developer('org/project').tip('refs/heads/for/master/B')).toBeDefined();
  },
);

const CONFLICTING = [...'CDEFGHIJKL'];

story(
  'ten changes in a row that conflict with one ahead cost the change behind them nothing, also when all are merged anew at once',
  { layout: classicLayout({ checkout: false, gate: { more: ['window: 40'] } }) },
  async world => {
    await world.propose('A');
    await world.propose('B', { files: { 'conflict.txt': 'one thing\n' } });
    for (const topic of CONFLICTING)
      await world.propose(topic, { files: { 'conflict.txt': `${topic}\n`, [`${topic}.txt`]: 'more\n' } });
    await world.propose('M');
    world.fail('project-merge', 'A');
    for (const topic of ['A', 'B', ...CONFLICTING, 'M']) await world.approve(topic);
    await world.runs('project-merge: A');
    await world.observer.until('the last change to be queued', () => world.item('M') !== undefined);
    expect(world.item('M')?.resets).toEqual([]);
    await world.observer.until('the merges of all', () => merges(world) >= 13);
    expect(merges(world)).toBe(13);

    // A fails: everything behind is merged anew, all in one turn
    world.release(/project-merge: A$/);
    await world.leaves('A', 'FAILURE');
    await world.runs('project-merge: B');
    for (const topic of ['B', ...CONFLICTING, 'M'])
      expect(world.item(topic)?.resets.map(({ text }) => text)).toEqual([
        expect.stringContaining('project-merge of'),
      ]);
    await world.observer.until('all to be merged anew', () => merges(world) >= 13 + 12);
    expect(merges(world)).toBe(13 + 12);
    world.release(/project-merge: B$/);
    await world.runs('project-test1: B', 'project-test2: B', 'project-merge: B M');
    world.free();
    await world.leaves('B', 'SUCCESS');
    for (const topic of CONFLICTING) await world.leaves(topic, 'MERGE_CONFLICT');
    expect((await world.leaves('M', 'SUCCESS')).resets).toBe(1);

    expect(await world.landed()).toEqual(['B', 'M']);
    for (const topic of CONFLICTING) expect((await world.notes(topic)).at(-1)).toContain('- conflict.txt');
  },
);

/** Requests to mergers about items that were answered or taken back. */
function merges(world: World): number {
  return world.sink.spans.filter(span => span.attributes['gatehouse.span.type'] === 'Merge').length;
}
