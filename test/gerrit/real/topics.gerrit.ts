/** The whole service with the driver at a real Gerrit that submits topics as a whole: all of a topic, or none. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { DEADLINE } from '../../scenario/observer.ts';
import { gerritLayout } from '../stories/gerrit-layout.ts';
import { askWell } from './account.ts';
import type { PushedChange } from './deeds.ts';
import { openRealWorld, type RealWorld } from './real-world.ts';
import { type GerritOfTests, startGerrit } from './start-gerrit.ts';

vi.setConfig({ testTimeout: 6 * DEADLINE });

const PROJECTS = ['app', 'library', 'app', 'library', 'app'] as const;

let gerrit: GerritOfTests;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  gerrit = stack.use(await startGerrit({ submitWholeTopic: true }));
});
afterAll(() => stack.disposeAsync());

/** @param topic a word; its name is one of this test's account, so that a Gerrit that runs on has no other of it. */
async function pushTopic(world: RealWorld, topic: string): Promise<readonly PushedChange[]> {
  const options = `topic=${topic}-of-${gerrit.ci.username}`;
  const changes: PushedChange[] = [];
  for (const [at, project] of PROJECTS.entries())
    changes.push(await world.push({ subject: `${topic} ${at}`, project, options }));
  return changes;
}

async function submitsWholeTopics(): Promise<boolean> {
  const info = await askWell(gerrit.ask, gerrit.ci, 'GET', 'config/server/info');
  return /"submit_whole_topic":\s*true/.test(JSON.stringify(info));
}

test('a topic of five lands as a whole, and not at all when its test fails or an approval is missing', async context => {
  if (!(await submitsWholeTopics())) return context.skip('this Gerrit submits no topics as a whole');
  const layout = (options: object) =>
    gerritLayout({ ...options, queue: ['allow-circular-dependencies: true'] });
  await using world = await openRealWorld(gerrit, 'topic', { layout });
  const statuses = async (changes: readonly PushedChange[]) =>
    [...new Set(await Promise.all(changes.map(world.status)))].join(' ');
  world.free();

  const failing = await pushTopic(world, 'fails');
  for (const change of failing) world.fail('unit', change);
  for (const change of failing) await world.approve(change);
  for (const change of failing) await world.leaves(change, 'FAILURE');
  expect(await statuses(failing)).toBe('NEW');

  const landing = await pushTopic(world, 'lands');
  const [last, ...others] = landing;
  for (const change of others) await world.approve(change);
  await world.observer.settle();
  expect(landing.filter(change => world.isLive(change))).toEqual([]);
  expect(await statuses(landing)).toBe('NEW');
  if (last !== undefined) await world.approve(last);
  for (const change of landing) await world.leaves(change, 'SUCCESS');
  expect(await statuses(landing)).toBe('MERGED');

  // Each topic is tested once, by the job of either project.
  const built = world.stage.builds.filter(({ pipeline }) => pipeline === 'gate');
  expect(built.map(({ changes }) => changes.split(' ').length)).toEqual([5, 5, 5, 5]);
  await world.end();
});
