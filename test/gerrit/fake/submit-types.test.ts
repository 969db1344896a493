/** What each submit type does to the branch, with real git. */
import { expect, test } from 'vitest';
import { askGerrit } from './ask-gerrit.ts';
import { git } from './bare-git.ts';
import { type FakeGerrit, startFakeGerrit } from './fake-gerrit.ts';
import { streamNames } from './stream-names.ts';
import { currentPatchSet, type FakeChange, type FakeSubmitType } from './world.ts';

/** Two approved changes on the same tip; the first is submitted, so that the second is behind. */
async function twoChanges(
  gerrit: FakeGerrit,
  submitType: FakeSubmitType,
): Promise<readonly [FakeChange, FakeChange]> {
  await gerrit.project('acme/cap', { submitType });
  const one = await gerrit.push({ project: 'acme/cap', files: { a: 'a\n' }, message: 'Change 1' });
  const two = await gerrit.push({ project: 'acme/cap', files: { b: 'b\n' }, message: 'Change 2' });
  for (const each of [one, two]) await approve(gerrit, each);
  return [one, two];
}

async function approve(gerrit: FakeGerrit, change: FakeChange): Promise<void> {
  await gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 });
  await gerrit.vote(change, 'gatehouse', { Verified: 2 });
}

/** Lines of `git log`, newest first: subject, number of parents, author and committer. */
async function historyOf(gerrit: FakeGerrit): Promise<readonly string[]> {
  const { dir } = gerrit.world.projects.get('acme/cap') ?? { dir: '' };
  const text = await git(dir, 'log', '--first-parent', '--format=%s|%P|%an|%cn', 'master');
  return text.split('\n').map(line => {
    const [subject = '', parents = '', author, committer] = line.split('|');
    return `${subject} (${parents.split(' ').filter(Boolean).length}) ${author}/${committer}`;
  });
}

const FIRST = 'Initial empty repository (0) Administrator/Administrator';

test('MERGE_IF_NECESSARY moves forward where it can, and makes a merge commit where not', async () => {
  await using gerrit = await startFakeGerrit();
  const [one, two] = await twoChanges(gerrit, 'MERGE_IF_NECESSARY');
  await gerrit.submit(one);
  expect(await gerrit.tip('acme/cap')).toBe(currentPatchSet(one.now).commit);
  await gerrit.submit(two);
  expect(await historyOf(gerrit)).toEqual([
    'Merge "Change 2" (2) gatehouse CI/Gerrit Code Review',
    'Change 1 (1) Alice/Alice',
    FIRST,
  ]);
  expect(two.now.patchSets).toHaveLength(1);
  expect(gerrit.events.at(-1)?.json).toMatchObject({
    type: 'change-merged',
    newRev: await gerrit.tip('acme/cap'),
  });
});

test('MERGE_ALWAYS makes a merge commit also where it could move forward', async () => {
  await using gerrit = await startFakeGerrit();
  const [one] = await twoChanges(gerrit, 'MERGE_ALWAYS');
  await gerrit.submit(one);
  expect(await historyOf(gerrit)).toEqual(['Merge "Change 1" (2) gatehouse CI/Gerrit Code Review', FIRST]);
});

test('FAST_FORWARD_ONLY refuses what is behind', async () => {
  await using gerrit = await startFakeGerrit();
  const [one, two] = await twoChanges(gerrit, 'FAST_FORWARD_ONLY');
  await gerrit.submit(one);
  const answer = await askGerrit(gerrit, 'gatehouse', 'POST', `changes/${two.number}/submit`, {});
  expect(answer.status).toBe(409);
  expect(answer.text).toContain('Project policy requires all submissions to be a fast-forward.');
  expect((await askGerrit(gerrit, 'bob', 'GET', `changes/${two.number}`)).json).toMatchObject({
    mergeable: false,
  });
});

test.for(['REBASE_IF_NECESSARY', 'REBASE_ALWAYS', 'CHERRY_PICK'] as const)(
  '%s lands a commit of its own, as a new patch set',
  async submitType => {
    await using gerrit = await startFakeGerrit();
    const [one, two] = await twoChanges(gerrit, submitType);
    await gerrit.submit(one);
    const isKept = submitType === 'REBASE_IF_NECESSARY';
    expect(one.now.patchSets).toHaveLength(isKept ? 1 : 2);
    const before = gerrit.events.length;
    await gerrit.submit(two);
    expect(await gerrit.tip('acme/cap')).toBe(currentPatchSet(two.now).commit);
    expect(two.now.patchSets).toHaveLength(2);
    expect(await historyOf(gerrit)).toEqual([
      'Change 2 (1) Alice/gatehouse CI',
      `Change 1 (1) Alice/${isKept ? 'Alice' : 'gatehouse CI'}`,
      FIRST,
    ]);
    expect(currentPatchSet(two.now).message.includes('Reviewed-on: ')).toBe(!isKept);
    expect(streamNames(gerrit.events.slice(before))).toEqual([
      'ref-updated refs/heads/master',
      'ref-updated refs/changes/02/2/2',
      'ref-updated refs/changes/02/2/meta',
      'change-merged 2',
    ]);
  },
);

test('a chain lands with one move of the branch, and both events name the new tip', async () => {
  await using gerrit = await startFakeGerrit();
  await gerrit.project('acme/cap');
  const one = await gerrit.push({ project: 'acme/cap', files: { a: 'a\n' }, message: 'Chain A' });
  const two = await gerrit.push({ project: 'acme/cap', files: { b: 'b\n' }, message: 'Chain B', on: one });
  await approve(gerrit, one);
  await approve(gerrit, two);
  const related = await askGerrit(gerrit, 'bob', 'GET', `changes/${two.number}/revisions/current/related`);
  expect(related.json).toMatchObject({ changes: [{ _change_number: 2 }, { _change_number: 1 }] });
  const together = await askGerrit(gerrit, 'bob', 'GET', `changes/${two.number}/submitted_together`);
  expect(together.json).toMatchObject([{ _number: 2 }, { _number: 1 }]);
  const before = gerrit.events.length;
  await gerrit.submit(two);
  expect(streamNames(gerrit.events.slice(before))).toEqual([
    'ref-updated refs/heads/master',
    'ref-updated refs/changes/01/1/meta',
    'ref-updated refs/changes/02/2/meta',
    'change-merged 1',
    'change-merged 2',
  ]);
  const tip = await gerrit.tip('acme/cap');
  expect(gerrit.events.slice(-2).map(each => each.json.newRev)).toEqual([tip, tip]);
});

test('what is built on an old patch set is refused with both numbers', async () => {
  await using gerrit = await startFakeGerrit();
  await gerrit.project('acme/cap');
  const one = await gerrit.push({ project: 'acme/cap', files: { a: 'a\n' } });
  const two = await gerrit.push({ project: 'acme/cap', files: { b: 'b\n' }, on: one });
  await gerrit.amend(one, { files: { a: 'b\n' } });
  for (const each of [one, two]) await approve(gerrit, each);
  const answer = await askGerrit(gerrit, 'gatehouse', 'POST', `changes/${two.number}/submit`, {});
  expect(answer.text).toContain('which is outdated patch set 1 of change 1. The latest patch set is 2.');
});

test('a topic lands one by one, unless the server submits whole topics', async () => {
  await using gerrit = await startFakeGerrit();
  const halves = [];
  for (const project of ['acme/cap1', 'acme/cap2']) {
    await gerrit.project(project);
    halves.push(await gerrit.push({ project, files: { a: 'a\n' }, topic: 't' }));
  }
  const [one, two] = halves as [FakeChange, FakeChange];
  await approve(gerrit, one);
  const together = () =>
    askGerrit(gerrit, 'bob', 'GET', `changes/${one.number}/submitted_together?o=NON_VISIBLE_CHANGES`);
  expect((await together()).json).toEqual({ changes: [], non_visible_changes: 0 });
  gerrit.world.submitWholeTopic = true;
  expect((await together()).json).toMatchObject({ changes: [{ _number: 2 }, { _number: 1 }] });
  expect((await askGerrit(gerrit, null, 'GET', 'config/server/info')).json).toMatchObject({
    change: { submit_whole_topic: true },
  });
  const submit = () => askGerrit(gerrit, 'gatehouse', 'POST', `changes/${one.number}/submit`, {});
  expect(await submit()).toMatchObject({
    status: 409,
    text: `Failed to submit 2 changes due to the following problems:\nChange ${two.number}: needs Code-Review; needs Verified; needs Workflow\n`,
  });
  await approve(gerrit, two);
  expect((await submit()).status).toBe(200);
  expect([one.now.status, two.now.status]).toEqual(['MERGED', 'MERGED']);
});
