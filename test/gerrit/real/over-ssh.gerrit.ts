/** A real Gerrit with a key alone: what is read, written and submitted over SSH, held against what REST shows. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { CHANGE_OPTIONS, readChangeInfo } from '../../../drivers/gerrit/api/change-info.ts';
import { openGerritClient } from '../../../drivers/gerrit/api/open-client.ts';
import type { GerritApi } from '../../../drivers/gerrit/api/port.ts';
import { createPatchsetNames } from '../../../drivers/gerrit/api/ssh/patchset-names.ts';
import { createSshCarrier } from '../../../drivers/gerrit/api/ssh/ssh-carrier.ts';
import { fileOfThisMachine } from '../../../drivers/gerrit/ssh/ssh-place.ts';
import { createSshSession, type SshSession } from '../../../drivers/gerrit/ssh/ssh-session.ts';
import { uploadPackOf } from '../../../drivers/gerrit/ssh/upload-pack.ts';
import { parseObjectId } from '../../../src/git/objects/object-id.ts';
import { parseRefName } from '../../../src/git/objects/ref-name.ts';
import type { Remote } from '../../../src/git/process/remote.ts';
import { createUploadPackHost } from '../../../src/git/wire/upload-pack-host.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import type { Json } from '../../../src/model/job.ts';
import { basicAuthorization } from './account.ts';
import { type GerritOfTests, startGerrit } from './start-gerrit.ts';

let gerrit: GerritOfTests;
let folder: string;
let api: GerritApi;
let session: SshSession;
const ending = new AsyncDisposableStack();
beforeAll(async () => {
  gerrit = ending.use(await startGerrit());
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-over-ssh-'));
  ending.defer(() => rm(folder, { recursive: true, force: true }));
  const knownHosts = path.join(folder, 'known_hosts');
  const { host, port } = gerrit.ssh;
  const { stdout } = await promisify(execFile)('ssh-keyscan', ['-p', String(port), host]);
  await writeFile(knownHosts, stdout);
  const { username, keyFile } = gerrit.ci;
  const place = { ...gerrit.ssh, user: username, key: keyFile, knownHosts: [knownHosts], keepAlive: 15 };
  session = createSshSession({ place, readFile: fileOfThisMachine, mostBytes: 1_000_000 });
  ending.defer(() => session.close());
  const client = openGerritClient(
    { baseUrl: gerrit.url, auth: { kind: 'ssh', submitsWholeTopic: false }, verifySsl: true, concurrency: 4 },
    {
      ...{ connection: 'review', clock: systemClock(), pause: async () => {} },
      ...{ noted: () => {}, asked: () => {} },
      overSsh: (_auth, { deadlinesMs, mostBytes }) =>
        createSshCarrier({
          session: createSshSession({ place, readFile: fileOfThisMachine, mostBytes }),
          listRefs: async () => ({ kind: 'refs', refs: new Map() }),
          ...{ patchsets: createPatchsetNames(), username, submitsWholeTopic: false, deadlinesMs },
          pause: ms => new Promise(resolve => setTimeout(resolve, ms)),
        }),
    },
  );
  ending.defer(() => client.close());
  api = client.api;
});
afterAll(() => ending.disposeAsync());

async function ask(method: 'GET' | 'POST', where: string, body?: Json) {
  return await api.ask(
    { operation: 'test', method, path: where, ...(body === undefined ? {} : { body }) },
    { project: 'acme/app', signal: new AbortController().signal },
  );
}

async function got(method: 'GET' | 'POST', where: string, body?: Json): Promise<Json> {
  const answer = await ask(method, where, body);
  return answer.kind === 'ok' ? answer.data : expect.unreachable(`${where}: ${JSON.stringify(answer)}`);
}

function optionsOfReading(): string {
  return CHANGE_OPTIONS.filter(each => each !== 'SUBMIT_REQUIREMENTS')
    .map(each => `o=${each}`)
    .join('&');
}

test('a change is read with the facts that REST shows', async () => {
  const change = await gerrit.push({ by: gerrit.alice, subject: 'One' });
  await gerrit.vote(change, gerrit.bob, { 'Code-Review': 2 });
  await gerrit.comment(change, gerrit.bob, 'recheck');
  const where = `changes/${change.number}/detail?${optionsOfReading()}`;
  const overSsh = readChangeInfo(await got('GET', where));
  const overHttp = readChangeInfo((await gerrit.ask(gerrit.ci, 'GET', where)).json);
  if (overSsh === undefined || overHttp === undefined) return expect.unreachable('it cannot be read');
  const { number, project, branch, changeId, subject, status, wip, createdAt, updatedAt } = overHttp;
  expect(overSsh).toMatchObject({ number, project, branch, changeId, subject, status, wip });
  const seconds = (time: string) => BigInt(time) / 1_000_000_000n;
  expect([overSsh.createdAt, overSsh.updatedAt].map(seconds)).toEqual([createdAt, updatedAt].map(seconds));
  const { commit, number: patchset, ref, parents, message } = overHttp.revision;
  expect(overSsh.revision).toMatchObject({ commit, number: patchset, ref, parents, message });
  const said = ({ messages }: typeof overSsh) => messages.map(({ text, tag }) => [text, tag]);
  expect(said(overSsh)).toEqual(said(overHttp));
  const votes = ({ labels }: typeof overSsh) =>
    labels.flatMap(({ name, votes: given }) =>
      given.filter(({ value }) => value !== 0).map(({ value, by }) => [name, value, by.username]),
    );
  expect(votes(overSsh)).toEqual(votes(overHttp));
  expect(overSsh.submitRecords?.length).toBeGreaterThan(0);
});

test('changes are listed in pages, and a query that cannot be read is refused', async () => {
  await gerrit.push({ by: gerrit.alice, subject: 'Two' });
  await gerrit.push({ by: gerrit.alice, subject: 'Three' });
  const query = encodeURIComponent(`project:"${gerrit.project('acme/app')}" status:open`);
  expect(await got('GET', `changes/?q=${query}&n=1&o=MESSAGES`)).toMatchObject([
    { subject: 'Three', _more_changes: true },
  ]);
  expect(await got('GET', `changes/?q=${query}&n=1&S=1&o=MESSAGES`)).toMatchObject([{ subject: 'Two' }]);
  expect(await ask('GET', 'changes/?q=nonsense:1')).toMatchObject({ kind: 'refused', status: 400 });
  expect(await ask('GET', 'changes/99999/detail')).toMatchObject({ kind: 'refused', status: 404 });
});

test('a review has votes, message and tag; what Gerrit drops or refuses shows', async () => {
  const change = await gerrit.push({ by: gerrit.alice, subject: 'Review me' });
  const { number, commit } = change;
  const place = `changes/${number}/revisions/${commit}`;
  const body = {
    ...{ tag: 'autogenerated:gatehouse:check', message: 'it\'s; $(touch x) "fine"\nü' },
    ...{ labels: { Verified: 1 }, notify: 'NONE' },
  };
  expect(await got('POST', `${place}/review`, body)).toEqual({ labels: { Verified: 1 } });
  const { json } = await gerrit.ask(gerrit.ci, 'GET', `changes/${number}/messages`);
  expect(JSON.stringify(json)).toContain(JSON.stringify(body.message).slice(1, -1));
  expect(JSON.stringify(json)).toContain(body.tag);
  const unknown = await ask('POST', `${place}/review`, { labels: { Nope: 1 } });
  expect(unknown.kind === 'ok' ? unknown.data : unknown).toSatisfy(
    (answer: object) =>
      JSON.stringify(answer) === '{"labels":{}}' || ('status' in answer && answer.status === 400),
  );
  // One that the account may not give is refused, or left out, and never another one in its place.
  const beyond = await ask('POST', `${place}/review`, { labels: { Verified: 9 } });
  expect(beyond.kind === 'ok' ? beyond.data : beyond.kind).toSatisfy(
    (answer: unknown) => answer === 'refused' || JSON.stringify(answer) === '{"labels":{}}',
  );
  const shown = await gerrit.ask(gerrit.ci, 'GET', `changes/${number}/detail?${optionsOfReading()}`);
  const ours = readChangeInfo(shown.json)
    ?.labels.find(({ name }) => name === 'Verified')
    ?.votes.map(({ value }) => value);
  expect(ours?.filter(value => value !== 0)).toEqual([1]);
});

test('a submit is refused in the words of Gerrit, and lands what is ready', async () => {
  const change = await gerrit.push({ by: gerrit.alice, subject: 'Land me' });
  const place = `changes/${change.number}/revisions/${change.commit}`;
  const refused = await ask('POST', `${place}/submit`);
  expect(refused).toMatchObject({
    kind: 'refused',
    status: 409,
    text: expect.stringContaining(`${change.number}`),
  });
  await gerrit.vote(change, gerrit.bob, { 'Code-Review': 2, Workflow: 1 });
  await got('POST', `${place}/review`, { labels: { Verified: 2 } });
  await got('POST', `${place}/submit`);
  expect(await got('GET', `changes/${change.number}/detail?o=MESSAGES`)).toMatchObject({ status: 'MERGED' });
});

test('the version, the stream and what is built on a change are known', async () => {
  expect(await got('GET', 'config/server/version')).toBe(gerrit.version);
  expect(await got('GET', 'accounts/self/capabilities')).toEqual({ streamEvents: true });
  const base = await gerrit.push({ by: gerrit.alice, subject: 'Base' });
  const child = await gerrit.push({ by: gerrit.alice, subject: 'Child', on: base });
  expect(await got('GET', `changes/${base.number}/revisions/current/related`)).toEqual({
    changes: [{ _change_number: child.number }],
  });
  expect(await got('GET', `changes/${child.number}/submitted_together?o=NON_VISIBLE_CHANGES`)).toMatchObject({
    changes: [{ _number: base.number }],
  });
});

test('refs, and objects by the id of a commit, are read without a greeting over HTTP and over a kept connection', async () => {
  const project = gerrit.project('acme/app');
  const { commit } = await gerrit.push({ by: gerrit.alice, subject: 'Fetch me' });
  const master = parseObjectId(await gerrit.tip(project, gerrit.admin));
  const ref = parseRefName('refs/heads/master');
  const host = createUploadPackHost({ proxied: false, deadlineMs: 60_000 });
  ending.defer(() => host.close());
  const askUploadPack = uploadPackOf(session, project) ?? expect.unreachable('a plain name');
  const remotes: readonly Remote[] = [
    { url: `${gerrit.url}/a/${project}`, headers: [`Authorization: ${basicAuthorization(gerrit.ci)}`] },
    { url: `ssh://${gerrit.ssh.host}:${gerrit.ssh.port}/${project}`, askUploadPack },
  ];
  for (const remote of remotes) {
    expect(await host.refs(remote, [ref])).toEqual(new Map([[ref, master]]));
    const pack = await host.pack(remote, [parseObjectId(commit)], [master]);
    expect(pack?.subarray(0, 4).toString()).toBe('PACK');
  }
});
