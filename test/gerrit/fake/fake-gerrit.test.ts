/** The fake itself, against what a real Gerrit 3.2 was seen to do: a change from its push to its merge. */
import { expect, test } from 'vitest';
import { askGerrit } from './ask-gerrit.ts';
import { startFakeGerrit } from './fake-gerrit.ts';

test('a change is pushed, voted on and submitted, and the stream shows it in the order of a real Gerrit', async () => {
  await using gerrit = await startFakeGerrit();
  await gerrit.project('acme/cap');
  const before = gerrit.events.length;
  const change = await gerrit.push({
    project: 'acme/cap',
    files: { f: 'one\n' },
    message: 'First change',
    topic: 't1',
    hashtags: ['h1'],
  });
  expect(namesOf(gerrit.events.slice(before))).toEqual([
    'ref-updated refs/changes/01/1/1',
    'ref-updated refs/changes/01/1/meta',
    'patchset-created',
  ]);

  await gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 });
  await gerrit.vote(change, 'gatehouse', { Verified: 2 });
  const tip = await gerrit.tip('acme/cap');
  const submitted = gerrit.events.length;
  const answer = await askGerrit(gerrit, 'gatehouse', 'POST', `changes/${change.number}/submit`, {});

  // What a real Gerrit 3.2 answers for a change that it has just merged.
  expect(answer).toMatchObject({
    status: 200,
    json: { status: 'NEW', submitter: { _account_id: expect.any(Number) } },
  });
  expect(namesOf(gerrit.events.slice(submitted))).toEqual([
    'ref-updated refs/heads/master',
    'ref-updated refs/changes/01/1/meta',
    'change-merged',
  ]);
  expect(await gerrit.tip('acme/cap')).toBe(change.now.patchSets[0]?.commit);
  expect(await gerrit.tip('acme/cap')).not.toBe(tip);
  const detail = await askGerrit(gerrit, 'gatehouse', 'GET', `changes/${change.number}/detail`);
  expect(detail.json).toMatchObject({ status: 'MERGED', submission_id: '1' });
});

function namesOf(
  events: readonly { readonly json: { readonly [name: string]: unknown } }[],
): readonly string[] {
  return events.map(({ json }) => {
    const update = json.refUpdate as { readonly refName?: string } | undefined;
    return update === undefined ? String(json.type) : `${String(json.type)} ${update.refName}`;
  });
}
