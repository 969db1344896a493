/** What brings changes into check and gate: patch sets, comments, votes, requirements met later. */
import { expect } from 'vitest';
import { itemsOf } from './change-outcomes.ts';
import { gerritStory } from './gerrit-world.ts';

gerritStory('a new patch set is checked in place of the old one', {}, async world => {
  const { gerrit } = world;
  const change = await world.push();
  await world.runs('unit: 1');
  await gerrit.amend(change, { files: { 'file-1.txt': 'better\n' } });
  await world.observer.until('the second patch set', () =>
    world.item(change, 'check')?.changes.some(({ text }) => text.includes('1,2')),
  );
  await world.runs('unit: 1');
  expect((await itemsOf(world, change, 'check')).map(({ changes }) => changes[0]?.text)).toEqual([
    expect.stringContaining('1,2'),
    expect.stringContaining('1,1'),
  ]);

  // A comment on the patch set as a whole, as the page of Gerrit 3.3 and later sends it.
  world.release(/unit/);
  await world.leaves(change, 'SUCCESS', 'check');
  const comments = { '/PATCHSET_LEVEL': [{ message: 'recheck' }] };
  await gerrit.comment(change, 'bob', '', { comments });
  await world.runs('unit: 1');
  world.release(/unit/);
  await world.leaves(change, 'SUCCESS', 'check');

  await gerrit.abandon(change);
  await gerrit.restore(change);
  await world.runs('unit: 1');
  expect(await itemsOf(world, change, 'check')).toHaveLength(4);
});

gerritStory('votes in any order bring a change into the gate, once', {}, async world => {
  const { gerrit } = world;
  const [one, two, unready] = [await world.push(), await world.push(), await world.push({ wip: true })];
  world.free();
  await gerrit.vote(one, 'bob', { 'Code-Review': 2 });
  await gerrit.vote(one, 'alice', { Workflow: 1 });
  await world.leaves(one, 'SUCCESS');
  await gerrit.vote(two, 'alice', { Workflow: 1 });
  await gerrit.vote(two, 'bob', { 'Code-Review': 1 });
  await gerrit.comment(two, 'alice', 'Will this do?');
  // The vote of this person was there before, and the comment names it again.
  await gerrit.vote(two, 'bob', { 'Code-Review': 2 });
  await gerrit.comment(two, 'alice', 'Now it will.');
  await world.leaves(two, 'SUCCESS');
  await world.approve(unready);
  await world.observer.settle();
  expect(await itemsOf(world, unready, 'gate')).toEqual([]);
  await gerrit.setWip(unready, false);
  await world.leaves(unready, 'SUCCESS');
  const all = await Promise.all([one, two, unready].map(change => itemsOf(world, change, 'gate')));
  expect(all.map(items => items.length)).toEqual([1, 1, 1]);
  expect([one, two, unready].map(({ now }) => now.status)).toEqual(['MERGED', 'MERGED', 'MERGED']);
});
