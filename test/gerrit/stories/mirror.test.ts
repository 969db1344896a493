/** Git is read from a replica of Gerrit that lags behind it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type GitHttpHost, startGitHttpHost } from '../../fake/git-http-host.ts';
import { runGit } from '../../fake/git-repository.ts';
import { DEADLINE } from '../../scenario/observer.ts';
import type { FakeGerrit } from '../fake/fake-gerrit.ts';
import { openGerritWorld } from './gerrit-world.ts';

let folder: string;
let mirror: GitHttpHost;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-replica-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  mirror = stack.use(await startGitHttpHost(folder));
});
afterAll(() => stack.disposeAsync());

/** The replica catches up with acme/app. */
async function replicate({ world }: FakeGerrit): Promise<void> {
  const source = world.projects.get('acme/app')?.dir ?? '';
  const target = path.join(folder, 'acme/app.git');
  await runGit(folder, ['init', '--quiet', '--bare', target]);
  await runGit(target, ['fetch', '--quiet', source, '+refs/*:refs/*']);
}

test('changes land whether the replica has their commits yet or not', { timeout: 4 * DEADLINE }, async () => {
  await using world = await openGerritWorld({ connection: [`git_mirror = ${mirror.url}`] });
  await replicate(world.gerrit);
  world.free();
  const late = await world.push();
  await world.leaves(late, 'SUCCESS', 'check');
  await world.approve(late);
  await world.leaves(late, 'SUCCESS');
  await replicate(world.gerrit);
  const asked = mirror.requests.length;
  expect(asked).toBeGreaterThan(0);
  const next = await world.push();
  await world.approve(next);
  await world.leaves(next, 'SUCCESS');
  expect([late.now.status, next.now.status]).toEqual(['MERGED', 'MERGED']);
  expect(mirror.requests.filter(({ authorization }) => authorization !== undefined)).toEqual([]);
  await world.end();
});
