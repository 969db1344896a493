/** The driver's client and change reader before a real Gerrit. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openGerritClient } from '../../../drivers/gerrit/api/open-client.ts';
import type { GerritCall } from '../../../drivers/gerrit/api/port.ts';
import type { GerritAuth } from '../../../drivers/gerrit/options.ts';
import { createChangeReader } from '../../../drivers/gerrit/reading/change-reader.ts';
import { createGerritRemote } from '../../../drivers/gerrit/remote.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { Secret } from '../../../src/lib/secret.ts';
import { projectKey } from '../../../src/model/project.ts';
import { runGit } from '../../fake/git-repository.ts';
import { hasSubmitRequirements } from './project-config.ts';
import { type GerritOfTests, startGerrit } from './start-gerrit.ts';

let gerrit: GerritOfTests;
beforeAll(async () => {
  gerrit = await startGerrit();
});
afterAll(() => gerrit?.[Symbol.asyncDispose]());

const clock = systemClock();

function open(password = gerrit.ci.password) {
  const auth: GerritAuth = { kind: 'basic', user: gerrit.ci.username, password: new Secret(password) };
  const operations: string[] = [];
  const client = openGerritClient(
    { baseUrl: gerrit.url, auth, verifySsl: true, concurrency: 8 },
    {
      connection: 'review',
      clock,
      pause: async () => {},
      noted: () => {},
      asked: (operation, status) => operations.push(`${operation} ${status}`),
    },
  );
  const call: GerritCall = { project: 'acme/app', signal: new AbortController().signal };
  return { auth, operations, call, client, reader: createChangeReader({ api: client.api, clock }) };
}

test('changes are read one by one and in a burst, and their commits are found', async () => {
  const { reader, call, client, operations } = open();
  const changes = [];
  for (const subject of ['One', 'Two', 'Three', 'Four', 'Five'])
    changes.push(await gerrit.push({ by: gerrit.alice, subject }));
  const wanted = ({ number }: { readonly number: number }) => ({
    number,
    notBefore: clock.now(),
    patchset: 1,
  });
  const [first] = changes;
  if (first === undefined) throw new Error('no change');
  const read = await reader.read(wanted(first), call);
  const info = read.kind === 'ok' ? read.data?.info : undefined;
  expect(info).toMatchObject({ number: first.number, subject: 'One', status: 'NEW' });
  expect(info?.submitRequirements !== null).toBe(hasSubmitRequirements(gerrit.version));
  expect(info?.labels.find(({ name }) => name === 'Verified')?.permitted).toContain(1);

  operations.length = 0;
  const burst = await Promise.all(changes.map(change => reader.read(wanted(change), call)));
  expect(burst.map(each => each.kind === 'ok' && each.data?.info.number)).toEqual(
    changes.map(({ number }) => number),
  );
  expect(operations).toEqual(['changes/query 200']);

  const next = await gerrit.push({ by: gerrit.alice, subject: 'One again', amends: first });
  const places = await reader.patchsetsOf([first.commit, next.commit, 'f'.repeat(40)], call);
  expect(places.kind === 'ok' && [...places.data].sort()).toMatchObject(
    [
      [
        first.commit,
        { number: first.number, patchset: 1, currentPatchset: 2, status: 'NEW', branch: 'master' },
      ],
      [next.commit, { number: first.number, patchset: 2, currentPatchset: 2 }],
    ].sort(),
  );
  expect(await reader.read({ number: 99_999, notBefore: clock.now(), patchset: null }, call)).toMatchObject({
    kind: 'ok',
    data: null,
  });
  client.close();
});

test('a wrong password is no verdict, and git reads with the right one', async () => {
  const wrong = open('wrong');
  const request = { operation: 'accounts/self', method: 'GET', path: 'accounts/self' } as const;
  expect(await wrong.client.api.ask(request, wrong.call)).toMatchObject({
    kind: 'later',
    later: { reason: 'denied' },
  });
  const { auth, client, call } = open();
  expect(await client.api.ask(request, call)).toMatchObject({
    kind: 'ok',
    data: { username: gerrit.ci.username },
  });
  const project = projectKey({ connection: 'review', name: gerrit.project('acme/app') });
  const remote = createGerritRemote({
    server: 'x',
    baseUrl: gerrit.url,
    auth,
    ssh: undefined,
    gitOverSsh: false,
    gitMirror: undefined,
  });
  const { url, headers = [] } = await remote(project, 'read');
  const listed = await runGit('.', [
    '-c',
    `http.extraHeader=${headers[0]}`,
    'ls-remote',
    url,
    'refs/heads/*',
  ]);
  expect(String(listed)).toContain('refs/heads/master');
  wrong.client.close();
  client.close();
});
