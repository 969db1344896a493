/** Changes that passed together land in one move of their branch. */
import { expect } from 'vitest';
import { classicLayout } from './layouts.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const TOPICS = ['A', 'B', 'C', 'D'];
const TESTS = /project-test/;

/** From now on the repository remembers where its branch was. */
async function watchBranch(world: World): Promise<void> {
  await world.developer('org/project').git('config', 'core.logAllRefUpdates', 'always');
}

async function moves(world: World): Promise<number> {
  const log = await world.developer('org/project').git('reflog', 'show', '--format=%H', 'master');
  return log.split('\n').filter(Boolean).length;
}

/** All but the tests of the head have ended. */
async function allButTheHead(world: World): Promise<void> {
  for (const topic of TOPICS) await world.propose(topic);
  for (const topic of TOPICS) await world.approve(topic);
  await world.runs(
    'project-merge: A',
    'project-merge: A B',
    'project-merge: A B C',
    'project-merge: A B C D',
  );
  world.release(/project-merge/);
  const chains = TOPICS.map((_, index) => TOPICS.slice(0, index + 1).join(' '));
  await world.runs(...chains.flatMap(chain => [`project-test1: ${chain}`, `project-test2: ${chain}`]));
  world.release(/A B/);
  await world.runs('project-test1: A', 'project-test2: A');
}

story(
  'changes that passed behind the head land with it, in one move of the branch',
  { layout: classicLayout({ holdFollowing: false }) },
  async world => {
    await watchBranch(world);
    await allButTheHead(world);
    world.release(TESTS);
    for (const topic of TOPICS) await world.leaves(topic, 'SUCCESS');
    expect(await world.landed()).toEqual(TOPICS);
    expect(await moves(world)).toBe(1);
    for (const topic of TOPICS)
      expect((await world.notes(topic, 1)).join()).toContain('Build succeeded (gate)');
  },
);

story(
  'land-together: false moves the branch once per change',
  { layout: classicLayout({ holdFollowing: false, gate: { more: ['land-together: false'] } }) },
  async world => {
    await watchBranch(world);
    await allButTheHead(world);
    world.release(TESTS);
    for (const topic of TOPICS) await world.leaves(topic, 'SUCCESS');
    expect(await world.landed()).toEqual(TOPICS);
    expect(await moves(world)).toBe(TOPICS.length);
  },
);
