/** Changes that depend on each other are one item: tested together, landed together or not at all. */
import { expect } from 'vitest';
import { NOTED } from '../fake/layout-text.ts';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const TO_A = 'Depends-On: org/project1@master/A';
const TO_B = 'Depends-On: org/project2@master/B';

async function proposeBoth(world: World): Promise<void> {
  await world.propose('A', { project: 'org/project1', message: TO_B });
  await world.propose('B', { project: 'org/project2', message: TO_A });
}

story(
  'two changes that depend on each other land together, when both are approved',
  { layout: classicLayout({ checkout: false, cycles: true, holdFollowing: false, gate: { notes: NOTED } }) },
  async world => {
    await proposeBoth(world);
    await world.approve('A');
    const refused = await world.decided('A', 'dependency-not-ready');
    expect(refused.text).toContain('master/B');

    await world.approve('B');
    // Each project has a job of this name, and the one that checks out both runs once.
    await world.runs('project-merge: A B', 'project-merge: A B');
    expect(world.queued()).toEqual(['A']);
    expect(world.item('B')?.uuid).toBe(world.item('A')?.uuid);
    world.release(/project-merge/);
    await world.observer.until('the jobs behind', () => world.observer.running().length === 5);
    const own = world.stage.builds.map(({ job, variables: { zuul } }) => ({ job, of: zuul.project }));
    expect(own).toContainEqual({
      job: 'project-merge',
      of: expect.objectContaining({ name: 'org/project2' }),
    });
    world.free();
    const item = await world.leaves('A', 'SUCCESS');
    expect((await world.leaves('B', 'SUCCESS')).uuid).toBe(item.uuid);
    expect(await world.history()).toEqual([
      'integration: A B SUCCESS',
      ...['project-merge', 'project-test1', 'project-test2'].flatMap(job => {
        const line = `${job}: A B SUCCESS`;
        return [line, line];
      }),
    ]);
    expect(await world.landed('org/project1')).toEqual(['A']);
    expect(await world.landed('org/project2')).toEqual(['B']);
    for (const topic of ['A', 'B'])
      expect(await world.notes(topic, 2)).toEqual([expect.anything(), expect.stringMatching(/succeeded/)]);
  },
);

story(
  'a failure of one keeps both from landing, and is reported on both',
  { layout: classicLayout({ checkout: false, cycles: true, holdFollowing: false, gate: { notes: NOTED } }) },
  async world => {
    await proposeBoth(world);
    world.fail('project-test2', 'B');
    world.free();
    await world.approve('A');
    await world.decided('A', 'dependency-not-ready');
    await world.approve('B');
    await world.leaves('A', 'FAILURE');
    for (const topic of ['A', 'B'])
      expect(await world.notes(topic, 2)).toEqual([expect.anything(), expect.stringMatching(/failed/)]);
    expect(await world.landed('org/project1')).toEqual([]);
    expect(await world.landed('org/project2')).toEqual([]);
  },
);

story(
  'without the option they are refused, and the reason names it',
  { layout: classicLayout({ checkout: false }) },
  async world => {
    await proposeBoth(world);
    await world.approve('B');
    await world.approve('A');
    const refused = await world.decided('A', 'dependency-cycle');
    expect(refused.text).toContain('allow-circular-dependencies');
    expect(world.queued()).toEqual([]);
  },
);

story(
  'a new patchset of one takes both out, and both come back with it',
  { layout: classicLayout({ checkout: false, cycles: true, holdFollowing: false, notes: false }) },
  async world => {
    await proposeBoth(world);
    await world.approve('A');
    await world.decided('A', 'dependency-not-ready');
    await world.approve('B');
    await world.runs('project-merge: A B', 'project-merge: A B');
    await world.propose('B', { project: 'org/project2', message: TO_A, files: { 'b.txt': 'again' } });
    await world.leaves('A', 'DEQUEUED');
    world.free();
    await world.approve('B');
    await world.observer.until('both to land', async () =>
      (await world.landed('org/project2')).includes('B'),
    );
    expect(await world.landed('org/project1')).toEqual(['A']);
    expect(await world.landed('org/project2')).toEqual(['B']);
  },
);

story(
  'check tests changes that depend on each other together',
  {
    layout: classicLayout({ checkout: false, check: true, cycles: true, holdFollowing: false, notes: false }),
  },
  async world => {
    await world.propose('A', { project: 'org/project1', message: TO_B });
    world.free();
    await world.decided('A', 'dependency-unresolved');
    await world.propose('B', { project: 'org/project2', message: TO_A });
    const item = await world.leaves('B', 'SUCCESS', 'check');
    expect((await world.leaves('A', 'SUCCESS', 'check')).uuid).toBe(item.uuid);
    expect((await world.history()).filter(line => line.startsWith('integration'))).toEqual([
      'integration: A B SUCCESS',
    ]);
  },
);
