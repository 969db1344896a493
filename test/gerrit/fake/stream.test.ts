/** Events of what people do to a change: their order and fields, as a real Gerrit 3.2 sent them. */
import { expect, test } from 'vitest';
import { type FakeGerrit, startFakeGerrit } from './fake-gerrit.ts';
import { streamNames } from './stream-names.ts';

const META = 'ref-updated refs/changes/01/1/meta';
const alice = { name: 'Alice', email: 'alice@example.org', username: 'alice' };

/** What the stream shows of the deed. */
async function during(gerrit: FakeGerrit, deed: () => Promise<unknown>) {
  const before = gerrit.events.length;
  await deed();
  const events = gerrit.events.slice(before);
  return { names: streamNames(events), last: events.at(-1)?.json };
}

async function withChange(): Promise<FakeGerrit> {
  const gerrit = await startFakeGerrit({ now: () => Date.UTC(2026, 10, 22, 13, 52, 49, 500) });
  await gerrit.project('acme/cap');
  await gerrit.push({
    project: 'acme/cap',
    files: { f: 'one\n' },
    message: 'First change',
    topic: 't1',
    hashtags: ['h1'],
  });
  return gerrit;
}

test('patchset-created has the fields of a real one, and no more', async () => {
  await using gerrit = await withChange();
  const change = gerrit.change(1);
  const [patchSet] = change.now.patchSets;
  expect(gerrit.events.at(-1)?.json).toEqual({
    uploader: alice,
    patchSet: {
      number: 1,
      revision: patchSet?.commit,
      parents: patchSet?.parents,
      ref: 'refs/changes/01/1/1',
      uploader: alice,
      createdOn: 1795355569,
      author: alice,
      kind: 'REWORK',
      sizeInsertions: 1,
      sizeDeletions: 0,
    },
    change: {
      project: 'acme/cap',
      branch: 'master',
      topic: 't1',
      id: change.changeId,
      number: 1,
      subject: 'First change',
      owner: alice,
      url: `${gerrit.url}/c/acme/cap/+/1`,
      commitMessage: `First change\n\nChange-Id: ${change.changeId}\n`,
      hashtags: ['h1'],
      createdOn: 1795355569,
      status: 'NEW',
    },
    project: 'acme/cap',
    refName: 'refs/heads/master',
    changeKey: { id: change.changeId },
    type: 'patchset-created',
    eventCreatedOn: 1795355569,
  });
});

test('every write shows its note first, then what it was', async () => {
  await using gerrit = await withChange();
  expect(await during(gerrit, () => gerrit.vote(1, 'bob', { 'Code-Review': 2 }))).toMatchObject({
    names: [META, 'comment-added 1'],
    last: {
      approvals: [
        { type: 'Verified', description: 'Verified', value: '0' },
        { type: 'Code-Review', description: 'Code-Review', value: '2', oldValue: '0' },
        { type: 'Workflow', description: 'Workflow', value: '0' },
      ],
      comment: 'Patch Set 1: Code-Review+2',
    },
  });
  expect(await during(gerrit, () => gerrit.setTopic(1, 't2'))).toMatchObject({
    names: [META, 'topic-changed 1'],
    last: { changer: alice, oldTopic: 't1', change: { topic: 't2' } },
  });
  expect(
    await during(gerrit, () => gerrit.setHashtags(1, { add: ['gate', 'x'], remove: ['h1'] })),
  ).toMatchObject({
    names: [META, 'hashtags-changed 1'],
    last: { editor: alice, added: ['gate', 'x'], removed: ['h1'], hashtags: ['gate', 'x'] },
  });
  expect(await during(gerrit, () => gerrit.setWip(1, true))).toMatchObject({
    names: [META, 'wip-state-changed 1'],
    last: { changer: alice, change: { wip: true } },
  });
  const ready = await during(gerrit, () => gerrit.setWip(1, false));
  expect(ready.last?.change).not.toHaveProperty('wip');
  expect(await during(gerrit, () => gerrit.deleteVote(1, 'admin', 'bob', 'Code-Review'))).toMatchObject({
    names: [META, 'vote-deleted 1'],
    last: {
      approvals: [{ type: 'Code-Review', value: '0', oldValue: '2' }],
      comment: 'Removed Code-Review+2 by Bob<bob@example.org>\n',
      remover: { username: 'admin' },
    },
  });
  await gerrit.vote(1, 'bob', { 'Code-Review': 2 });
  expect(await during(gerrit, () => gerrit.deleteReviewer(1, 'admin', 'bob'))).toMatchObject({
    names: [META, 'reviewer-deleted 1'],
    last: {
      comment: 'Removed reviewer Bob with the following votes:\n\n* Code-Review+2 by Bob<bob@example.org>\n',
    },
  });
  expect(await during(gerrit, () => gerrit.abandon(1, 'alice', 'no'))).toMatchObject({
    names: [META, 'change-abandoned 1'],
    last: { abandoner: alice, reason: 'no', change: { status: 'ABANDONED' } },
  });
  expect((await during(gerrit, () => gerrit.restore(1))).names).toEqual([META, 'change-restored 1']);
});

test('a reword drops the votes; a move shows nothing but the note; a deletion comes before its refs', async () => {
  await using gerrit = await withChange();
  const change = gerrit.change(1);
  await gerrit.vote(1, 'bob', { 'Code-Review': 2 });
  const text = `First change, reworded\n\nDepends-On: x\nChange-Id: ${change.changeId}\n`;
  expect(await during(gerrit, () => gerrit.editMessage(1, text))).toMatchObject({
    names: ['ref-updated refs/changes/01/1/2', META, 'patchset-created 1'],
    last: { patchSet: { number: 2, kind: 'NO_CODE_CHANGE' }, change: { subject: 'First change, reworded' } },
  });
  expect(change.now.votes.filter(vote => vote.patchSet === 2)).toEqual([]);
  await gerrit.createBranch('acme/cap', 'stable');
  expect((await during(gerrit, () => gerrit.move(1, 'stable'))).names).toEqual([META]);
  const deleted = await during(gerrit, () => gerrit.deleteChange(1));
  expect(deleted.names).toEqual([
    'change-deleted 1',
    'ref-updated refs/changes/01/1/1',
    'ref-updated refs/changes/01/1/2',
    META,
  ]);
});

test('branches and tags move with one event each', async () => {
  await using gerrit = await withChange();
  const names = (deed: () => Promise<unknown>) => during(gerrit, deed).then(each => each.names);
  expect(await names(() => gerrit.createBranch('acme/cap', 'stable'))).toEqual([
    'ref-updated refs/heads/stable',
  ]);
  expect(await names(() => gerrit.pushBranch('acme/cap', 'stable', { s: 's\n' }))).toEqual([
    'ref-updated refs/heads/stable',
  ]);
  expect(await names(() => gerrit.deleteBranch('acme/cap', 'stable'))).toEqual([
    'ref-updated refs/heads/stable',
  ]);
  expect(await names(() => gerrit.tag('acme/cap', 'v1'))).toEqual(['ref-updated refs/tags/v1']);
  expect(await names(() => gerrit.project('acme/new'))).toEqual([
    'ref-updated refs/heads/master',
    'project-created',
  ]);
});
