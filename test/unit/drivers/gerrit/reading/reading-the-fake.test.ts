/** The reading side on the fake Gerrit, over HTTP: each event of its stream is a hint, and what comes of it is what the stream said. */
import { expect, test } from 'vitest';
import { openGerritClient } from '../../../../../drivers/gerrit/api/open-client.ts';
import { gerritNotificationJson } from '../../../../../drivers/gerrit/intake/notification.ts';
import { reduceGerritEvent } from '../../../../../drivers/gerrit/intake/reduce.ts';
import { createChangeReader } from '../../../../../drivers/gerrit/reading/change-reader.ts';
import { createGerritSource } from '../../../../../drivers/gerrit/reading/gerrit-source.ts';
import { systemClock } from '../../../../../src/lib/clock.ts';
import { derivedUuid } from '../../../../../src/lib/ids.ts';
import { Secret } from '../../../../../src/lib/secret.ts';
import { type ChangeRecord, changeKey } from '../../../../../src/model/change.ts';
import type { TriggerEvent } from '../../../../../src/model/event.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { projectKey } from '../../../../../src/model/project.ts';
import {
  type FakeGerrit,
  type FakeGerritOptions,
  startFakeGerrit,
} from '../../../../gerrit/fake/fake-gerrit.ts';
import { eventLines } from './scripted-gerrit.ts';

const app = projectKey({ connection: 'gerrit', name: 'acme/app' });
const { signal } = new AbortController();

async function readFake(options: FakeGerritOptions = {}) {
  const gerrit = await startFakeGerrit(options);
  await gerrit.project('acme/app');
  const clock = systemClock();
  const client = openGerritClient(
    {
      baseUrl: gerrit.url,
      auth: { kind: 'basic', user: 'gatehouse', password: new Secret('gatehouse-password') },
      ...{ verifySsl: true, concurrency: 8 },
    },
    { connection: 'gerrit', clock, pause: async () => {}, noted: () => {}, asked: () => {} },
  );
  const source = createGerritSource({
    ...{ api: client.api, clock, connection: 'gerrit', canonicalHostname: 'review', baseUrl: gerrit.url },
    reader: createChangeReader({ api: client.api, clock }),
  });
  const memory = new Map<string, Json>();
  const records = new Map<string, ChangeRecord>();
  const events: TriggerEvent[] = [];
  const context = {
    ...{ projects: new Set([app]), signal, memory: { get: async (key: string) => memory.get(key) } },
    record: (key: string) => records.get(key),
  };
  let taken = gerrit.events.length;
  /** Of all events since the last time, each processed by itself. */
  async function announced(): Promise<readonly string[]> {
    const lines: string[] = [];
    for (const { json } of gerrit.events.slice(taken)) {
      taken += 1;
      const reduced = reduceGerritEvent(json as Json, 'stream');
      if (reduced.kind !== 'notifications') continue;
      for (const notification of reduced.notifications) {
        const now = clock.now();
        const event = {
          ...{ uuid: derivedUuid('fake', String(taken)), connection: 'gerrit', type: notification.event },
          ...{ deliveryId: String(taken), payload: gerritNotificationJson(notification), sampled: true },
          ...{ receivedAt: now, storedAt: now },
        };
        let processed = await source.process(event, context);
        for (let tries = 0; 'later' in processed && tries < 5; tries += 1)
          processed = await source.process(event, context);
        if ('later' in processed) throw new Error(processed.later.text);
        for (const { key, value } of processed.memory) memory.set(key, value ?? null);
        for (const record of processed.changes) records.set(record.change.key, record);
        events.push(...processed.events);
        lines.push(...eventLines(processed));
      }
    }
    return lines;
  }
  return {
    ...{
      gerrit,
      announced,
      source,
      events,
      record: (number: number) => records.get(changeKey(app, String(number))),
    },
    async [Symbol.asyncDispose]() {
      client.close();
      await gerrit[Symbol.asyncDispose]();
    },
  };
}

type Change = Awaited<ReturnType<FakeGerrit['push']>>;

test('everything people do to a change is announced once', async () => {
  await using fake = await readFake();
  const { gerrit, announced } = fake;
  const change: Change = await gerrit.push({ project: 'acme/app', files: { a: 'a\n' }, message: 'Add a' });
  const n = change.number;
  expect(await announced()).toEqual([`patchset-created acme/app#${n} by alice`]);
  const deeds: readonly (readonly [() => Promise<unknown>, readonly string[]])[] = [
    [() => gerrit.comment(change, 'bob', 'recheck'), ['comment-added bob']],
    [() => gerrit.vote(change, 'bob', { 'Code-Review': 2 }), ['comment-added bob']],
    [() => gerrit.deleteVote(change, 'admin', 'bob', 'Code-Review'), ['vote-deleted admin']],
    [() => gerrit.vote(change, 'bob', { 'Code-Review': 1 }), ['comment-added bob']],
    [() => gerrit.deleteReviewer(change, 'admin', 'bob'), ['reviewer-deleted admin']],
    [() => gerrit.setTopic(change, 't1'), ['topic-changed alice']],
    [() => gerrit.setHashtags(change, { add: ['x', 'y'] }), ['hashtags-changed alice']],
    [() => gerrit.setWip(change, true), ['wip-state-changed alice']],
    [() => gerrit.setWip(change, false), ['wip-state-changed alice']],
    [() => gerrit.amend(change, { files: { a: 'b\n' } }), ['patchset-created alice']],
    [
      () => gerrit.editMessage(change, `Add b\n\nChange-Id: ${change.changeId}\n`),
      ['patchset-created alice'],
    ],
    [() => gerrit.abandon(change), ['change-abandoned alice']],
    [() => gerrit.restore(change), ['change-restored alice']],
    [() => gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 }), ['comment-added bob']],
    [() => gerrit.vote(change, 'gatehouse', { Verified: 2 }), ['comment-added gatehouse']],
  ];
  for (const [deed, expected] of deeds) {
    await deed();
    const lines = await announced();
    expect(lines.map(line => line.replace(` acme/app#${n} by`, ''))).toEqual(expected);
  }
  await gerrit.submit(change, 'gatehouse');
  const lines = await announced();
  expect(lines.map(line => line.replace(/@[0-9a-f]{40}/, ''))).toEqual([
    'ref-updated acme/app@refs/heads/master by null',
    `change-merged acme/app#${n} by gatehouse`,
  ]);
  expect(fake.record(n)).toMatchObject({ status: 'merged', facts: { status: 'MERGED', topic: 't1' } });
});

test('a change depends on the one it is built on, and knows when it is outdated', async () => {
  await using fake = await readFake();
  const { gerrit, announced } = fake;
  const below = await gerrit.push({ project: 'acme/app', files: { a: 'a\n' }, message: 'Below' });
  const above = await gerrit.push({ project: 'acme/app', files: { b: 'b\n' }, message: 'Above', on: below });
  await announced();
  const key = changeKey(app, String(below.number));
  expect(fake.record(above.number)?.dependsOn).toEqual([key]);
  await gerrit.amend(below, { files: { a: 'c\n' } });
  await announced();
  expect(fake.record(above.number)).toMatchObject({
    dependsOn: [key],
    facts: { parents: [{ number: below.number, patchset: 1, currentPatchset: 2 }] },
  });
});

test('a change that is made private or deleted leaves', async () => {
  await using fake = await readFake();
  const { gerrit, announced, record } = fake;
  const [one, two] = [
    await gerrit.push({ project: 'acme/app', files: { a: 'a\n' }, message: 'One' }),
    await gerrit.push({ project: 'acme/app', files: { b: 'b\n' }, message: 'Two' }),
  ];
  await announced();
  await gerrit.setPrivate(one, true);
  await gerrit.deleteChange(two, 'admin');
  expect(await announced()).toContain(`change-deleted acme/app#${two.number} by null`);
  expect([one, two].map(({ number }) => record(number)?.status)).toEqual(['abandoned', 'abandoned']);
});

test('branches and tags are announced, and listed', async () => {
  await using fake = await readFake();
  const { gerrit, announced, source } = fake;
  await gerrit.createBranch('acme/app', 'stable');
  await gerrit.tag('acme/app', 'v1');
  await gerrit.deleteBranch('acme/app', 'stable');
  await gerrit.pushBranch('acme/app', 'master', { c: 'c\n' });
  expect((await announced()).map(line => line.replace(/@(?:[0-9a-f]{40}|deleted) by null$/, ''))).toEqual([
    'ref-updated acme/app@refs/tags/v1',
    'ref-updated acme/app@refs/heads/master',
  ]);
  const commit = await gerrit.tip('acme/app');
  expect(await source.branches(app, signal)).toEqual([{ branch: 'master', commit }]);
});

test('a comment on the patch set comes with its message', async () => {
  await using fake = await readFake({ version: '3.11' });
  const { gerrit, announced, events } = fake;
  const change = await gerrit.push({ project: 'acme/app', files: { a: 'a\n' }, message: 'Add a' });
  await announced();
  const comments = { '/PATCHSET_LEVEL': [{ message: 'recheck' }], a: [{ message: 'typo', line: 1 }] };
  await gerrit.comment(change, 'bob', '', { comments });
  await announced();
  expect(events.at(-1)).toMatchObject({ type: 'comment-added', facts: { patchsetComments: ['recheck'] } });
});

test('a bare number names its change', async () => {
  await using fake = await readFake({ version: '3.11' });
  const { gerrit, source } = fake;
  const { number } = await gerrit.push({ project: 'acme/app', files: { a: 'a\n' }, message: 'Add a' });
  const named = await source.changeOfUrl(`${gerrit.url}/${number}`, new Set([app]), signal);
  expect(named).toBe(changeKey(app, String(number)));
});
