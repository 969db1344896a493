import { expect } from 'vitest';
import { NOTED } from '../fake/layout-text.ts';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

story(
  'projects without a common queue do not wait for each other, those with one are tested together',
  { layout: classicLayout({ checkout: false, gate: { notes: NOTED } }) },
  async world => {
    await world.propose('A', { project: 'org/project' });
    await world.propose('B', { project: 'org/project1' });
    await world.propose('C', { project: 'org/project2' });
    for (const topic of ['A', 'B', 'C']) await world.approve(topic);

    await world.runs('project-merge: A', 'project-merge: B');
    world.release(/project-merge/);
    const testsOfA = ['project-test1: A', 'project-test2: A'];
    const testsOfB = ['project-test1: B', 'project-test2: B', 'integration: B'];
    await world.runs(...testsOfA, ...testsOfB, 'project-merge: B C');
    world.release(/project-merge/);
    await world.runs(
      ...testsOfA,
      ...testsOfB,
      'project-test1: B C',
      'project-test2: B C',
      'integration: B C',
    );

    // What is checked out beside: C's job sees org/project1 with B in it, although B has not landed.
    const integration = world.stage.builds.find(
      build => build.job === 'integration' && build.changes === 'B C',
    );
    const tested = integration?.variables.zuul.projects as {
      readonly [name: string]: { readonly commit: string };
    };
    const upstream = await world.developer('org/project1').tip('refs/heads/master');
    expect(tested['local/org/project1']?.commit).toMatch(/^[0-9a-f]{40}$/);
    expect(tested['local/org/project1']?.commit).not.toBe(upstream);

    world.release(/./);
    for (const topic of ['A', 'B', 'C']) {
      await world.leaves(topic, 'SUCCESS');
      expect(await world.notes(topic)).toHaveLength(2);
    }
    expect(await world.developer('org/project1').tip('refs/heads/master')).toBe(
      tested['local/org/project1']?.commit,
    );
    expect(await world.history()).toHaveLength(11);
  },
);
