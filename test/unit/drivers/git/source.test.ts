import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { gitDriver } from '../../../../drivers/git/index.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { optionReader } from '../../../../src/lib/option-reader.ts';
import { type ChangeKey, changeKey, refUpdateKey } from '../../../../src/model/change.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';
import { createGate } from '../../../conformance/driver/gate.ts';
import { type GitHost, openGitHost } from '../../../conformance/driver/git-host.ts';

const { signal } = new AbortController();
let host: GitHost;

beforeEach(async () => {
  host = await openGitHost();
});
afterEach(() => host[Symbol.asyncDispose]());

const ask = (key: ChangeKey) => host.connection.source.fetchChange(key, signal);

describe('a change asked for by its key', () => {
  test('is undefined when it is gone, of another connection, or no key at all', async () => {
    const { key } = await host.propose({ topic: 'a' });
    expect(await ask(key)).toMatchObject({ status: 'open' });
    await host.abandon('a');
    expect(await ask(key)).toBeUndefined();
    expect(
      await ask(changeKey(projectKey({ connection: 'other', name: 'acme/app' }), 'main/a')),
    ).toBeUndefined();
    for (const id of ['', 'main', 'main/', '/a', 'main/a b', 'main/../x', 'main/a\u0000']) {
      expect(await ask(changeKey(host.projects[0], id)), id).toBeUndefined();
    }
  });

  test('may be a ref update, as long as the ref is there', async () => {
    const [project] = host.projects;
    const app = host.repository(project);
    const tip = parseCommitId(await host.tip(project));
    await app.git('tag', '-a', '-m', 'release', 'v1', 'main');
    expect(await ask(refUpdateKey(project, 'refs/heads/main', tip))).toMatchObject({
      change: { kind: 'ref', branch: 'main', newCommit: tip },
    });
    expect(await ask(refUpdateKey(project, 'refs/tags/v1', tip))).toMatchObject({
      change: { kind: 'ref', ref: 'refs/tags/v1', newCommit: tip },
    });
    expect(await ask(refUpdateKey(project, 'refs/heads/none', null))).toMatchObject({
      change: { newCommit: null },
    });
    expect(
      await ask(refUpdateKey(project, 'refs/heads/main', parseCommitId('d'.repeat(40)))),
    ).toBeUndefined();
    expect(await ask(refUpdateKey(project, 'refs/heads/main', null))).toBeUndefined();
  });

  test('that was merged by hand while its branch stays is merged', async () => {
    const { key, commit } = await host.propose({ topic: 'a' });
    await host.repository(host.projects[0]).git('update-ref', 'refs/heads/main', commit);
    expect(await ask(key)).toMatchObject({ status: 'merged', dependsOn: [] });
  });
});

describe('more proposals than one event takes in', () => {
  const topicOf = (event: { readonly change: { readonly ref: string } }) =>
    event.change.ref.slice('refs/heads/for/main/'.length);

  test('are all taken in because of one delivery, each approval with its proposal', async () => {
    const [project] = host.projects;
    const app = host.repository(project);
    const gate = createGate(host);
    await gate.settle();
    const commit = await app.commit({ ref: 'refs/heads/work', parents: [await app.tip('refs/heads/main')] });
    await app.git('update-ref', '-d', 'refs/heads/work');
    const topics = Array.from({ length: 120 }, (_, index) => `t${index}`);
    const refs = topics.flatMap(topic => [`for/main/${topic}`, `gate/main/${topic}`]);
    await app.raw(
      ['update-ref', '--stdin'],
      refs.map(ref => `create refs/heads/${ref} ${commit}\n`).join(''),
    );

    const [delivery = expect.unreachable('no delivery')] = await host.deliveries();
    const first = await gate.peek(gate.eventOf(delivery));
    expect(first.again).toBeDefined();
    const approved = first.events.filter(({ type }) => type === 'approved').map(topicOf);
    expect(approved).toHaveLength(50);
    expect(first.events.filter(({ type }) => type === 'proposed').map(topicOf)).toEqual(approved);

    const { events } = await gate.settle();
    expect(
      events
        .filter(({ type }) => type === 'approved')
        .map(topicOf)
        .toSorted(),
    ).toEqual(topics.toSorted());
    expect((await gate.settle()).events).toEqual([]);
  });

  test('keep what they build on, although that is taken later', async () => {
    const [project] = host.projects;
    const app = host.repository(project);
    const gate = createGate(host);
    await gate.settle();
    const below = await host.propose({ topic: 'zz-below' });
    const above = await host.propose({ topic: 'aa-above', on: 'zz-below' });
    await host.approve('aa-above');
    const others = Array.from({ length: 110 }, (_, index) => `refs/heads/for/main/m${index}`);
    await app.raw(['update-ref', '--stdin'], others.map(ref => `create ${ref} ${below.commit}\n`).join(''));

    const [delivery = expect.unreachable('no delivery')] = await host.deliveries();
    const first = await gate.peek(gate.eventOf(delivery));
    expect(first.changes.map(({ change }) => change.key)).not.toContain(below.key);
    const record = first.changes.find(({ change }) => change.key === above.key);
    expect(record?.dependsOn).toContain(below.key);
  });
});

describe('the branches of a project', () => {
  test('are those that are neither proposals nor approvals', async () => {
    await host.propose({ topic: 'a' });
    await host.approve('a');
    const commit = await host.tip(host.projects[0]);
    expect(await host.connection.source.branches(host.projects[0], signal)).toEqual([
      { branch: 'main', commit },
    ]);
  });
});

describe('other names for proposals and approvals', () => {
  test('are used everywhere', async () => {
    await using other = await openGitHost({
      proposals: 'review/{topic}/for/{branch}',
      approvals: 'ok/{branch}/{topic}',
    });
    const gate = createGate(other);
    const app = other.repository(other.projects[0]);
    await gate.settle();
    const commit = await app.commit({
      ref: 'refs/heads/review/login/for/main',
      parents: [await app.tip('main')],
      files: { a: '1' },
    });
    await app.git('update-ref', 'refs/heads/ok/main/login', commit);
    const { events } = await gate.settle();
    expect(events.map(({ type, ref }) => `${type} ${ref}`)).toEqual([
      'proposed refs/heads/review/login/for/main',
      'approved refs/heads/review/login/for/main',
    ]);
    const key = changeKey(other.projects[0], 'main/login');
    const tested = await gate.merge(key);
    expect(await gate.land(key, { merge: true, note: false }, tested)).toMatchObject({ kind: 'landed' });
    expect(await app.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main');
  });
});

describe('a connection over ssh', () => {
  test('takes key and known hosts from its options, quoted for the shell git hands them to', async () => {
    const at = { file: 'gatehouse.conf', line: 1 };
    const written = {
      baseurl: 'ssh://git@git.example.org',
      ssh_key: "/etc/gate's keys/id",
      ssh_known_hosts: '/etc/hosts;x',
    };
    const options = new Map(Object.entries(written).map(([option, value]) => [option, { value, at }]));
    const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
    const deps = { clock: systemClock(), log, repositories: host.repositories };
    const connection = await gitDriver.connect(
      'far',
      optionReader({ name: 'connection far', at, options }),
      deps,
    );
    const project = projectKey({ connection: 'far', name: 'acme/app' });
    const { url, environment } = (await connection?.remote(project, 'read')) ?? expect.unreachable();
    expect(url).toBe('ssh://git@git.example.org/acme/app');
    expect(environment?.GIT_SSH_COMMAND).toContain("-i '/etc/gate'\\''s keys/id'");
    expect(environment?.GIT_SSH_COMMAND).toContain("UserKnownHostsFile='/etc/hosts;x'");
    expect(environment?.GIT_SSH_COMMAND).toContain('StrictHostKeyChecking=yes');
    expect(connection?.webhook).toBeUndefined();
  });
});
