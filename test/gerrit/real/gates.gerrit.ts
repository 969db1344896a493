/** The whole service with the driver at a real Gerrit: from the push to the landing. */
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { type HostedWorld, openHostedWorld, storyFolder } from '../../scenario/hosted-world.ts';
import { DEADLINE } from '../../scenario/observer.ts';
import { gerritLayout } from '../stories/gerrit-layout.ts';
import { askWell } from './account.ts';
import type { PushedChange } from './deeds.ts';
import { type GerritOfTests, startGerrit } from './start-gerrit.ts';

interface RealWorld extends AsyncDisposable {
  readonly gerrit: GerritOfTests;
  readonly world: HostedWorld;
  leaves(change: PushedChange, result: string, pipeline?: string): Promise<unknown>;
  status(change: PushedChange): Promise<unknown>;
}

/** Our account finds the host key where an operator would put it. */
async function knownHosts({ ssh }: GerritOfTests, folder: string): Promise<string> {
  const file = path.join(folder, 'known_hosts');
  const { stdout } = await promisify(execFile)('ssh-keyscan', ['-p', String(ssh.port), ssh.host]);
  await writeFile(file, stdout);
  return file;
}

async function openRealWorld(): Promise<RealWorld> {
  const stack = new AsyncDisposableStack();
  const gerrit = stack.use(await startGerrit());
  const root = await storyFolder('gatehouse-gerrit-real-');
  stack.defer(() => rm(root, { recursive: true, force: true }));
  const config = await gerrit.createProject('org/config');
  const { world } = await openHostedWorld(root, {}, async stage => {
    await gerrit.pushBranch(gerrit.admin, config, {
      'zuul.yaml': gerritLayout(),
      'playbooks/job.sh': stage.playbook,
    });
    return {
      projects: ['acme/app', 'acme/library'],
      driverLines: [
        'driver = gerrit',
        `server = ${gerrit.ssh.host}`,
        `baseurl = ${gerrit.url}`,
        `user = ${gerrit.ci.username}`,
        `password = ${gerrit.ci.password}`,
        `port = ${gerrit.ssh.port}`,
        `sshkey = ${gerrit.ci.keyFile}`,
        `ssh_known_hosts = ${await knownHosts(gerrit, root)}`,
      ],
      notify() {},
      settled: async () => {},
      carriedOut: async () => {},
      takeViolations: () => [],
      async [Symbol.asyncDispose]() {},
    };
  });
  stack.use(world);
  return {
    gerrit,
    world,
    leaves: (change, result, pipeline = 'gate') =>
      world.left({ number: change.number, project: change.project }, result, pipeline),
    async status({ number }) {
      const info = await askWell(gerrit.ask, gerrit.ci, 'GET', `changes/${number}`);
      return typeof info === 'object' && info !== null && 'status' in info ? info.status : undefined;
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test('a change is checked, voted on, approved, gated and submitted', { timeout: 4 * DEADLINE }, async () => {
  await using real = await openRealWorld();
  const { gerrit, world } = real;
  world.free();
  const change = await gerrit.push({ by: gerrit.alice, subject: 'Log in' });
  await real.leaves(change, 'SUCCESS', 'check');
  await gerrit.vote(change, gerrit.bob, { 'Code-Review': 2, Workflow: 1 });
  await real.leaves(change, 'SUCCESS');
  expect(await real.status(change)).toBe('MERGED');
  await world.end();
});

test('a dependency of another project lands first', { timeout: 4 * DEADLINE }, async () => {
  await using real = await openRealWorld();
  const { gerrit, world } = real;
  world.free();
  const needed = await gerrit.push({ by: gerrit.alice, subject: 'Needed', project: 'acme/library' });
  const body = `Depends-On: ${gerrit.url}/c/${needed.project}/+/${needed.number}`;
  const dependent = await gerrit.push({ by: gerrit.alice, subject: 'Dependent', body });
  await real.leaves(dependent, 'SUCCESS', 'check');
  for (const change of [needed, dependent])
    await gerrit.vote(change, gerrit.bob, { 'Code-Review': 2, Workflow: 1 });
  await real.leaves(dependent, 'SUCCESS');
  expect([await real.status(needed), await real.status(dependent)]).toEqual(['MERGED', 'MERGED']);
  await world.end();
});

test('a change in the gate survives a restart of Gerrit', { timeout: 4 * DEADLINE }, async context => {
  await using real = await openRealWorld();
  const { gerrit, world } = real;
  const { stop, start } = gerrit;
  if (stop === undefined || start === undefined) return context.skip('this Gerrit is not ours to restart');
  const change = await gerrit.push({ by: gerrit.alice, subject: 'Survives' });
  const unit = `unit: ${change.number}`;
  await world.runs(unit);
  world.release(/unit/);
  await real.leaves(change, 'SUCCESS', 'check');
  await gerrit.vote(change, gerrit.bob, { 'Code-Review': 2, Workflow: 1 });
  await world.runs(unit);
  await stop();
  await start();
  world.free();
  await real.leaves(change, 'SUCCESS');
  expect(await real.status(change)).toBe('MERGED');
});

// A requirement that is no longer met is reported as FAILURE, with the reason requirement-lost.
test.each([
  [
    'made work in progress',
    'FAILURE',
    (gerrit: GerritOfTests, change: PushedChange) => gerrit.setWip(change, gerrit.alice, true),
  ],
  [
    'refused its approval',
    'FAILURE',
    (gerrit: GerritOfTests, change: PushedChange) => gerrit.vote(change, gerrit.bob, { Workflow: 0 }),
  ],
  [
    'abandoned',
    'DEQUEUED',
    (gerrit: GerritOfTests, change: PushedChange) => gerrit.abandon(change, gerrit.alice),
  ],
])('a change leaves the gate when it is %s', { timeout: 4 * DEADLINE }, async (_, result, deed) => {
  await using real = await openRealWorld();
  const { gerrit, world } = real;
  const change = await gerrit.push({ by: gerrit.alice, subject: 'Not after all' });
  const unit = `unit: ${change.number}`;
  await world.runs(unit);
  world.release(/unit/);
  await real.leaves(change, 'SUCCESS', 'check');
  await gerrit.vote(change, gerrit.bob, { 'Code-Review': 2, Workflow: 1 });
  await world.runs(unit);
  await deed(gerrit, change);
  await real.leaves(change, result);
  expect(await real.status(change)).not.toBe('MERGED');
  await world.end();
});
