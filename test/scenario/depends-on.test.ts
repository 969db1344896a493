import { expect } from 'vitest';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';

story(
  'a change lands after the ones it depends on, over projects',
  { layout: classicLayout({ checkout: false, notes: false }) },
  async world => {
    await world.propose('B', { project: 'org/project2' });
    await world.propose('A', { project: 'org/project1', message: 'Depends-On: org/project2@master/B' });
    await world.approve('A');
    await world.runs();
    expect(world.queued()).toEqual([]);
    const refused = await world.decided('A', 'dependency-not-ready');
    expect(refused.text).toContain('master/B');

    await world.approve('B');
    await world.runs('project-merge: B');
    expect(world.queued()).toEqual(['B', 'A']);
    world.release(/./);
    await world.observer.until('A to be tested with B', () =>
      world.observer.running().some(build => build.changes === 'B A'),
    );
    world.free();
    await world.leaves('B', 'SUCCESS');
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed('org/project1')).toEqual(['A']);
    expect(await world.landed('org/project2')).toEqual(['B']);
  },
);

story(
  'a dependency in another queue has to land first',
  { layout: classicLayout({ checkout: false, notes: false }) },
  async world => {
    await world.propose('B', { project: 'org/project' });
    await world.propose('A', { project: 'org/project1', message: 'Depends-On: org/project@master/B' });
    await world.approve('B');
    await world.approve('A');
    await world.runs('project-merge: B');
    expect(world.queued()).toEqual(['B']);
    const refused = await world.decided('A', 'dependency-other-queue');
    expect(refused.text).toContain('master/B');
    world.free();
    await world.leaves('B', 'SUCCESS');
    // Approved again it goes through.
    await world.withdraw('A');
    await world.approve('A');
    await world.leaves('A', 'SUCCESS');
    expect(await world.landed('org/project1')).toEqual(['A']);
  },
);

story(
  'check tests a change together with what it depends on, without landing anything',
  { layout: classicLayout({ checkout: false, check: true, notes: false }) },
  async world => {
    await world.propose('B', { project: 'org/project2' });
    world.free();
    await world.leaves('B', 'SUCCESS', 'check');
    await world.propose('A', { project: 'org/project1', message: 'Depends-On: org/project2@master/B' });
    await world.leaves('A', 'SUCCESS', 'check');
    expect((await world.history()).filter(line => line.includes('A'))).toEqual([
      'integration: B A SUCCESS',
      'project-merge: B A SUCCESS',
      'project-test1: B A SUCCESS',
      'project-test2: B A SUCCESS',
    ]);
    const zuul = world.stage.builds.find(build => build.changes === 'B A')?.variables.zuul;
    const message = 'Change A\n\nDepends-On: org/project2@master/B';
    expect(zuul?.change_message).toBe(message);
    expect(Buffer.from(String(zuul?.message), 'base64').toString()).toBe(message);
    expect(zuul?.items).toMatchObject([{ change_message: 'Change B' }, { change_message: message }]);
    expect(await world.landed('org/project1')).toEqual([]);
  },
);

story(
  'an approval of a dependency in another project counts although its webhook was lost',
  { layout: classicLayout({ checkout: false, notes: false }) },
  async world => {
    const commit = await world.propose('B', { project: 'org/project2' });
    await world.propose('A', { project: 'org/project1', message: 'Depends-On: org/project2@master/B' });
    await world.developer('org/project2').push(commit, 'refs/heads/gate/master/B');
    await world.approve('A');
    await world.runs('project-merge: B');
    expect(world.queued()).toEqual(['B', 'A']);
  },
);

story(
  'a note quotes the dependency that names no proposed change, as its author wrote it',
  { layout: classicLayout({ checkout: false }) },
  async world => {
    await world.propose('A', { project: 'org/project1', message: 'Depends-On: org/project2@master/b' });
    await world.approve('A');
    const [note] = await world.notes('A', 1);
    expect(note).toContain('unknown dependencies: org/project2 master/b');
    expect(note).not.toContain('#');
    const refused = (await world.decisions('A')).find(each => each.code === 'dependency-unresolved');
    expect(refused?.text).toBe('unknown dependencies: org/project2 master/b');
  },
);
