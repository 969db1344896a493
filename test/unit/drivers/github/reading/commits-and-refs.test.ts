/** Statuses, check runs and pushes: what is read, and what comes of it. */
import { describe, expect, test } from 'vitest';
import type { Notification } from '../../../../../drivers/github/intake/notification.ts';
import type { ProcessedEvent } from '../../../../../src/driver/source.ts';
import {
  APP,
  aboutPull,
  contexts,
  eventLines,
  pull,
  run,
  scriptedGithub,
  sha,
  status,
  webhook,
} from './scripted-github.ts';

const opened = (number = 1) => webhook('pull_request', 'opened', aboutPull(number), 'alice');
const ofCommit = (head: string, context?: string) =>
  webhook('status', '', { kind: 'commit', commit: sha(head), ...(context === undefined ? {} : { context }) });
const push = (ref: string, before: string | null, after: string | null) =>
  webhook('push', '', {
    kind: 'ref',
    ref,
    before: before === null ? null : sha(before),
    after: after === null ? null : sha(after),
  });

test('reports of ours are marked with their name, those of others under that name are not', async () => {
  const { world, receive } = scriptedGithub();
  world.pulls.set(1, pull(1, 'one'));
  await receive(opened());
  const ours = [status('acme/gate', 'FAILURE', 'gatehouse[bot]'), run('acme/check', 'SUCCESS')];
  const others = [status('acme/more', 'FAILURE', 'zuul[bot]'), run('acme/check', 'FAILURE', 8, 6)];
  world.pulls.set(1, pull(1, 'one', contexts('one', ...ours, ...others)));
  const { events } = await receive(ofCommit('one'));
  expect(
    events.map(({ facts }) => Object(facts)).map(each => [each.status ?? each.check, each.ours]),
  ).toEqual([
    ['gatehouse[bot]:acme/gate:failure', 'acme/gate'],
    ['gatehouse:acme/check:success', 'acme/check'],
    ['zuul[bot]:acme/more:failure', undefined],
    ['other:acme/check:failure', undefined],
  ]);
});

describe('a status', () => {
  test('of a head is an event of each open pull request that has it', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one')).set(2, pull(2, 'one', { baseRefName: 'stable' }));
    await receive(opened(1));
    await receive(opened(2));
    const built = contexts('one', status('build', 'SUCCESS'));
    world.pulls.set(1, pull(1, 'one', built)).set(2, pull(2, 'one', { ...built, baseRefName: 'stable' }));
    const processed = await receive(ofCommit('one', 'build'));
    expect(eventLines(processed)).toEqual([
      'pull_request status ci-bot:build:success by ci-bot',
      'pull_request status ci-bot:build:success by ci-bot',
    ]);
    expect(processed.events.map(({ change }) => change.key)).toEqual([
      'github/acme/app#1',
      'github/acme/app#2',
    ]);
    expect(eventLines(await receive(ofCommit('one', 'build')))).toEqual([]);
  });

  test('of a head that was never read is found at GitHub', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one', contexts('one', status('a', 'SUCCESS'), status('b', 'SUCCESS'))));
    expect(eventLines(await receive(ofCommit('one', 'a')))).toEqual([
      'pull_request status ci-bot:a:success by ci-bot',
    ]);
    expect(world.requests[0]).toBe('commit-pulls');
  });

  test('of a commit that is no head costs one request', async () => {
    const { world, receive } = scriptedGithub();
    expect(await receive(ofCommit('merge'))).toMatchObject({ events: [], discarded: expect.any(String) });
    expect(world.requests).toEqual(['commit-pulls']);
  });

  test('of a head whose pull request has closed costs no request', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one'));
    await receive(opened());
    world.pulls.set(1, pull(1, 'one', { state: 'MERGED' }));
    await receive(webhook('pull_request', 'closed', aboutPull(1), 'alice'));
    const before = world.requests.length;
    expect(await receive(ofCommit('one'))).toMatchObject({ discarded: expect.stringContaining('head') });
    expect(world.requests).toHaveLength(before);
  });

  test('of a pull request that we have merged costs no request, and of another with its head one', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one')).set(2, pull(2, 'one', { baseRefName: 'stable' }));
    await receive(opened(1));
    await receive(opened(2));
    world.own.merged('acme/app', 1, sha('one'));
    const before = world.requests.length;
    const built = contexts('one', status('build', 'SUCCESS'));
    world.pulls.set(2, pull(2, 'one', { ...built, baseRefName: 'stable' }));
    const { events } = await receive(ofCommit('one', 'build'));
    expect(events.map(({ change }) => change.key)).toEqual(['github/acme/app#2']);
    expect(world.requests.slice(before)).toEqual(['pull-state']);
  });

  test('that the answer does not show is asked for again', async () => {
    const { world, process, eventOf } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one', contexts('one', status('other', 'SUCCESS'))));
    expect(await process(eventOf(ofCommit('one', 'build')))).toHaveProperty('later');
  });

  test('of a head that was replaced is no event', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one'));
    await receive(opened());
    world.pulls.set(1, pull(1, 'two'));
    expect(eventLines(await receive(ofCommit('one')))).toEqual(['pull_request changed']);
    expect(await receive(ofCommit('one'))).toMatchObject({ discarded: expect.stringContaining('head') });
  });
});

describe('a request to run again', () => {
  const rerun = (more: Partial<Extract<Notification['about'], { kind: 'rerun' }>>) =>
    webhook('check_run', 'rerequested', { kind: 'rerun', commit: sha('one'), app: 7, ...more });
  const runs = contexts(
    'one',
    run('acme/check', 'FAILURE'),
    run('acme/gate', 'FAILURE'),
    run('lint', 'SUCCESS', 9),
  );

  test('of one run is one event, once (47)', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one', runs));
    await receive(opened());
    const again = rerun({ run: 'acme/check', once: 'rerun-5-1' });
    expect(eventLines(await receive(again))).toEqual([
      'check_run rerequested gatehouse:acme/check:failure by bob',
    ]);
    expect(eventLines(await receive(again))).toEqual([]);
  });

  test('of all runs is an event for each run of ours (47)', async () => {
    const { world, receive } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one', runs));
    await receive(opened());
    expect(eventLines(await receive(rerun({})))).toEqual([
      'check_run rerequested gatehouse:acme/check:failure by bob',
      'check_run rerequested gatehouse:acme/gate:failure by bob',
    ]);
  });
});

describe('a push', () => {
  test('to a branch is a move from where it was read last, with one request (23)', async () => {
    const { world, receive } = scriptedGithub();
    world.refs.set('refs/heads/main', { object: sha('b'), tree: sha('tree') });
    const first = await receive(push('refs/heads/main', 'a', 'b'));
    expect(first.events).toMatchObject([
      {
        type: 'push',
        branch: 'main',
        tree: sha('tree'),
        change: { kind: 'ref', ref: 'refs/heads/main', oldCommit: sha('a'), newCommit: sha('b') },
        configMayHaveChanged: ['main'],
        branchesChanged: false,
      },
    ]);
    expect(world.requests).toEqual(['ref-state']);
    world.refs.set('refs/heads/main', { object: sha('d'), tree: sha('tree') });
    const second = await receive(push('refs/heads/main', 'b', 'c'));
    expect(second.events).toMatchObject([{ change: { oldCommit: sha('b'), newCommit: sha('d') } }]);
    expect(await receive(push('refs/heads/main', 'c', 'd'))).toMatchObject({ events: [], changes: [] });
  });

  test.each(['refs/heads/a/b', 'refs/heads/#%25', 'refs/heads/ünï'])(
    'to %s keeps its name (24)',
    async ref => {
      const { world, receive } = scriptedGithub();
      world.refs.set(ref, { object: sha('b') });
      const { events } = await receive(push(ref, null, 'b'));
      expect(events).toMatchObject([{ ref, branch: ref.slice(11), branchesChanged: true }]);
    },
  );

  test('that deletes a branch is reported once, and so is its return (24)', async () => {
    const { world, receive } = scriptedGithub();
    const deleted = push('refs/heads/x', 'a', null);
    const { events } = await receive(deleted);
    expect(events).toMatchObject([
      { change: { oldCommit: sha('a'), newCommit: null }, branchesChanged: true, configMayHaveChanged: [] },
    ]);
    expect((await receive(deleted)).events).toEqual([]);
    world.refs.set('refs/heads/x', { object: sha('a') });
    const returned = await receive(push('refs/heads/x', null, 'a'));
    expect(returned.events).toMatchObject([{ change: { oldCommit: null, newCommit: sha('a') } }]);
  });

  describe('of our own', () => {
    const main = { repository: 'acme/app', ref: 'refs/heads/main' };
    const landed = (before: string, after: string) => ({
      before: sha(before),
      after: sha(after),
      tree: sha('tree'),
    });

    test('is the same move as one that is read, without a request', async () => {
      const [noted, asked] = [scriptedGithub(), scriptedGithub()];
      for (const { world, receive } of [noted, asked]) {
        world.refs.set('refs/heads/main', { object: sha('a'), tree: sha('tree') });
        await receive(push('refs/heads/main', 'x', 'a'));
        world.refs.set('refs/heads/main', { object: sha('b'), tree: sha('tree') });
        world.requests.length = 0;
      }
      noted.world.own.pushing(main, landed('a', 'b'), Promise.resolve(true));
      const event = push('refs/heads/main', 'a', 'b');
      const [first, second] = [await noted.receive(event), await asked.receive(event)];
      expect(first.events.map(({ uuid: _, ...rest }) => rest)).toEqual(
        second.events.map(({ uuid: _, ...rest }) => rest),
      );
      expect(first.memory).toEqual(second.memory);
      expect([noted.world.requests, asked.world.requests]).toEqual([[], ['ref-state']]);
    });

    test('is read when the event of a later push came first', async () => {
      const { world, receive, process, eventOf } = scriptedGithub();
      world.refs.set('refs/heads/main', { object: sha('a') });
      await receive(push('refs/heads/main', 'x', 'a'));
      world.own.pushing(main, landed('a', 'b'), Promise.resolve(true));
      world.requests.length = 0;
      expect((await receive(push('refs/heads/main', 'b', 'a'))).events).toEqual([]);
      expect(await process(eventOf(push('refs/heads/main', 'a', 'b')))).toHaveProperty('later');
      expect(world.requests).toEqual(['ref-state', 'ref-state']);
    });

    test('is one of two of which each is an event, though they wait together', async () => {
      const { world, source, eventOf, process } = scriptedGithub();
      world.refs.set('refs/heads/main', { object: sha('a') });
      await process(eventOf(push('refs/heads/main', 'x', 'a')));
      for (const [before, after] of ['ab', 'bc'])
        world.own.pushing(main, landed(before ?? '', after ?? ''), Promise.resolve(true));
      world.requests.length = 0;
      const own = ['ab', 'bc'].map(([before = '', after = '']) =>
        eventOf(push('refs/heads/main', before, after)),
      );
      const another = eventOf(push('refs/heads/main', 'c', 'd'));
      expect([...own, another].map(each => source.coalesceKey?.(each))).toEqual([
        ...[undefined, undefined],
        'ref refs/heads/main',
      ]);
      for (const each of own) expect(await process(each)).toMatchObject({ events: [{ type: 'push' }] });
      expect(world.requests).toEqual([]);
      world.refs.set('refs/heads/main', { object: sha('d') });
      expect(await process(another)).toMatchObject({ events: [{ change: { oldCommit: sha('c') } }] });
      expect(world.requests).toEqual(['ref-state']);
    });

    test('whose event comes before the answer of git waits for it, and is read where the push was not done', async () => {
      for (const [isDone, requests] of [
        [true, []],
        [false, ['ref-state']],
      ] as const) {
        const { world, eventOf, process } = scriptedGithub();
        world.refs.set('refs/heads/main', { object: sha('b'), tree: sha('tree') });
        const answer = Promise.withResolvers<boolean>();
        world.own.pushing(main, landed('a', 'b'), answer.promise);
        const processed = process(eventOf(push('refs/heads/main', 'a', 'b')));
        answer.resolve(isDone);
        expect(await processed).toMatchObject({ events: [{ change: { newCommit: sha('b') } }] });
        expect(world.requests).toEqual(requests);
      }
    });

    test('is read where the event reports another', async () => {
      const { world, receive } = scriptedGithub();
      world.refs.set('refs/heads/main', { object: sha('c') });
      world.own.pushing(main, landed('a', 'b'), Promise.resolve(true));
      const { events } = await receive(push('refs/heads/main', 'a', 'c'));
      expect(events).toMatchObject([{ change: { oldCommit: sha('a'), newCommit: sha('c') } }]);
      expect(world.requests).toEqual(['ref-state']);
    });

    test('is read where what is remembered of the branch is newer', async () => {
      const { world, receive } = scriptedGithub();
      world.refs.set('refs/heads/main', { object: sha('c') });
      await receive(push('refs/heads/main', 'b', 'c'));
      world.own.pushing(main, landed('a', 'b'), Promise.resolve(true));
      world.requests.length = 0;
      expect((await receive(push('refs/heads/main', 'a', 'b'))).events).toEqual([]);
      expect(world.requests).toEqual(['ref-state']);
    });
  });

  test('that moves an annotated tag is one from the commit that it marked', async () => {
    const { world, receive } = scriptedGithub();
    world.marked.set(sha('old tag'), sha('a'));
    world.refs.set('refs/tags/v1', { object: sha('tag'), commit: sha('b') });
    const first = await receive(push('refs/tags/v1', 'old tag', 'tag'));
    expect(first.events).toMatchObject([{ change: { oldCommit: sha('a'), newCommit: sha('b') } }]);
    expect(world.requests).toEqual(['ref-state', 'marked-commit']);
    world.refs.set('refs/tags/v1', { object: sha('c') });
    const second = await receive(push('refs/tags/v1', 'tag', 'c'));
    expect(second.events).toMatchObject([{ change: { oldCommit: sha('b'), newCommit: sha('c') } }]);
    expect((await receive(push('refs/tags/v1', 'tag', 'c'))).events).toEqual([]);
    world.refs.delete('refs/tags/v1');
    const third = await receive(push('refs/tags/v1', 'c', null));
    expect(third.events).toMatchObject([{ change: { oldCommit: sha('c'), newCommit: null } }]);
    expect(world.requests.slice(2)).toEqual(['ref-state', 'ref-state', 'ref-state']);
  });

  test('of an annotated tag is an update to the commit it marks (24)', async () => {
    const { world, receive } = scriptedGithub();
    world.refs.set('refs/tags/v1', { object: sha('tag'), commit: sha('a') });
    const [event] = (await receive(push('refs/tags/v1', null, 'tag'))).events;
    expect(event).toMatchObject({ branch: null, change: { newCommit: sha('a') }, branchesChanged: false });
  });

  test('that the answer does not show is asked for again', async () => {
    const { world, eventOf, process } = scriptedGithub();
    world.refs.set('refs/heads/main', { object: sha('a') });
    expect(await process(eventOf(push('refs/heads/main', 'a', 'b')))).toHaveProperty('later');
  });
});

test('a repository that is archived takes nothing, and what is read of its pull requests says so', async () => {
  const { world, receive } = scriptedGithub();
  world.pulls.set(1, pull(1, 'one'));
  const first = await receive(opened());
  expect(first.changes).toMatchObject([{ facts: { rules: { locked: false } } }]);
  world.archived = true;
  const archived = await receive(webhook('repository', 'archived', { kind: 'repository' }));
  expect(archived.changes).toMatchObject([{ facts: { rules: { locked: true } } }]);
  expect(archived.updated).toEqual(['github/acme/app#1']);
});

describe('changed rules', () => {
  test('are read again, and with them all open pull requests, some at a time', async () => {
    const { world, receive } = scriptedGithub();
    for (const number of [1, 2, 3]) world.pulls.set(number, pull(number, `head-${number}`));
    for (const number of [1, 2, 3]) await receive(opened(number));
    expect(world.requests.filter(each => each === 'repos/get-branch-rules')).toHaveLength(1);
    const checks = [{ context: 'lint', integration_id: 9 }];
    const parameters = { required_status_checks: checks, strict_required_status_checks_policy: true };
    world.rulesets = [{ type: 'required_status_checks', ruleset_id: 4, parameters }];
    const first = await receive(webhook('repository_ruleset', 'edited', { kind: 'rules' }));
    expect(first).toMatchObject({
      events: [],
      updated: ['github/acme/app#1', 'github/acme/app#2'],
      firstLooks: [APP],
    });
    const rules = { upToDate: true, checks: [{ name: 'lint', app: 9, rule: 'ruleset 4' }] };
    expect(first.changes).toMatchObject([{ facts: { rules } }, { facts: { rules } }]);
    const again = first.again?.payload as unknown as Notification;
    expect(await receive(again)).toMatchObject({ updated: ['github/acme/app#3'] });
    expect(await receive(again)).not.toHaveProperty('again');
  });
});

describe('what a read of all open pull requests finds', () => {
  const failing = (number: number, count: number) =>
    pull(
      number,
      `head-${number}`,
      contexts(
        `head-${number}`,
        ...Array.from({ length: count }, (_, index) => status(`c${index}`, 'FAILURE')),
      ),
    );

  test('is reported in parts, and nothing of it is left out', async () => {
    const { world, receive } = scriptedGithub();
    for (const number of [1, 2]) world.pulls.set(number, pull(number, `head-${number}`));
    for (const number of [1, 2]) await receive(opened(number));
    world.pulls.set(1, failing(1, 40));
    world.pulls.set(2, failing(2, 5));
    let notification: Notification | undefined = webhook('repository_ruleset', 'edited', { kind: 'rules' });
    const counts: number[] = [];
    while (notification !== undefined && counts.length < 9) {
      const processed: ProcessedEvent = await receive(notification);
      counts.push(processed.events.length);
      notification = processed.again?.payload as unknown as Notification | undefined;
    }
    expect(counts).toEqual([30, 10, 5]);
  });
});

describe('a connection', () => {
  const signal = new AbortController().signal;

  test('has lanes for pull requests, commits and repositories, and reads a commit once for many events (10)', () => {
    const { source, eventOf } = scriptedGithub();
    const lane = (notification: Notification) => source.lane?.(eventOf(notification));
    const key = (notification: Notification) => source.coalesceKey?.(eventOf(notification));
    expect([lane(opened(3)), lane(ofCommit('one')), lane(push('refs/heads/x', 'a', 'b'))]).toEqual([
      'acme/app#3',
      `acme/app@${sha('one')}`,
      'acme/app',
    ]);
    expect(key(ofCommit('one', 'a'))).toBe(key(ofCommit('one', 'b')));
    expect(key(opened())).toBeUndefined();
  });

  test('fetches a change by its key', async () => {
    const { world, source } = scriptedGithub();
    world.pulls.set(1, pull(1, 'one'));
    world.refs.set('refs/heads/main', { object: sha('a') });
    const fetch = (key: string) =>
      source.fetchChange(key as Parameters<typeof source.fetchChange>[0], signal);
    expect(await fetch('github/acme/app#1')).toMatchObject({ change: { patchset: sha('one') } });
    expect(await fetch(`github/acme/app@refs/heads/main@${sha('a')}`)).toMatchObject({ status: 'open' });
    expect(await fetch(`github/acme/app@refs/heads/main@${sha('b')}`)).toBeUndefined();
    expect(await fetch('github/acme/app#2')).toBeUndefined();
    expect(await fetch('other/acme/app#1')).toBeUndefined();
    world.failure = { kind: 'later', later: { reason: 'limited', text: 'limited' } };
    await expect(fetch('github/acme/app#1')).rejects.toMatchObject({ retryable: true, reason: 'limited' });
  });

  test.each([
    ['https://github.com/acme/app/pull/7', 'github/acme/app#7'],
    ['https://github.com/acme/app/pull/7/files#r1', 'github/acme/app#7'],
    ['github.com/acme/app/pull/7', 'github/acme/app#7'],
    ['https://github.com/acme/other/pull/7', undefined],
    ['https://example.org/acme/app/pull/7', undefined],
    ['https://github.com/acme/app/issues/7', undefined],
    ['https://github.com/acme/app/pull/07', undefined],
    ['acme/app#7', undefined],
  ])('knows %s as %s', async (url, key) => {
    const { source } = scriptedGithub();
    expect(await source.changeOfUrl(url, new Set([APP]), signal)).toBe(key);
  });

  test('lists branches without those of merge queues, and those that are chosen', async () => {
    const { world, source } = scriptedGithub();
    world.branches.push({ name: 'main', protected: true }, { name: 'old', protected: true, locked: true });
    world.branches.push({ name: 'gh-readonly-queue/main/pr-1-x', protected: false });
    for (let index = 0; index < 150; index += 1)
      world.branches.push({ name: `topic-${index}`, protected: false });
    const names = async (selection: Parameters<typeof source.branches>[2]) =>
      (await source.branches(APP, signal, selection)).map(({ branch }) => branch);
    expect(await names({})).toHaveLength(152);
    expect(await names({ excludeUnprotected: true })).toEqual(['main', 'old']);
    expect(await names({ excludeUnprotected: true, excludeLocked: true })).toEqual(['main']);
  });
});

test('of a repository with very many branches git lists all, and GitHub those that are protected', async () => {
  const { signal } = new AbortController();
  const { world, source } = scriptedGithub();
  for (let index = 0; index < 10_000; index += 1)
    world.branches.push({ name: `a-${index}`, protected: false });
  world.branches.push({ name: 'main', protected: true }, { name: 'old', protected: false, locked: true });
  world.branches.push({ name: 'gh-readonly-queue/main/pr-1-x', protected: false });
  const all = await source.branches(APP, signal);
  expect(all).toHaveLength(10_002);
  expect(all.find(({ branch }) => branch === 'main')).toEqual({ branch: 'main', commit: sha('main') });
  expect(world.requests).toEqual([...Array.from({ length: 3 }, () => 'repos/list-branches'), 'git']);
  expect(await source.branches(APP, signal, { excludeLocked: true })).toHaveLength(10_001);
  expect(await source.branches(APP, signal, { excludeUnprotected: true })).toHaveLength(1);
  for (const [index, each] of world.branches.entries()) world.branches[index] = { ...each, protected: true };
  await expect(source.branches(APP, signal, { excludeUnprotected: true })).rejects.toThrow(
    'github/acme/app has more than 10000 protected branches',
  );
});

describe('a permission that is missing', () => {
  test.each([
    ['a push', push('refs/heads/main', 'old', 'new')],
    ['a status of a head that was never read', ofCommit('one')],
    ['a pull request', opened()],
  ])('postpones %s', async (_what, notification) => {
    const { world, process, eventOf } = scriptedGithub();
    const text = 'GitHub answered: Resource not accessible by integration';
    world.failure = { kind: 'refused', status: 403, text, errors: [] };
    expect(await process(eventOf(notification))).toMatchObject({
      later: { reason: 'denied', text: expect.stringContaining('not accessible') },
    });
  });
});
