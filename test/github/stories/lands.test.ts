/** The main path: opened, checked, approved, gated, landed. */
import { expect } from 'vitest';
import { githubStory } from './github-world.ts';

githubStory('an approved pull request lands as exactly the tested commit', {}, async world => {
  const { github, app } = world;
  const pull = await world.open({ title: 'Log in' });
  await world.runs('unit: 1');
  world.free();
  await world.leaves(pull, 'SUCCESS', 'check');
  await github.review(app, pull, 'bob', 'APPROVED');
  await world.leaves(pull, 'SUCCESS');
  await github.settled();
  expect(pull.now).toMatchObject({ state: 'closed', merged: true });
  expect(app.checks.map(({ name, status, conclusion }) => [name, status, conclusion])).toEqual([
    ['tenant-one/check', 'completed', 'success'],
    ['tenant-one/gate', 'completed', 'success'],
  ]);
});
