/** What a connection with a key alone learns and writes, against the fake: the same facts as over HTTP, as far as SSH shows them. */
import { expect, test } from 'vitest';
import { CHANGE_OPTIONS, readChangeInfo } from '../../drivers/gerrit/api/change-info.ts';
import { openGerritClient } from '../../drivers/gerrit/api/open-client.ts';
import type { GerritApi, GerritRequest } from '../../drivers/gerrit/api/port.ts';
import { createPatchsetNames } from '../../drivers/gerrit/api/ssh/patchset-names.ts';
import { createSshCarrier } from '../../drivers/gerrit/api/ssh/ssh-carrier.ts';
import { fileOfThisMachine } from '../../drivers/gerrit/ssh/ssh-place.ts';
import { createSshSession } from '../../drivers/gerrit/ssh/ssh-session.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Secret } from '../../src/lib/secret.ts';
import { type FakeGerrit, startFakeGerrit } from './fake/fake-gerrit.ts';

const { signal } = new AbortController();

async function clients(
  gerrit: FakeGerrit,
  stack: AsyncDisposableStack,
  submitsWholeTopic = false,
): Promise<{ readonly ssh: GerritApi; readonly http: GerritApi }> {
  const { port, keyFile, knownHostsFile } = await gerrit.openSsh();
  const place = { host: '127.0.0.1', port, user: 'gatehouse', key: keyFile, knownHosts: [knownHostsFile] };
  const deps = {
    ...{ connection: 'gerrit', clock: systemClock(), pause: async () => {} },
    ...{ noted: () => {}, asked: () => {} },
  };
  const options = { baseUrl: gerrit.url, verifySsl: true, concurrency: 10 };
  const http = openGerritClient(
    { ...options, auth: { kind: 'basic', user: 'gatehouse', password: new Secret('gatehouse-password') } },
    deps,
  );
  const ssh = openGerritClient(
    { ...options, auth: { kind: 'ssh', submitsWholeTopic } },
    {
      ...deps,
      overSsh: (_auth, { deadlinesMs, mostBytes }) =>
        createSshCarrier({
          session: createSshSession({
            ...{ place: { ...place, keepAlive: 15 }, readFile: fileOfThisMachine, mostBytes },
          }),
          listRefs: async () => ({ kind: 'refs', refs: new Map() }),
          ...{ patchsets: createPatchsetNames(), username: 'gatehouse', submitsWholeTopic, deadlinesMs },
          pause: async () => {},
        }),
    },
  );
  stack.defer(() => ssh.close());
  stack.defer(() => http.close());
  return { ssh: ssh.api, http: http.api };
}

const read = (path: string): GerritRequest => ({ operation: 'test', method: 'GET', path });
const write = (path: string, body: GerritRequest['body'] = {}): GerritRequest => ({
  ...{ operation: 'test', method: 'POST', path },
  ...(body === undefined ? {} : { body }),
});

async function got(api: GerritApi, request: GerritRequest) {
  const answer = await api.ask(request, { project: 'acme/app', signal });
  return answer.kind === 'ok' ? answer.data : expect.unreachable(JSON.stringify(answer));
}

const OPTIONS = CHANGE_OPTIONS.map(each => `o=${each}`).join('&');

test('a reading has the facts that REST shows, as far as SSH has them', async () => {
  await using stack = new AsyncDisposableStack();
  const gerrit = stack.use(await startFakeGerrit());
  await gerrit.project('acme/app');
  const base = await gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
  const change = await gerrit.push({ project: 'acme/app', files: { b: 'b\n' }, on: base, topic: 't1' });
  await gerrit.amend(change, { files: { b: 'c\n' } });
  await gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 });
  await gerrit.comment(change, 'bob', 'recheck');
  await gerrit.setTopic(change, 't2');
  await gerrit.setHashtags(change, { add: ['gate'] });
  const { ssh, http } = await clients(gerrit, stack);
  const path = `changes/${change.number}/detail?${OPTIONS}`;
  const [overSsh, overHttp] = await Promise.all(
    [ssh, http].map(async api => readChangeInfo(await got(api, read(path)))),
  );
  if (overSsh === undefined || overHttp === undefined) return expect.unreachable();
  const { owner, labels, messages, reviewers, revision, submitRecords, ...facts } = overSsh;
  expect(owner).toEqual({ ...overHttp.owner, id: expect.any(Number) });
  expect(facts).toEqual({
    ...Object.fromEntries(Object.entries(overHttp).filter(([name]) => name in facts)),
    ...{ submitType: null, mergeable: null, submittable: null, submitRequirements: null },
  });
  expect(revision).toEqual({ ...overHttp.revision, uploader: owner });
  expect(submitRecords).toMatchObject([{ status: 'NOT_READY' }]);
  const short = ({ name, isApproved, isRejected, votes }: (typeof labels)[number]) => ({
    ...{ name, isApproved, isRejected },
    votes: votes.filter(({ value }) => value !== 0).map(({ by, value, at }) => [by.username, value, at]),
  });
  expect(labels.map(short)).toEqual(overHttp.labels.map(short));
  const said = ({ author, at, text, tag }: (typeof messages)[number]) => [author?.username, at, text, tag];
  expect(messages.map(said)).toEqual(overHttp.messages.map(said));
  expect(reviewers.map(({ username }) => username)).toEqual(['bob']);
});

test('a listing has pages, and says whether there are more', async () => {
  await using stack = new AsyncDisposableStack();
  const gerrit = stack.use(await startFakeGerrit());
  await gerrit.project('acme/app');
  for (const name of ['a', 'b', 'c']) await gerrit.push({ project: 'acme/app', files: { [name]: name } });
  const { ssh } = await clients(gerrit, stack);
  const query = encodeURIComponent('project:"acme/app" status:open');
  const first = await got(ssh, read(`changes/?q=${query}&n=2&${OPTIONS}`));
  expect(first).toMatchObject([{ _number: 3 }, { _number: 2, _more_changes: true }]);
  const second = await got(ssh, read(`changes/?q=${query}&n=2&S=2&${OPTIONS}`));
  expect(second).toMatchObject([{ _number: 1 }]);
  expect(JSON.stringify(second)).not.toContain('_more_changes');
  const refused = await ssh.ask(read('changes/?q=nonsense:1'), { project: '', signal });
  expect(refused).toMatchObject({ kind: 'refused', status: 400, text: expect.stringContaining('nonsense') });
  expect(await ssh.ask(read('changes/99/detail'), { project: '', signal })).toMatchObject({
    kind: 'refused',
    status: 404,
  });
});

test('a review has votes, message and tag, no file takes comments, and a label that Gerrit drops is missed', async () => {
  await using stack = new AsyncDisposableStack();
  const gerrit = stack.use(await startFakeGerrit());
  await gerrit.project('acme/app');
  const change = await gerrit.push({ project: 'acme/app', files: { 'a.txt': 'a\n' } });
  const { ssh } = await clients(gerrit, stack);
  const commit = change.now.patchSets.at(-1)?.commit;
  const place = `changes/${change.number}/revisions/${commit}`;
  expect(await got(ssh, read(`${place}/files`))).toEqual({});
  const body = {
    ...{ tag: 'autogenerated:gatehouse:check', message: 'it\'s; $(touch x) "fine"\nü' },
    ...{ labels: { Verified: 1, Nope: 1 }, notify: 'NONE' },
  };
  expect(await got(ssh, write(`${place}/review`, body))).toEqual({ labels: { Verified: 1 } });
  const last = change.now.messages.at(-1);
  expect(last).toMatchObject({ tag: body.tag, text: expect.stringContaining(body.message) });
  const tooMuch = await ssh.ask(write(`${place}/review`, { labels: { Workflow: 5 } }), {
    project: '',
    signal,
  });
  expect(tooMuch).toEqual({
    kind: 'refused',
    status: 403,
    text: 'Applying label "Workflow": 5 is restricted',
  });
});

test('a submit is refused in the words of Gerrit, and a lost answer is no refusal', async () => {
  await using stack = new AsyncDisposableStack();
  const gerrit = stack.use(await startFakeGerrit());
  await gerrit.project('acme/app');
  const change = await gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
  const { ssh } = await clients(gerrit, stack);
  const path = `changes/${change.number}/revisions/${change.now.patchSets.at(-1)?.commit}/submit`;
  const refused = await ssh.ask(write(path), { project: '', signal });
  expect(refused).toMatchObject({
    ...{ kind: 'refused', status: 409 },
    text: expect.stringMatching(/^Failed to submit 1 change .*\nChange 1: needs Code-Review/),
  });
  await gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 });
  await gerrit.vote(change, 'gatehouse', { Verified: 2 });
  gerrit.faults.add({ operation: 'changes/submit', does: { kind: 'reset', after: true } });
  expect(await ssh.ask(write(path), { project: '', signal })).toMatchObject({ kind: 'lost' });
  expect(change.now.status).toBe('MERGED');
});

test('what would land along with a change are its open parent, and its topic where the settings say so', async () => {
  await using stack = new AsyncDisposableStack();
  const gerrit = stack.use(await startFakeGerrit());
  await gerrit.project('acme/app');
  const base = await gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
  const change = await gerrit.push({ project: 'acme/app', files: { b: 'b\n' }, on: base, topic: 't1' });
  await gerrit.push({ project: 'acme/app', files: { c: 'c\n' }, topic: 't1' });
  const path = `changes/${change.number}/submitted_together?o=NON_VISIBLE_CHANGES`;
  const { ssh } = await clients(gerrit, stack);
  expect(await got(ssh, read(path))).toMatchObject({ changes: [{ _number: 1 }] });
  expect(await got(ssh, read(`changes/${base.number}/revisions/current/related`))).toEqual({
    changes: [{ _change_number: 2 }],
  });
  const whole = await clients(gerrit, stack, true);
  expect(await got(whole.ssh, read(path))).toMatchObject({
    changes: [{ _number: 3 }, { _number: 2 }, { _number: 1 }],
  });
});

test('a comment on a patch set as a whole belongs to the message that it came with', async () => {
  await using stack = new AsyncDisposableStack();
  const gerrit = stack.use(await startFakeGerrit({ version: '3.11' }));
  await gerrit.project('acme/app');
  const change = await gerrit.push({ project: 'acme/app', files: { a: 'a\n' } });
  const { ssh, http } = await clients(gerrit, stack);
  for (const text of ['recheck', 'thanks'])
    await got(
      http,
      write(`changes/${change.number}/revisions/current/review`, {
        comments: { '/PATCHSET_LEVEL': [{ message: text }] },
      }),
    );
  const listed = await got(ssh, read(`changes/${change.number}/comments`));
  const messages = await got(ssh, read(`changes/${change.number}/messages`));
  const ids = Array.isArray(messages) ? messages.slice(-2).map(each => (each as { id: string }).id) : [];
  expect(listed).toEqual({
    '/PATCHSET_LEVEL': [
      { change_message_id: ids[0], message: 'recheck' },
      { change_message_id: ids[1], message: 'thanks' },
    ],
  });
});
