/** Changes that depend on each other and change the configuration of several repositories, which holds for all of them at once. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const layout = `${layoutWith('', { check: true })}
- queue: {name: integrated, allow-circular-dependencies: true}
`;
const TO_A = 'Depends-On: org/project1@master/A';
const TO_B = 'Depends-On: org/project2@master/B';

/** A repository that defines jobs and runs others. */
const own = (
  defined: readonly string[],
  listed: readonly string[],
) => `${defined.map(name => `- job: {name: ${name}}\n`).join('')}
- project:
    queue: integrated
    check: {jobs: [${listed.join(', ')}]}
    gate: {jobs: [${listed.join(', ')}]}
`;
const projects = {
  'org/project1': { '.zuul.yaml': own(['first'], ['first']) },
  'org/project2': { '.zuul.yaml': own(['second'], ['second']) },
};

async function proposeBoth(world: World, a: string, b: string): Promise<void> {
  await world.propose('A', { project: 'org/project1', message: TO_B, files: { '.zuul.yaml': a } });
  await world.propose('B', { project: 'org/project2', message: TO_A, files: { '.zuul.yaml': b } });
}

story(
  'one defines a job and the other lists it: both are tested with it, and land',
  { layout, projects },
  async world => {
    await proposeBoth(world, own(['first', 'made'], ['first']), own(['second'], ['second', 'made']));
    await world.runs('first: A B', 'second: A B', 'made: A B');
    world.free();
    await world.leaves('A', 'SUCCESS', 'check');

    await world.approve('A');
    await world.decided('A', 'dependency-not-ready');
    await world.approve('B');
    const item = await world.leaves('A', 'SUCCESS');
    expect((await world.leaves('B', 'SUCCESS')).uuid).toBe(item.uuid);
    expect(await world.landed('org/project1')).toEqual(['A']);
    expect(await world.landed('org/project2')).toEqual(['B']);

    // Landed: it holds for every change now.
    await world.propose('C', { project: 'org/project2' });
    await world.leaves('C', 'SUCCESS', 'check');
    expect(await world.history()).toContain('made: C SUCCESS');
  },
);

story(
  'a mistake of one is reported on both, and no job runs for either',
  { layout, projects },
  async world => {
    world.free();
    await proposeBoth(world, own(['first'], ['first']), own(['second'], ['second', 'missing']));
    const item = await world.leaves('A', 'CONFIG_ERROR', 'check');
    expect((await world.leaves('B', 'CONFIG_ERROR', 'check')).uuid).toBe(item.uuid);
    for (const topic of ['A', 'B'])
      expect((await world.notes(topic)).at(-1)).toContain('Job missing not defined');
    expect(await world.history()).toEqual([]);

    await world.approve('A');
    await world.decided('A', 'dependency-not-ready');
    await world.approve('B');
    await world.leaves('B', 'CONFIG_ERROR');
    expect(await world.landed('org/project1')).toEqual([]);
    expect(await world.landed('org/project2')).toEqual([]);

    // Mended, the same two land.
    await world.propose('B', {
      project: 'org/project2',
      message: TO_A,
      files: { '.zuul.yaml': own(['second', 'missing'], ['second', 'missing']) },
    });
    await world.approve('B');
    await world.approve('A');
    await world.observer.until('both to land', async () =>
      (await world.landed('org/project2')).includes('B'),
    );
    expect(await world.landed('org/project1')).toEqual(['A']);
  },
);
