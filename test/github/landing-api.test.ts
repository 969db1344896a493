/** Landing by the fake GitHub's own merge: methods, trees, required checks, lost answers. */
import { expect, test } from 'vitest';
import { openActingStand } from './acting-stand.ts';

const CHECK = { check: 'success', comment: false };

test.for(['merge', 'squash-merge', 'rebase'] as const)('a %s lands the tested tree (case 50)', async mode => {
  await using stand = await openActingStand();
  const tested = await stand.merge(mode);
  const { land, landed } = stand.startProcess('api');
  expect(await landed(tested)).toEqual([]);
  const outcome = await land({ merge: true }, tested);
  const tip = await stand.github.tip(stand.repository, 'main');
  expect(outcome).toMatchObject({ kind: 'landed', landed: [{ commit: tip, tree: tested.tree }] });
  expect(await landed(tested)).toMatchObject([{ commit: tip }]);
  expect(stand.pull.now.merged).toBe(true);
});

test('our own check is given first where the branch requires it, and taken back when the base moved (case 51)', async () => {
  await using stand = await openActingStand();
  const { github, repository } = stand;
  await github.protect(repository, 'main', { checks: ['acme/gate', 'lint'] });
  const tested = await stand.merge();
  const words = { merge: true, ...CHECK };
  expect(await stand.startProcess('api').land(words, tested)).toMatchObject({
    kind: 'refused',
    text: expect.stringContaining('required check is missing'),
  });
  expect(repository.checks).toMatchObject([{ status: 'completed', conclusion: 'success' }]);
  await github.protect(repository, 'main', {});
  await github.push(repository, 'main', { files: { 'b.txt': 'b\n' } });
  expect(await stand.startProcess('api').land(words, tested)).toMatchObject({ kind: 'base-moved' });
  expect(repository.checks).toMatchObject([{ status: 'in_progress', conclusion: null }]);
  await github.protect(repository, 'main', { checks: ['acme/gate'] });
  expect(await stand.startProcess('api').land(words, await stand.merge())).toMatchObject({ kind: 'landed' });
  expect(repository.checks).toMatchObject([{ status: 'completed', conclusion: 'success' }]);
});

test.for([true, false])('a merge whose answer is lost is made once (made: %s)', async after => {
  await using stand = await openActingStand();
  const tested = await stand.merge();
  stand.github.faults.add({ operation: 'pulls/merge', does: { kind: 'status', status: 502, after } });
  const { land } = stand.startProcess('api');
  const first = await land({ merge: true }, tested).catch((error: unknown) => error);
  if (after) expect(first).toMatchObject({ kind: 'landed', landed: [{ tree: tested.tree }] });
  else expect(first).toMatchObject({ unsettled: true });
  expect(await land({ merge: true }, tested)).toMatchObject({
    kind: 'landed',
    landed: [{ tree: tested.tree }],
  });
  expect(stand.github.count('pulls/merge')).toBe(after ? 1 : 2);
});
