/** What the fake shows is what the driver's own readers take: a change in every state, every event, in both versions. */
import { expect, test } from 'vitest';
import { CHANGE_OPTIONS, readChangeInfo } from '../../../drivers/gerrit/api/change-info.ts';
import { reduceGerritEvent } from '../../../drivers/gerrit/intake/reduce.ts';
import { askGerrit } from './ask-gerrit.ts';
import { type FakeGerrit, startFakeGerrit } from './fake-gerrit.ts';

async function reading(gerrit: FakeGerrit) {
  const known = CHANGE_OPTIONS.filter(
    each => each !== 'SUBMIT_REQUIREMENTS' || gerrit.world.version !== '3.2',
  );
  const options = known.map(each => `o=${each}`).join('&');
  const { text } = await askGerrit(gerrit, 'gatehouse', 'GET', `changes/1/detail?${options}`);
  return readChangeInfo(JSON.parse(text.slice(5)));
}

test.for(['3.2', '3.11'] as const)('a change is read in every state of its life (%s)', async version => {
  await using gerrit = await startFakeGerrit({ version });
  await gerrit.project('acme/cap');
  const change = await gerrit.push({
    project: 'acme/cap',
    files: { a: 'a\n' },
    message: 'Log in',
    topic: 't1',
  });
  await gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 });
  await gerrit.comment(change, 'bob', 'recheck');
  const first = await reading(gerrit);
  expect(first).toMatchObject({
    ...{ number: 1, project: 'acme/cap', branch: 'master', subject: 'Log in', status: 'NEW', topic: 't1' },
    ...{ wip: false, private: false, submittable: false, mergeable: true, submitType: 'MERGE_IF_NECESSARY' },
    owner: { username: 'alice' },
    revision: { number: 1, commit: change.now.patchSets[0]?.commit, uploader: { username: 'alice' } },
  });
  expect(first?.messages.map(({ author, text }) => [author?.username, text])).toEqual([
    ['alice', 'Uploaded patch set 1.'],
    ['bob', 'Patch Set 1: Code-Review+2 Workflow+1'],
    ['bob', 'Patch Set 1:\n\nrecheck'],
  ]);
  expect(first?.labels.find(({ name }) => name === 'Verified')?.permitted).toEqual([-2, -1, 0, 1, 2]);
  const isOld = version === '3.2';
  expect(first?.submitRequirements?.find(({ name }) => name === 'Verified')?.status).toBe(
    isOld ? undefined : 'UNSATISFIED',
  );

  await gerrit.setWip(change, true);
  expect(await reading(gerrit)).toMatchObject({ wip: true });
  await gerrit.setWip(change, false);
  await gerrit.vote(change, 'gatehouse', { Verified: 2 });
  expect(await reading(gerrit)).toMatchObject({ wip: false, submittable: true });
  await gerrit.submit(change);
  expect(await reading(gerrit)).toMatchObject({ status: 'MERGED' });
});

test('every event is one that the driver takes', async () => {
  await using gerrit = await startFakeGerrit();
  await gerrit.project('acme/cap');
  const change = await gerrit.push({ project: 'acme/cap', files: { a: 'a\n' } });
  await gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 });
  await gerrit.setHashtags(change, { add: ['x'] });
  await gerrit.setTopic(change, 't');
  await gerrit.setPrivate(change, true);
  await gerrit.setPrivate(change, false);
  await gerrit.setWip(change, true);
  await gerrit.setWip(change, false);
  await gerrit.deleteVote(change, 'admin', 'bob', 'Workflow');
  await gerrit.deleteReviewer(change, 'admin', 'bob');
  await gerrit.abandon(change);
  await gerrit.restore(change);
  await gerrit.amend(change, { files: { a: 'b\n' } });
  await gerrit.createBranch('acme/cap', 'stable');
  await gerrit.tag('acme/cap', 'v1');
  await gerrit.deleteChange(change);
  const events = gerrit.events.map(({ json }) => JSON.parse(JSON.stringify(json)));
  const broken = events.filter(event => reduceGerritEvent(event, 'stream').kind === 'broken');
  expect(broken).toEqual([]);
  expect(new Set(events.map(event => event.type)).size).toBe(13);
});
