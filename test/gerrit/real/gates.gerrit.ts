/** The whole service with the driver at a real Gerrit: from the push to the landing. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { DEADLINE } from '../../scenario/observer.ts';
import { gerritLayout } from '../stories/gerrit-layout.ts';
import { askWell } from './account.ts';
import type { PushedChange } from './deeds.ts';
import { openRealWorld } from './real-world.ts';
import { type GerritOfTests, startGerrit } from './start-gerrit.ts';

vi.setConfig({ testTimeout: 4 * DEADLINE });

let gerrit: GerritOfTests;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  gerrit = stack.use(await startGerrit());
});
afterAll(() => stack.disposeAsync());

/** Of what waits for the host. */
const TROUBLE = [/host|Gerrit|trouble|later|stream/i];

test('a change is checked, voted on, approved, gated and submitted', async () => {
  await using world = await openRealWorld(gerrit, 'main');
  world.free();
  const change = await world.push({ subject: 'Log in' });
  await world.leaves(change, 'SUCCESS', 'check');
  await world.approve(change);
  await world.leaves(change, 'SUCCESS');
  expect(await world.status(change)).toBe('MERGED');
  await world.end();
});

test('a dependency of another project lands first', async () => {
  await using world = await openRealWorld(gerrit, 'needs');
  world.free();
  const needed = await world.push({ subject: 'Needed', project: 'library' });
  const dependent = await world.push({ subject: 'Dependent', body: dependsOn(needed) });
  await world.leaves(dependent, 'SUCCESS', 'check');
  for (const change of [needed, dependent]) await world.approve(change);
  await world.leaves(dependent, 'SUCCESS');
  expect([await world.status(needed), await world.status(dependent)]).toEqual(['MERGED', 'MERGED']);
  await world.end();
});

test('a cycle of three changes over two projects is tested as one, and all of it is submitted', async () => {
  const layout = (options: object) =>
    gerritLayout({ ...options, queue: ['allow-circular-dependencies: true'] });
  await using world = await openRealWorld(gerrit, 'cycle', { layout });
  const one = await world.push({ subject: 'One', project: 'library' });
  const two = await world.push({ subject: 'Two', body: dependsOn(one) });
  const three = await world.push({ subject: 'Three', body: dependsOn(two), project: 'library' });
  const again = await world.push({
    ...{ subject: 'One', body: dependsOn(three), amends: one, project: 'library' },
  });
  await world.observer.until('all to be checked as one', () =>
    world.observer.items().some(({ changes }) => changes.length === 3),
  );
  world.free();
  await world.leaves(three, 'SUCCESS', 'check');
  for (const change of [again, two]) await world.approve(change);
  await world.observer.settle();
  expect(world.observer.items()).toEqual([]);
  await world.approve(three);
  const left = await world.leaves(three, 'SUCCESS');
  expect(left.changes).toHaveLength(3);
  const landed = await Promise.all([again, two, three].map(world.status));
  expect(landed).toEqual(['MERGED', 'MERGED', 'MERGED']);
  await world.end();
});

test('changes in the gate survive a restart of Gerrit, and what happened before it answered is found', async context => {
  const { stop, start } = gerrit;
  if (stop === undefined || start === undefined) return context.skip('this Gerrit is not ours to restart');
  await using world = await openRealWorld(gerrit, 'restart', { expectedTrouble: TROUBLE });
  const [first, second] = [await world.push({ subject: 'First' }), await world.push({ subject: 'Second' })];
  for (const change of [first, second]) {
    await world.approve(change);
    await world.observer.until('it to enter the gate', () => world.isLive(change));
  }
  await world.runs(`unit: ${first.number}`, `unit: ${first.number} ${second.number}`);
  await stop();
  world.release(new RegExp(`^unit: ${first.number}$`));
  await start();
  const third = await world.push({ subject: 'Third' });
  world.free();
  for (const change of [first, second]) await world.leaves(change, 'SUCCESS');
  expect([await world.status(first), await world.status(second)]).toEqual(['MERGED', 'MERGED']);
  await world.leaves(third, 'SUCCESS', 'check');
  await world.end();
});

test('each way out of the gate is seen, and work that is ready again comes back', async () => {
  // Since 3.13 a deletion is announced while the change can still be read.
  await using world = await openRealWorld(gerrit, 'leaves', { expectedTrouble: TROUBLE });
  const vote = (change: PushedChange, label: string) =>
    `changes/${change.number}/reviewers/${gerrit.bob.username}/votes/${label}`;
  // A requirement that is no longer met is reported as FAILURE, with the reason requirement-lost.
  const ways: readonly [string, string, (change: PushedChange) => Promise<unknown>][] = [
    ['made work in progress', 'FAILURE', change => gerrit.setWip(change, gerrit.alice, true)],
    ['refused its approval', 'FAILURE', change => gerrit.vote(change, gerrit.bob, { Workflow: 0 })],
    [
      'vote removed',
      'FAILURE',
      change => askWell(gerrit.ask, gerrit.admin, 'DELETE', vote(change, 'Code-Review')),
    ],
    [
      'reviewer removed',
      'FAILURE',
      change =>
        askWell(
          gerrit.ask,
          gerrit.admin,
          'DELETE',
          `changes/${change.number}/reviewers/${gerrit.bob.username}`,
        ),
    ],
    ['abandoned', 'DEQUEUED', change => gerrit.abandon(change, gerrit.alice)],
    [
      'deleted',
      'DEQUEUED',
      change => askWell(gerrit.ask, gerrit.admin, 'DELETE', `changes/${change.number}`),
    ],
  ];
  const changes: PushedChange[] = [];
  for (const [subject] of ways) {
    const change = await world.push({ subject });
    await world.approve(change);
    await world.observer.until(`${subject} to enter the gate`, () => world.isLive(change));
    changes.push(change);
  }
  const found: string[] = [];
  // From the last one on, so that none is behind the one that leaves.
  for (const [at, [subject, result, deed]] of [...ways.entries()].toReversed()) {
    const change = changes[at];
    if (change === undefined) throw new Error(`no change for ${subject}`);
    await deed(change);
    const left = await world.leaves(change, result);
    found.unshift(`${subject}: ${left.result}`);
  }
  expect(found).toEqual(ways.map(([subject, result]) => `${subject}: ${result}`));
  world.free();
  const [unfinished] = changes;
  if (unfinished === undefined) throw new Error('no change');
  await gerrit.setWip(unfinished, gerrit.alice, false);
  await world.observer.until('it to come back', async () => (await world.status(unfinished)) === 'MERGED');
  await world.end();
});

function dependsOn({ project, number }: PushedChange): string {
  return `Depends-On: ${gerrit.url}/c/${project}/+/${number}`;
}
