/** Changes that need others: by git, by Depends-On, by the Change-Id of old footers. */
import { expect } from 'vitest';
import { gerritStory } from './gerrit-world.ts';

gerritStory('a chain of commits lands in its order, though approved from its end', {}, async world => {
  const { gerrit } = world;
  const bottom = await world.push();
  const middle = await world.push({ on: bottom });
  const top = await world.push({ on: middle });
  await world.runs('unit: 1', 'unit: 1 2', 'unit: 1 2 3');
  world.free();
  for (const change of [bottom, middle, top]) await world.leaves(change, 'SUCCESS', 'check');
  for (const change of [top, middle]) await world.approve(change);
  await world.observer.settle();
  expect(world.observer.items()).toEqual([]);
  await world.approve(bottom);
  for (const change of [bottom, middle, top]) await world.leaves(change, 'SUCCESS');
  expect([bottom, middle, top].map(({ now }) => now.status)).toEqual(['MERGED', 'MERGED', 'MERGED']);
  const built = world.stage.builds
    .filter(({ pipeline }) => pipeline === 'gate')
    .map(({ changes }) => changes);
  expect(built.toSorted()).toEqual(['1', '1 2', '1 2 3']);

  // A change on an outdated patch set cannot land: Gerrit would land what its author has replaced.
  const under = await world.push();
  const over = await world.push({ on: under });
  await gerrit.amend(under, { files: { 'under.txt': 'again\n' } });
  await world.approve(over);
  await world.approve(under);
  await world.leaves(under, 'SUCCESS');
  await world.observer.settle();
  expect([under.now.status, over.now.status]).toEqual(['MERGED', 'NEW']);
});

gerritStory(
  'a dependency in another project lands first, and its new patch set takes the needy one out',
  {},
  async world => {
    const { gerrit } = world;
    const needed = await world.push({ project: 'acme/library' });
    const url = `${gerrit.url}/c/acme/library/+/${needed.number}`;
    const needy = await world.push({ message: `Use it\n\nDepends-On: ${url}` });
    await world.runs('unit: 1', 'unit: 1 2');
    await world.approve(needy);
    await world.observer.settle();
    expect(world.item(needy)).toBeUndefined();
    await world.approve(needed);
    await world.observer.until('both to be in the gate', () => world.item(needed) && world.item(needy));
    await gerrit.amend(needed, { files: { 'better.txt': '1\n' } });
    await world.leaves(needed, 'DEQUEUED');
    const left = await world.leaves(needy, 'FAILURE');
    expect(left.reason).toBe('dependency-lost');
    await world.approve(needed);
    await world.observer.until('both to be back', () => world.item(needed) && world.item(needy));
    world.free();
    await world.leaves(needed, 'SUCCESS');
    await world.leaves(needy, 'SUCCESS');
    expect([needed.now.status, needy.now.status]).toEqual(['MERGED', 'MERGED']);
    const landing = gerrit.requests
      .filter(({ operation }) => operation === 'changes/submit')
      .map(({ path }) => path);
    expect(landing.map(path => /changes\/(\d+|[^/]*~(\d+))/.exec(path)?.[0].match(/\d+$/)?.[0])).toEqual([
      '1',
      '2',
    ]);
  },
);

gerritStory('an old footer names a change of any project by its Change-Id', {}, async world => {
  const needed = await world.push({ project: 'acme/library' });
  const needy = await world.push({ message: `Use it\n\nDepends-On: ${needed.changeId}` });
  await world.runs('unit: 1', 'unit: 1 2');
  world.free();
  await world.approve(needy);
  await world.approve(needed);
  for (const change of [needed, needy]) await world.leaves(change, 'SUCCESS');
  expect([needed.now.status, needy.now.status]).toEqual(['MERGED', 'MERGED']);
});
