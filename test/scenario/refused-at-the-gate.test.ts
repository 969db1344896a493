/** What the gate does not take up, each with its reason on record. */
import { expect } from 'vitest';
import { checkYaml } from '../fake/layout-text.ts';
import { layoutWith, ONE_JOB } from './layouts.ts';
import { story } from './story.ts';

const LOCAL_CHECK = `${checkYaml()}    allow-other-connections: false
- project:
    name: org/project
    check: {jobs: [test]}
`;
const SITE = {
  layout: `${layoutWith(ONE_JOB, { notes: false })}${LOCAL_CHECK}`,
  far: { 'org/lib': { 'README.md': 'A library elsewhere.\n' } },
  tenantOptions: ['max-dependencies: 2', 'max-changes-per-pipeline: 2'],
};

story('a change is refused, and the reason says what would help', SITE, async world => {
  await world.propose('A', { message: 'Depends-On: org/project@master/B' });
  await world.propose('B', { message: 'Depends-On: org/project@master/A' });
  await world.approve('A');
  expect((await world.decided('A', 'dependency-cycle')).text).toContain('master/B');

  await world.propose('needed');
  await world.propose('needing', { message: 'Depends-On: org/project@master/needed' });
  await world.abandon('needed');
  await world.approve('needing');
  expect((await world.decided('needing', 'dependency-abandoned')).text).toContain('master/needed');

  await world.propose('elsewhere', { project: 'org/lib' });
  await world.propose('here', { message: 'Depends-On: far.example.org/org/lib@master/elsewhere' });
  expect((await world.decided('here', 'other-connection')).text).toContain('master/elsewhere');

  world.free();
  await world.propose('done');
  await world.approve('done');
  await world.leaves('done', 'SUCCESS');
  expect(world.queued()).toEqual([]);
  expect(await world.landed()).toEqual(['done']);
});

story(
  'a change too many is refused',
  { ...SITE, layout: layoutWith(ONE_JOB, { notes: false }) },
  async world => {
    await world.propose('A');
    for (const [topic, on] of [
      ['B', 'A'],
      ['C', 'B'],
      ['D', 'C'],
    ] as const)
      await world.propose(topic, { on });
    await world.propose('E');
    for (const topic of ['A', 'B']) await world.approve(topic);
    await world.runs('test: A', 'test: A B');
    await world.approve('D');
    expect((await world.decided('D', 'too-many-dependencies')).text).toContain('2');
    await world.approve('E');
    expect((await world.decided('E', 'pipeline-full')).text).toContain('max of 2');
    world.free();
    for (const topic of ['A', 'B']) await world.leaves(topic, 'SUCCESS');
    expect(await world.landed()).toEqual(['A', 'B']);
  },
);
