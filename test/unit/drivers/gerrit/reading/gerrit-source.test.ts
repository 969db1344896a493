/** Events, changes, refs and URLs, as the source reads them at Gerrit. */
import { describe, expect, test } from 'vitest';
import { TOO_LARGE } from '../../../../../drivers/gerrit/api/port.ts';
import { gerritFactsOf } from '../../../../../drivers/gerrit/language/change-facts.ts';
import { addMilliseconds } from '../../../../../src/lib/clock.ts';
import { changeKey, type ProposedChange, refUpdateKey } from '../../../../../src/model/change.ts';
import { parseCommitId, projectKey } from '../../../../../src/model/project.ts';
import { alice, bob, changeHistory, commit } from './change-history.ts';
import { APP, AWAY, aboutChange, eventLines, LIB, scriptedGerrit } from './scripted-gerrit.ts';

const { signal } = new AbortController();
const key = (number: number, project = APP) => changeKey(project, String(number));

describe('a notification about a change', () => {
  test('is read once, and becomes events of the change as it is now', async () => {
    const { world, receive, records } = scriptedGerrit();
    const change = changeHistory();
    world.changes.set(12, change);
    expect(eventLines(await receive(aboutChange(12, 1), 'patchset-created'))).toEqual([
      'patchset-created acme/app#12 by alice',
    ]);
    expect(world.requests).toEqual(['change 12', 'patch sets 1']);
    change.vote(bob, { 'Code-Review': 2 });
    expect(eventLines(await receive(aboutChange(12, 1)))).toEqual(['comment-added acme/app#12 by bob']);
    expect(eventLines(await receive(aboutChange(12, 1)))).toEqual([]);
    expect(records.get(key(12))).toMatchObject({
      status: 'open',
      change: {
        ...{ id: '12', patchset: '1', branch: 'master', ref: 'refs/changes/12/12/1', owner: 'alice' },
        ...{ subject: 'Log in', commit: commit('12,1'), url: 'https://review.example.org/c/acme/app/+/12' },
        mergeText: { title: 'Log in', body: 'With a password.\n', reviewers: ['bob <bob@example.org>'] },
      },
      facts: { approvals: [{ label: 'Code-Review', value: 2, by: { username: 'bob' } }] },
    });
  });

  test('of a project that no tenant has costs no request', async () => {
    const { world, receive } = scriptedGerrit();
    const processed = await receive(aboutChange(12), 'patchset-created', 'acme/other');
    expect(processed.discarded).toBe('no tenant has project gerrit/acme/other');
    expect(world.requests).toEqual([]);
  });

  test('that names another project than the change is in is discarded', async () => {
    const { world, receive } = scriptedGerrit();
    world.changes.set(12, changeHistory());
    expect(await receive(aboutChange(12), 'comment-added', 'acme/lib')).toMatchObject({
      events: [],
      discarded: 'change 12 is one of project acme/app',
    });
  });

  test('waits while Gerrit does not serve, and says why', async () => {
    const { world, process, event } = scriptedGerrit();
    world.failure = AWAY;
    expect(await process(event(aboutChange(12)))).toEqual({
      later: AWAY.kind === 'later' ? AWAY.later : undefined,
      steps: [],
    });
  });

  test('that Gerrit shows in no readable form is discarded, not read for ever', async () => {
    const { world, receive } = scriptedGerrit();
    world.failure = { kind: 'refused', status: 200, text: 'no current patch set' };
    expect((await receive(aboutChange(12))).discarded).toBe('change 12: no current patch set');
  });

  test('with a history that is too long to read is discarded, and as a dependency it is unknown', async () => {
    const { world, source, receive } = scriptedGerrit();
    world.failure = { kind: 'refused', status: TOO_LARGE, text: 'the answer has more than 16000000 bytes' };
    expect((await receive(aboutChange(12))).discarded).toBe(
      'change 12: the answer has more than 16000000 bytes',
    );
    expect(await source.fetchChange(key(12), signal)).toBeUndefined();
    const url = 'https://review.example.org/12';
    expect(await source.changeOfUrl(url, new Set([APP]), signal)).toBeUndefined();
  });

  test('whose patch set Gerrit does not show yet is read again', async () => {
    const { world, receive } = scriptedGerrit();
    const change = changeHistory();
    world.stale.push(null, change.now());
    change.push(bob);
    world.changes.set(12, change);
    expect(eventLines(await receive(aboutChange(12, 2), 'patchset-created'))).toEqual([
      'patchset-created acme/app#12 by bob',
    ]);
    expect(world.requests.filter(each => each === 'change 12')).toHaveLength(3);
  });

  test('is not answered with a reading that is older than the one before', async () => {
    const { world, receive, records } = scriptedGerrit();
    const change = changeHistory();
    const old = change.now();
    change.second();
    change.vote(bob, { 'Code-Review': 2 });
    world.changes.set(12, change);
    await receive(aboutChange(12));
    world.stale.push(old);
    const processed = await receive(aboutChange(12));
    expect([eventLines(processed), processed.changes]).toEqual([[], []]);
    expect(gerritFactsOf(records.get(key(12)) ?? { facts: null })?.approvals).toHaveLength(1);
  });

  test('found by a listing takes what was listed', async () => {
    const { world, receive, now } = scriptedGerrit();
    world.changes.set(12, changeHistory());
    const about = { kind: 'change', number: 12, patchset: null, readAt: now() } as const;
    expect(eventLines(await receive(about, 'catch-up'))).toEqual(['patchset-created acme/app#12 by alice']);
    expect(world.requests.filter(each => each === 'change 12')).toHaveLength(1);
  });

  test('of the first look at a project makes nothing of it, and takes nothing from the notification behind it', async () => {
    const { world, receive, now } = scriptedGerrit();
    const change = changeHistory();
    change.comment(bob, 'recheck');
    world.changes.set(12, change);
    const readAt = addMilliseconds(now(), 60_000);
    const about = { kind: 'change', number: 12, patchset: null, readAt, isFirstLook: true } as const;
    const first = await receive(about, 'catch-up');
    expect([eventLines(first), first.updated]).toEqual([[], [key(12)]]);
    expect(eventLines(await receive(aboutChange(12, 1), 'patchset-created'))).toEqual([
      'patchset-created acme/app#12 by alice',
      'comment-added acme/app#12 by bob',
    ]);
    expect(eventLines(await receive(aboutChange(12, 1)))).toEqual([]);
  });

  test('of the first look happens where it was made in the seconds before: no stream was open to announce it', async () => {
    const { world, receive, now } = scriptedGerrit();
    const change = changeHistory();
    world.changes.set(12, change);
    const about = { kind: 'change', number: 12, patchset: null, readAt: now(), isFirstLook: true } as const;
    expect(eventLines(await receive(about, 'catch-up'))).toEqual(['patchset-created acme/app#12 by alice']);
    expect(eventLines(await receive(aboutChange(12, 1), 'patchset-created'))).toEqual([]);
    // A project that is watched again: what is known is not compared with what happened in between.
    change.comment(bob, 'recheck');
    expect(eventLines(await receive({ ...about, readAt: now() }, 'catch-up'))).toEqual([]);
  });

  test('asks for comments on the patch set where a message speaks of them', async () => {
    const { world, receive } = scriptedGerrit();
    const change = changeHistory();
    world.changes.set(12, change);
    await receive(aboutChange(12), 'patchset-created');
    change.comment(bob, '(2 comments)');
    const id = change.now().messages.at(-1)?.id ?? '';
    world.answers.set('changes/12/comments', {
      '/PATCHSET_LEVEL': [{ change_message_id: id, message: 'recheck' }],
      'README.md': [{ change_message_id: id, message: 'typo' }],
    });
    const { events } = await receive(aboutChange(12));
    expect(events).toMatchObject([{ type: 'comment-added', facts: { patchsetComments: ['recheck'] } }]);
  });
});

describe('a change that Gerrit shows no more', () => {
  async function known() {
    const gerrit = scriptedGerrit();
    gerrit.world.changes.set(12, changeHistory());
    await gerrit.receive(aboutChange(12), 'patchset-created');
    gerrit.world.changes.clear();
    return gerrit;
  }
  test('because it was deleted leaves with an event, once', async () => {
    const { receive, records } = await known();
    const deleted = { kind: 'change', number: 12, patchset: null, isDeleted: true } as const;
    expect(eventLines(await receive(deleted, 'change-deleted'))).toEqual([
      'change-deleted acme/app#12 by null',
    ]);
    expect(records.get(key(12))?.status).toBe('abandoned');
    expect(eventLines(await receive(deleted, 'change-deleted'))).toEqual([]);
  });
  test('because it is hidden leaves without an event, and is back when it is shown again', async () => {
    const { world, receive, records } = await known();
    const hidden = await receive(aboutChange(12));
    expect([eventLines(hidden), hidden.updated]).toEqual([[], [key(12)]]);
    expect(records.get(key(12))?.status).toBe('abandoned');
    world.changes.set(12, changeHistory());
    expect(eventLines(await receive(aboutChange(12), 'private-state-changed'))).toEqual([
      'private-state-changed acme/app#12 by null',
    ]);
    expect(records.get(key(12))?.status).toBe('open');
  });
  test('with its whole project is trouble of the host, and no verdict', async () => {
    const { world, process, event } = await known();
    world.answers.clear();
    expect(await process(event(aboutChange(12)))).toMatchObject({ later: { reason: 'denied' } });
  });
  test('and that never was known is discarded', async () => {
    const { receive } = await known();
    expect(await receive(aboutChange(99))).toMatchObject({
      events: [],
      changes: [],
      discarded: 'Gerrit shows no change 99',
    });
  });
  test('although its deletion was announced is read, not believed', async () => {
    const { world, receive, records } = await known();
    world.changes.set(12, changeHistory());
    await receive({ kind: 'change', number: 12, patchset: null, isDeleted: true }, 'change-deleted');
    expect(records.get(key(12))?.status).toBe('open');
  });
});

describe('a change depends on', () => {
  test('open and abandoned changes that its commit is built on, not on merged ones', async () => {
    const { world, receive, records } = scriptedGerrit();
    const [open, abandoned, merged] = [1, 2, 3].map(number => changeHistory(number));
    if (open === undefined || abandoned === undefined || merged === undefined)
      throw new Error('three changes');
    abandoned.own('abandon', 'Abandoned', alice, { status: 'ABANDONED' });
    merged.own('merged', 'Merged', alice, { status: 'MERGED' });
    const change = changeHistory();
    change.push(alice, 'Log in', { parents: ['1,1', '2,1', '3,1'].map(commit) });
    for (const [number, each] of [
      [1, open],
      [2, abandoned],
      [3, merged],
      [12, change],
    ] as const)
      world.changes.set(number, each);
    await receive(aboutChange(12), 'patchset-created');
    expect(records.get(key(12))).toMatchObject({
      dependsOn: [key(1), key(2)],
      facts: {
        parents: [
          { number: 1, patchset: 1, currentPatchset: 1, status: 'NEW' },
          { number: 2, patchset: 1, currentPatchset: 1, status: 'ABANDONED' },
        ],
      },
    });
  });

  test('nothing when its parent is where the branch is known to be, without asking', async () => {
    const { world, receive } = scriptedGerrit();
    world.changes.set(12, changeHistory());
    world.answers.set('projects/acme%2Fapp/branches/master', {
      ref: 'refs/heads/master',
      revision: commit('master'),
    });
    await receive(
      { kind: 'ref', ref: 'refs/heads/master', before: null, after: commit('master') },
      'ref-updated',
    );
    await receive(aboutChange(12), 'patchset-created');
    expect(world.requests).toEqual(['projects/acme%2Fapp/branches/master', 'change 12']);
  });

  test('a change that has a new patch set since: its record says so, and so do items of it', async () => {
    const { world, receive, records } = scriptedGerrit();
    const below = changeHistory(1);
    const above = changeHistory();
    above.push(alice, 'Above', { parents: [commit('1,1')] });
    world.changes.set(1, below).set(12, above);
    await receive(aboutChange(1), 'patchset-created');
    await receive(aboutChange(12), 'patchset-created');
    const related = [12, 1, 77].map(number => ({ _change_number: number, project: 'acme/app' }));
    world.answers.set('changes/1/revisions/current/related', { changes: related });
    below.push();
    expect((await receive(aboutChange(1), 'patchset-created')).updated).toEqual([key(12)]);
    const outdated = { facts: { parents: [{ number: 1, patchset: 1, currentPatchset: 2, status: 'NEW' }] } };
    expect(records.get(key(12))).toMatchObject(outdated);
    below.own('abandon', 'Abandoned', alice, { status: 'ABANDONED' });
    expect((await receive(aboutChange(1), 'change-abandoned')).updated).toEqual([key(12)]);
    above.push(alice, 'Above', { parents: [commit('1,2')] });
    await receive(aboutChange(12), 'patchset-created');
    world.requests.length = 0;
    below.comment(bob, 'hi');
    expect((await receive(aboutChange(1))).updated).toEqual([]);
    expect(world.requests).toEqual(['change 1']);
  });

  test('what its footers name: URLs are left to the core, Change-Ids name all open changes', async () => {
    const { world, receive, records } = scriptedGerrit();
    const id = `I${commit('wanted')}`;
    const gone = `I${commit('gone')}`;
    const change = changeHistory();
    change.push(
      alice,
      `Log in\n\ndepends-on:https://x/c/a/+/1  \nDepends-On: ${id}\nDepends-On: ${gone}\nDepends-On: ${id}\n`,
    );
    world.changes.set(12, change);
    const query = (name: string) => `changes/?q=change:${name}&n=50`;
    world.answers.set(query(gone), []).set(query(id), [
      { _number: 7, project: 'acme/lib', status: 'NEW' },
      { _number: 8, project: 'acme/lib', status: 'NEW' },
      { _number: 9, project: 'acme/lib', status: 'MERGED' },
      { _number: 10, project: 'foreign', status: 'NEW' },
    ]);
    await receive(aboutChange(12), 'patchset-created');
    expect(records.get(key(12))).toMatchObject({
      dependsOn: [key(7, LIB), key(8, LIB)],
      unresolvedDependencies: ['https://x/c/a/+/1', gone],
    });
  });
});

describe('a ref', () => {
  const branch = (after: string | null, before: string | null = null) =>
    ({ kind: 'ref', ref: 'refs/heads/stable', before, after }) as const;
  const path = 'projects/acme%2Fapp/branches/stable';

  test('is created, moved and deleted, each once', async () => {
    const { world, receive } = scriptedGerrit();
    const [one, two] = [commit('one'), commit('two')];
    world.answers.set(path, { ref: 'refs/heads/stable', revision: one });
    expect((await receive(branch(one), 'ref-updated')).events).toMatchObject([
      { type: 'ref-updated', branch: 'stable', branchesChanged: true, configMayHaveChanged: ['stable'] },
    ]);
    expect((await receive(branch(one), 'ref-updated')).events).toEqual([]);
    world.answers.set(path, { ref: 'refs/heads/stable', revision: two });
    expect((await receive(branch(two, one), 'ref-updated')).events).toMatchObject([
      { branchesChanged: false, change: { oldCommit: one, newCommit: two } },
    ]);
    world.answers.delete(path);
    expect((await receive(branch(null, two), 'ref-updated')).events).toMatchObject([
      { branchesChanged: true, configMayHaveChanged: [], change: { oldCommit: two, newCommit: null } },
    ]);
  });

  test('that came and went at once is not announced', async () => {
    const { receive } = scriptedGerrit();
    expect((await receive(branch(commit('one')), 'ref-updated')).discarded).toBe('the ref is gone again');
    expect((await receive(branch(null, commit('one')), 'ref-updated')).discarded).toBe(
      'the ref is as it was',
    );
  });

  test('that is an annotated tag is the commit it marks', async () => {
    const { world, receive } = scriptedGerrit();
    world.answers.set('projects/acme%2Fapp/tags/v%2F1', { revision: commit('tag'), object: commit('one') });
    const about = { kind: 'ref', ref: 'refs/tags/v/1', before: null, after: commit('tag') } as const;
    const { events } = await receive(about, 'ref-updated');
    expect(events).toMatchObject([
      { ref: 'refs/tags/v/1', branch: null, branchesChanged: false, change: { newCommit: commit('one') } },
    ]);
  });

  test('of a project that is hidden is trouble of the host', async () => {
    const { world, process, event } = scriptedGerrit();
    world.answers.clear();
    expect(await process(event(branch(null, commit('one')), 'ref-updated'))).toMatchObject({
      later: { reason: 'denied' },
    });
  });
});

describe('a project', () => {
  const list = 'projects/acme%2Fapp/branches/?n=500&S=0';
  const branches = (tips: { readonly [name: string]: string }) => [
    { ref: 'HEAD', revision: 'master' },
    { ref: 'refs/meta/config', revision: commit('config') },
    ...Object.entries(tips).map(([name, tip]) => ({ ref: `refs/heads/${name}`, revision: commit(tip) })),
  ];
  test('is looked at: branches that moved, came and went since the last time are events', async () => {
    const { world, receive } = scriptedGerrit();
    world.answers.set(list, branches({ master: 'one', old: 'one' }));
    const first = await receive({ kind: 'project' }, 'project-created');
    expect([eventLines(first), first.firstLooks]).toEqual([[], [APP]]);
    world.answers.set(list, branches({ master: 'two', stable: 'one' }));
    const second = await receive({ kind: 'project' }, 'catch-up');
    expect(second.events.map(({ ref, branchesChanged }) => [ref, branchesChanged])).toEqual([
      ['refs/heads/master', false],
      ['refs/heads/stable', true],
      ['refs/heads/old', true],
    ]);
    expect((await receive({ kind: 'project' }, 'catch-up')).events).toEqual([]);
  });
  test('with thousands of branches is taken in piece by piece', async () => {
    const { world, receive, source } = scriptedGerrit();
    const all = Array.from({ length: 1_300 }, (_, index) => `b${index}`);
    const page = (from: number) =>
      all.slice(from, from + 500).map(name => ({ ref: `refs/heads/${name}`, revision: commit(name) }));
    for (const from of [0, 500, 1_000])
      world.answers.set(`projects/acme%2Fapp/branches/?n=500&S=${from}`, page(from));
    const first = await receive({ kind: 'project' });
    expect(first.again?.deliveryId).toMatch(/-rest-300$/);
    expect((await receive({ kind: 'project' })).again).toBeUndefined();
    expect(await source.branches(APP, signal)).toHaveLength(1_300);
  });
});

describe('the URL of a change', () => {
  const known = new Set([APP, LIB]);
  test.each([
    'https://review.example.org/c/acme/app/+/12',
    'https://review.example.org/c/acme%2Fapp/+/12',
    'http://canonical.example.org/c/acme/app/+/12/3/README.md?tab=comments',
    'review.example.org/c/acme/app/+/12',
    'https://REVIEW.example.org/#/c/acme/app/+/12/',
    'https://review.example.org/#/c/12/',
    'https://review.example.org/#/c/12/3',
    'https://review.example.org/c/12',
    'https://review.example.org/q/12',
    'https://review.example.org/12',
    'https://review.example.org/12/',
    'https://review.example.org:8443/12#message-1',
  ])('%s is found', async url => {
    const { world, source } = scriptedGerrit();
    world.changes.set(12, changeHistory());
    expect(await source.changeOfUrl(url, known, signal)).toBe(key(12));
    expect(world.requests).toEqual(url.includes('+') ? [] : ['change 12']);
  });
  test.each([
    'https://other.example.org/c/acme/app/+/12',
    'https://review.example.org/c/acme/other/+/12',
    'https://review.example.org/acme/app/pull/12',
    'https://review.example.org/c/acme/app/+/',
    'https://review.example.org/0',
    'https://review.example.org/99',
    'acme/app@master/12',
    'https://review.example.org/c/acme/app /+/12',
    'https://[/12',
    '12',
  ])('%s names none', async url => {
    expect(await scriptedGerrit().source.changeOfUrl(url, known, signal)).toBeUndefined();
  });
  test('below the path of the base URL is found', async () => {
    const { world, source } = scriptedGerrit('https://review.example.org/r');
    world.changes.set(12, changeHistory());
    for (const path of ['r/12', 'r/c/acme/app/+/12', 'r/#/c/12'])
      expect(await source.changeOfUrl(`https://review.example.org/${path}`, known, signal)).toBe(key(12));
    expect(await source.changeOfUrl('https://review.example.org/12', known, signal)).toBeUndefined();
  });
  test('may be a Change-Id, where it names one change', async () => {
    const { world, source } = scriptedGerrit();
    const id = `I${commit('wanted')}`;
    const change = (number: number, status: string) => ({ _number: number, project: 'acme/lib', status });
    const query = `changes/?q=change:${id}&n=50`;
    world.answers.set(query, [change(1, 'MERGED'), change(2, 'NEW'), change(3, 'ABANDONED')]);
    expect(await source.changeOfUrl(id.toUpperCase(), known, signal)).toBe(key(2, LIB));
    world.answers.set(query, [change(1, 'NEW'), change(2, 'NEW')]);
    expect(await source.changeOfUrl(id, known, signal)).toBeUndefined();
  });
  test('is asked again later where Gerrit does not serve', async () => {
    const { world, source } = scriptedGerrit();
    world.failure = AWAY;
    const asked = source.changeOfUrl('https://review.example.org/12', known, signal);
    await expect(asked).rejects.toMatchObject({ retryable: true, reason: 'limited' });
  });
});

describe('the source', () => {
  test('reads a single change and a single ref by their keys', async () => {
    const { world, source } = scriptedGerrit();
    world.changes.set(12, changeHistory());
    world.answers.set('projects/acme%2Fapp/branches/master', { revision: commit('one') });
    expect(await source.fetchChange(key(12), signal)).toMatchObject({ status: 'open', change: { id: '12' } });
    expect(await source.fetchChange(key(12, LIB), signal)).toBeUndefined();
    expect(await source.fetchChange(key(13), signal)).toBeUndefined();
    const at = (name: string) => refUpdateKey(APP, 'refs/heads/master', parseCommitId(commit(name)));
    expect(await source.fetchChange(at('one'), signal)).toMatchObject({
      change: { kind: 'ref', branch: 'master' },
    });
    expect(await source.fetchChange(at('two'), signal)).toBeUndefined();
    expect(
      await source.fetchChange(changeKey(projectKey({ connection: 'x', name: 'y' }), '12'), signal),
    ).toBeUndefined();
  });
  test('throws what is tried again where Gerrit does not serve, or refuses', async () => {
    const { world, source } = scriptedGerrit();
    for (const failure of [AWAY, { kind: 'refused', status: 403, text: 'not permitted' } as const]) {
      world.failure = failure;
      await expect(source.branches(APP, signal)).rejects.toMatchObject({ retryable: true });
      await expect(source.fetchChange(key(12), signal)).rejects.toMatchObject({ retryable: true });
    }
  });
  test('has a lane for each change and for the refs of each project, where equal hints are one reading', () => {
    const { source, event } = scriptedGerrit();
    const ref = { kind: 'ref', ref: 'refs/heads/master', before: null, after: null } as const;
    const events = [
      event(aboutChange(12), 'comment-added'),
      event(aboutChange(12, 2), 'patchset-created'),
      event({ kind: 'change', number: 12, patchset: null, isDeleted: true }),
      event(ref),
      event({ kind: 'project' }),
      event(aboutChange(13)),
    ];
    expect(events.map(each => [source.lane?.(each), source.coalesceKey?.(each)])).toEqual([
      ['acme/app#12', 'change'],
      ['acme/app#12', 'change'],
      ['acme/app#12', 'deleted'],
      ['acme/app', 'ref refs/heads/master'],
      ['acme/app', 'project'],
      ['acme/app#13', 'change'],
    ]);
  });
  test('titles merge commits as Gerrit does', () => {
    const { source } = scriptedGerrit();
    const change = { key: key(12), id: '12', subject: 'Log in' } as ProposedChange;
    expect(source.mergeMessage(change)).toBe('Merge "Log in"\n\nChange: gerrit/acme/app#12\n');
  });
});
