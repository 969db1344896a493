/** Events that only a git connection has; those of every driver are in test/conformance/driver. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createGate, type Gate } from '../../../conformance/driver/gate.ts';
import { type GitHost, openGitHost } from '../../../conformance/driver/git-host.ts';
import type { GitRepository } from '../../../fake/git-repository.ts';

let host: GitHost;
let gate: Gate;
let app: GitRepository;

beforeEach(async () => {
  host = await openGitHost();
  gate = createGate(host);
  app = host.repository(host.projects[0]);
});
afterEach(() => host[Symbol.asyncDispose]());

/** `<type> <ref or change id>` of each event of one round, in order. */
async function described(): Promise<readonly string[]> {
  const { events } = await gate.settle();
  return events.map(({ type, change }) => `${type} ${change.kind === 'change' ? change.id : change.ref}`);
}

describe('the first reading', () => {
  test('reports existing proposals and approvals, and no branch or tag', async () => {
    await host.propose({ topic: 'a' });
    await host.propose({ topic: 'b' });
    await host.approve('a');
    await app.git('tag', 'v1', 'main');
    expect(await described()).toEqual(['proposed main/a', 'proposed main/b', 'approved main/a']);
  });
});

describe('one reading after another', () => {
  beforeEach(async () => void (await gate.settle()));

  test('reports moved branches first, then abandoned, proposed and approved changes', async () => {
    await host.propose({ topic: 'gone' });
    await host.propose({ topic: 'old' });
    await gate.settle();
    await host.approve('old');
    await host.abandon('gone');
    await host.propose({ topic: 'a-second', on: 'old' });
    await host.push({ 'README.md': 'new\n' });
    await app.git('tag', 'v1', 'main');
    expect(await described()).toEqual([
      'ref-updated refs/heads/main',
      'ref-updated refs/tags/v1',
      'abandoned main/gone',
      'proposed main/a-second',
      'approved main/old',
    ]);
  });

  test('reports a proposal after the one it is built on, regardless of their names', async () => {
    await host.propose({ topic: 'z' });
    await host.propose({ topic: 'm', on: 'z' });
    await host.propose({ topic: 'a', on: 'm' });
    expect(await described()).toEqual(['proposed main/z', 'proposed main/m', 'proposed main/a']);
  });

  test('says that a proposal was updated', async () => {
    await host.propose({ topic: 'a' });
    expect((await gate.settle()).events.map(({ facts }) => facts)).toEqual([{ updated: false }]);
    await host.amend('a', { a: '2' });
    expect((await gate.settle()).events.map(({ facts }) => facts)).toEqual([{ updated: true }]);
  });

  test('takes an abandoned topic that comes back for a new one', async () => {
    await host.propose({ topic: 'a' });
    await gate.settle();
    await host.abandon('a');
    await gate.settle();
    const again = await host.propose({ topic: 'a' });
    expect(await described()).toEqual(['proposed main/a']);
    expect(gate.record(again.key).status).toBe('open');
  });

  test('reports a branch that is created or deleted, with its commits', async () => {
    const tip = await app.tip('refs/heads/main');
    await app.git('branch', 'stable/1.0', 'main');
    const [created] = (await gate.settle()).events;
    expect(created).toMatchObject({
      type: 'ref-updated',
      branch: 'stable/1.0',
      change: { oldCommit: null, newCommit: tip },
      configMayHaveChanged: ['stable/1.0'],
      branchesChanged: true,
    });
    await app.git('branch', '-D', 'stable/1.0');
    const [deleted] = (await gate.settle()).events;
    expect(deleted).toMatchObject({
      change: { oldCommit: tip, newCommit: null },
      configMayHaveChanged: [],
      branchesChanged: true,
    });
  });

  test('reports an annotated tag as the commit it marks', async () => {
    await app.git('tag', '-a', '-m', 'release', 'v1', 'main');
    const [event] = (await gate.settle()).events;
    expect(event).toMatchObject({
      branch: null,
      ref: 'refs/tags/v1',
      change: { oldCommit: null, newCommit: await app.tip('refs/heads/main') },
    });
    expect(event).toMatchObject({ branchesChanged: false, configMayHaveChanged: [] });
  });

  test('has a record for every ref update it reports', async () => {
    await host.push({ x: '1' });
    const [event] = (await gate.settle()).events;
    expect(event && gate.record(event.change.key)).toMatchObject({
      status: 'open',
      dependsOn: [],
      change: event?.change,
    });
  });

  test('is blind to notes and other hidden refs', async () => {
    await app.git('update-ref', 'refs/pull/1/head', 'main');
    await app.git('notes', '--ref=refs/notes/gatehouse', 'add', '-m', 'x', 'main');
    const { events, discarded } = await gate.settle();
    expect(events).toEqual([]);
    expect(discarded).toContain('the refs are as they were');
  });
});

describe('a proposal', () => {
  beforeEach(async () => void (await gate.settle()));

  test('for a branch that is not there is refused, and taken up when the branch appears', async () => {
    await app.commit({ ref: 'refs/heads/for/stable/a', parents: [await app.tip('main')], files: { a: '1' } });
    const { events, refusals } = await gate.settle();
    expect(events).toEqual([]);
    expect(refusals).toMatchObject([
      { change: { id: 'stable/a' }, text: 'not taken up: there is no branch stable to merge into' },
    ]);
    await host.push({ b: '1' });
    expect((await gate.settle()).refusals).toEqual([]);
    await app.git('branch', 'stable', 'main~1');
    expect(await described()).toEqual(['ref-updated refs/heads/stable', 'proposed stable/a']);
  });

  test('for another proposal is refused', async () => {
    await host.propose({ topic: 'a' });
    await app.git('update-ref', 'refs/heads/for/gate/main/a/x', await app.tip('for/main/a'));
    const { refusals } = await gate.settle();
    expect(refusals.map(({ text }) => text)).toEqual([
      'not taken up: there is no branch gate/main/a to merge into',
    ]);
  });

  test('is abandoned when its branch is deleted', async () => {
    await app.git('branch', 'stable', 'main');
    await app.commit({ ref: 'refs/heads/for/stable/a', parents: [await app.tip('main')], files: { a: '1' } });
    await gate.settle();
    await app.git('branch', '-D', 'stable');
    expect(await described()).toEqual(['ref-updated refs/heads/stable', 'abandoned stable/a']);
  });

  test('with nothing new is refused', async () => {
    await app.git('update-ref', 'refs/heads/for/main/a', 'main');
    const { events, refusals } = await gate.settle();
    expect(events).toEqual([]);
    expect(refusals.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^nothing to merge: main holds [0-9a-f]{8} already$/),
    ]);
  });

  test('merged by hand is merged, without an event, also while its branch stays', async () => {
    const a = await host.propose({ topic: 'a' });
    await gate.settle();
    await app.git('update-ref', 'refs/heads/main', a.commit);
    const { events, updated } = await gate.settle();
    expect(events.map(({ type }) => type)).toEqual(['ref-updated']);
    expect(updated).toEqual([a.key]);
    expect(gate.record(a.key).status).toBe('merged');
    await host.abandon('a');
    expect(await described()).toEqual([]);
    expect(gate.record(a.key).status).toBe('merged');
  });

  test('loses its dependency when that has merged', async () => {
    const a = await host.propose({ topic: 'a' });
    const b = await host.propose({ topic: 'b', on: 'a' });
    await gate.settle();
    await app.git('update-ref', 'refs/heads/main', a.commit);
    await host.abandon('a');
    const { updated } = await gate.settle();
    expect(updated.toSorted()).toEqual([a.key, b.key]);
    expect(gate.record(b.key).dependsOn).toEqual([]);
  });

  test('with a history of its own does not spoil the others', async () => {
    await host.propose({ topic: 'a' });
    const stream = Array.from(
      { length: 2_001 },
      (_, n) => `commit refs/heads/for/main/long\ncommitter T <t@e> ${n} +0000\ndata 1\nx\n`,
    ).join('');
    await app.raw(['fast-import', '--quiet', '--force', '--date-format=raw'], stream);
    const { events, refusals } = await gate.settle();
    expect(events.map(({ change }) => change.kind === 'change' && change.id)).toEqual(['main/a']);
    expect(refusals.map(({ text }) => text)).toEqual([expect.stringContaining('more than 2000 commits')]);
    expect((await gate.settle()).refusals).toEqual([]);
  });

  test('names its dependencies in any of its own commits, and never itself', async () => {
    const a = await host.propose({
      topic: 'a',
      message:
        'one\n\nDepends-On: acme/lib@main/x\nDepends-On: acme/app@main/a\nDepends-On: acme/none@main/y\n',
    });
    await app.commit({
      ref: 'refs/heads/for/main/a',
      files: { two: '2' },
      message: 'two\n\ndepends-on: acme/lib@main/z\n',
    });
    await gate.settle();
    expect(gate.record(a.key)).toMatchObject({
      dependsOn: ['local/acme/lib#main/z', 'local/acme/lib#main/x'],
      unresolvedDependencies: ['acme/none@main/y'],
    });
  });
});

describe('an approval', () => {
  beforeEach(async () => void (await gate.settle()));

  test('of another commit has no effect, and says so once', async () => {
    await host.propose({ topic: 'a' });
    await host.approve('a');
    await host.amend('a', { a: '2' });
    const { events, refusals } = await gate.settle();
    expect(events.map(({ type }) => type)).toEqual(['proposed']);
    expect(refusals.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^gate\/main\/a approves [0-9a-f]{8}, but the proposal is at [0-9a-f]{8}/),
    ]);
    await host.push({ x: '1' });
    expect((await gate.settle()).refusals).toEqual([]);
  });

  test('of nothing has no effect, and says so', async () => {
    await app.git('update-ref', 'refs/heads/gate/main/none', 'main');
    const { events, refusals, discarded } = await gate.settle();
    expect(events).toEqual([]);
    expect(refusals.map(({ text }) => text)).toEqual([
      expect.stringContaining('there is no proposal for/main/none'),
    ]);
    expect(discarded).toContain(refusals[0]?.text);
  });

  test('given again after it was withdrawn is an event again', async () => {
    await host.propose({ topic: 'a' });
    await host.approve('a');
    await gate.settle();
    await host.withdrawApproval('a');
    await gate.settle();
    await host.approve('a');
    expect(await described()).toEqual(['approved main/a']);
  });

  test('of the new commit is an event again', async () => {
    await host.propose({ topic: 'a' });
    await host.approve('a');
    await gate.settle();
    await host.amend('a', { a: '2' });
    await host.approve('a');
    expect(await described()).toEqual(['proposed main/a', 'approved main/a']);
  });
});

describe('without an event', () => {
  test('is discarded with the reason', async () => {
    const event = (payload: { readonly project: string }, type = 'refs-changed') =>
      gate.eventOf({ type, deliveryId: 'x', payload });
    expect((await gate.peek(event({ project: 'acme/none' }))).discarded).toBe(
      'no tenant has project local/acme/none',
    );
    expect((await gate.peek(event({ project: 'acme/app' }, 'pull'))).discarded).toContain('"pull"');
  });

  test('is for later when the remote cannot be asked', async () => {
    await app.remove();
    await expect(
      gate.peek(gate.eventOf({ type: 'refs-changed', deliveryId: 'x', payload: { project: 'acme/app' } })),
    ).rejects.toThrow('the host does not serve: local/acme/app');
  });
});

describe('what is fetched', () => {
  test('is fetched once: the merger finds it, and a branch without proposals is not fetched at all', async () => {
    await gate.settle();
    await host.push({ x: '1' });
    await gate.settle();
    expect(host.repositories.counters().fetches).toBe(0);
    const a = await host.propose({ topic: 'a' });
    await host.propose({ topic: 'b' });
    await gate.settle();
    expect(host.repositories.counters().fetches).toBe(1);
    await gate.merge(a.key);
    // The branch has not moved: the merger lists it.
    expect(host.repositories.counters().fetches).toBe(1);
  });
});

describe('very much at once', () => {
  test('is reported in parts, all of it, each event once', async () => {
    await gate.settle();
    const tip = await app.tip('main');
    const names = Array.from({ length: 230 }, (_, n) => `b${String(n).padStart(3, '0')}`);
    await app.raw(
      ['update-ref', '--stdin'],
      names.map(name => `create refs/heads/${name} ${tip}\n`).join(''),
    );
    const [delivery = expect.unreachable('no delivery')] = await host.deliveries();
    expect((await gate.peek(gate.eventOf(delivery))).events).toHaveLength(100);
    expect(await described()).toEqual(names.map(name => `ref-updated refs/heads/${name}`));
    expect(await described()).toEqual([]);
  });
});
