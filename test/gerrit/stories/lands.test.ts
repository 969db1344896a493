/** The main path: pushed, checked, approved, gated, submitted. */
import { expect } from 'vitest';
import { gerritStory } from './gerrit-world.ts';

gerritStory('an approved change is submitted by Gerrit, with the tested tree', {}, async world => {
  const { gerrit } = world;
  const change = await world.push({ message: 'Log in' });
  await world.runs('unit: 1');
  world.free();
  await world.leaves(change, 'SUCCESS', 'check');
  await world.approve(change);
  await world.leaves(change, 'SUCCESS');
  expect(change.now.status).toBe('MERGED');
  expect(await gerrit.tree('acme/app')).toBe(
    await gerrit.tree('acme/app', change.now.patchSets.at(-1)?.commit),
  );
});
