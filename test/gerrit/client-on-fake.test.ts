/** The driver's client, change reader and git remote before the fake Gerrit, over real HTTP. */
import { describe, expect, test } from 'vitest';
import { openGerritClient } from '../../drivers/gerrit/api/open-client.ts';
import type { GerritCall } from '../../drivers/gerrit/api/port.ts';
import type { GerritAuth } from '../../drivers/gerrit/options.ts';
import { createChangeReader } from '../../drivers/gerrit/reading/change-reader.ts';
import { createGerritRemote } from '../../drivers/gerrit/remote.ts';
import { fromMilliseconds, systemClock } from '../../src/lib/clock.ts';
import { Secret } from '../../src/lib/secret.ts';
import { projectKey } from '../../src/model/project.ts';
import { runGit } from '../fake/git-repository.ts';
import { type FakeGerrit, type FakeGerritOptions, startFakeGerrit } from './fake/fake-gerrit.ts';

const PASSWORD = { user: 'gatehouse', password: new Secret('gatehouse-password') };

async function openWorld(options: FakeGerritOptions = {}, auth: GerritAuth = { kind: 'basic', ...PASSWORD }) {
  const gerrit = await startFakeGerrit(options);
  await gerrit.project('acme/app');
  const clock = systemClock();
  const client = openGerritClient(
    { baseUrl: gerrit.url, auth, verifySsl: true, concurrency: 8 },
    { connection: 'review', clock, pause: async () => {}, random: () => 0, noted: () => {}, asked: () => {} },
  );
  const call: GerritCall = { project: 'acme/app', signal: new AbortController().signal };
  return {
    gerrit,
    clock,
    call,
    api: client.api,
    reader: createChangeReader({ api: client.api, clock, pause: async () => {} }),
    async [Symbol.asyncDispose]() {
      client.close();
      await gerrit[Symbol.asyncDispose]();
    },
  };
}

const push = (gerrit: FakeGerrit, name: string) =>
  gerrit.push({ project: 'acme/app', files: { [name]: 'a\n' }, message: `Add ${name}` });

describe('the client and the reader at the fake Gerrit', () => {
  test.for(['3.2', '3.11'] as const)('read a change (%s)', async version => {
    await using world = await openWorld({ version });
    await push(world.gerrit, 'a.txt');
    const wanted = { number: 1, notBefore: world.clock.now(), patchset: 1 };
    const read = await world.reader.read(wanted, world.call);
    expect(read).toMatchObject({
      kind: 'ok',
      data: { info: { number: 1, status: 'NEW', subject: 'Add a.txt' } },
    });
    const requirements = read.kind === 'ok' ? read.data?.info.submitRequirements : undefined;
    expect(requirements === null).toBe(version === '3.2');
    expect(await world.reader.read({ ...wanted, number: 99 }, world.call)).toMatchObject({
      kind: 'ok',
      data: null,
    });
  });

  test.for<GerritAuth>([
    { kind: 'digest', ...PASSWORD },
    { kind: 'bearer', token: new Secret('git-gatehouse-token') },
  ])('prove who they are ($kind)', async auth => {
    await using world = await openWorld(auth.kind === 'digest' ? { auth: 'digest' } : {}, auth);
    const request = { operation: 'accounts/self', method: 'GET', path: 'accounts/self' } as const;
    for (let round = 0; round < 2; round += 1)
      expect(await world.api.ask(request, world.call)).toMatchObject({
        kind: 'ok',
        data: { username: 'gatehouse' },
      });
  });

  test('take a wrong password for no verdict on the change', async () => {
    await using world = await openWorld(
      {},
      { kind: 'basic', user: 'gatehouse', password: new Secret('wrong') },
    );
    await push(world.gerrit, 'a.txt');
    const wanted = { number: 1, notBefore: world.clock.now(), patchset: 1 };
    expect(await world.reader.read(wanted, world.call)).toMatchObject({
      kind: 'later',
      later: { reason: 'denied' },
    });
  });

  test('read a burst with one query, and what its index does not show yet by detail', async () => {
    await using world = await openWorld();
    for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) await push(world.gerrit, name);
    world.gerrit.freezeIndex(1);
    await world.gerrit.amend(6, { files: { more: 'a\n' } });
    const before = world.gerrit.requests.length;
    const reads = await Promise.all(
      [1, 2, 3, 4, 5, 6].map(number =>
        world.reader.read(
          {
            number,
            notBefore: number === 6 ? world.clock.now() : fromMilliseconds(0),
            patchset: number === 6 ? 2 : 1,
          },
          world.call,
        ),
      ),
    );
    expect(reads.map(read => read.kind === 'ok' && read.data?.info.revision.number)).toEqual([
      1, 1, 1, 1, 1, 2,
    ]);
    // The query twice: the fake is a 3.2, which refuses an option at first.
    expect(world.gerrit.requests.length - before).toBe(3);
  });

  test('find the changes that commits are patch sets of', async () => {
    await using world = await openWorld();
    const first = await push(world.gerrit, 'a');
    const commit = first.now.patchSets[0]?.commit ?? '';
    await world.gerrit.amend(1, { files: { more: 'a\n' } });
    expect(await world.reader.patchsetsOf([commit, 'f'.repeat(40)], world.call)).toEqual({
      kind: 'ok',
      status: 200,
      data: new Map([
        [
          commit,
          {
            number: 1,
            patchset: 1,
            currentPatchset: 2,
            status: 'NEW',
            project: 'acme/app',
            branch: 'master',
          },
        ],
      ]),
    });
  });

  test('and git reach it with the same account', async () => {
    await using world = await openWorld();
    const remote = createGerritRemote({
      server: 'localhost',
      baseUrl: world.gerrit.url,
      auth: { kind: 'basic', ...PASSWORD },
      ssh: undefined,
      gitOverSsh: false,
      gitMirror: undefined,
    });
    const { url, headers = [] } = await remote(
      projectKey({ connection: 'review', name: 'acme/app' }),
      'read',
    );
    const listed = await runGit('.', [
      '-c',
      `http.extraHeader=${headers[0]}`,
      'ls-remote',
      url,
      'refs/heads/*',
    ]);
    expect(String(listed)).toContain('refs/heads/master');
  });
});
