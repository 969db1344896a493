import { expect } from 'vitest';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

story(
  'a change abandoned in the gate leaves, and those behind are tested without it',
  { layout: classicLayout({ notes: false }) },
  async world => {
    await world.propose('A');
    await world.propose('B');
    await world.approve('A');
    await world.approve('B');
    await world.runs('project-merge: A');
    world.release(/./);
    await world.runs('project-test1: A', 'project-test2: A', 'project-merge: A B');
    await world.abandon('A');
    const left = await world.leaves('A', 'DEQUEUED');
    expect(left.reason).toBe('abandoned');
    await world.runs('project-merge: B');
    expect(world.item('B')?.resets[0]?.text).toMatch(
      /^an item ahead is gone: org\/project master\/A,\w+ left: the change was abandoned$/,
    );
    world.free();
    await world.leaves('B', 'SUCCESS');
    expect(await world.landed()).toEqual(['B']);
  },
);

story(
  'a new patchset in the gate replaces the old one and needs an approval of its own',
  { layout: classicLayout({ notes: false }) },
  async world => {
    const old = await world.propose('A');
    await world.approve('A');
    await world.runs('project-merge: A');
    const fresh = await world.propose('A');
    const left = await world.leaves('A', 'DEQUEUED');
    expect(left.reason).toBe('new-patchset');
    await world.runs();

    // The approval on record is for the old commit; pushing it again changes nothing, so approve something else first.
    await world.withdraw('A');
    await world.approve('A', old);
    await world.runs();
    expect(world.queued()).toEqual([]);
    const refused = await world.decided('A', 'event-refused');
    expect(refused.text).toBe(
      `gate/master/A approves ${old.slice(0, 8)}, but the proposal is at ${fresh.slice(0, 8)}: look at that and approve it`,
    );

    await world.approve('A');
    await world.runs('project-merge: A');
    world.free();
    await world.observer.until('A to land', async () => (await world.landed()).length > 0);
    const landed = await world.developer('org/project').git('rev-parse', 'master^2');
    expect(landed).toBe(fresh);
  },
);
