/** What a pipeline reports comes back as webhooks of its own check runs. */
import { expect } from 'vitest';
import { githubLayout } from './github-layout.ts';
import { githubStory } from './github-world.ts';
import { decided, itemsOf, webhooksProcessed } from './pull-outcomes.ts';

const layout = githubLayout().replace('check: .*:success', 'check: .*/gate:.*');

githubStory('a gate does not take a change again for its own failed check run', { layout }, async world => {
  const { github, app } = world;
  const pull = await world.open();
  world.fail('unit', pull);
  await github.review(app, pull, 'bob', 'APPROVED');
  world.free();
  await world.leaves(pull, 'FAILURE');
  await decided(world, pull, /it is the report of this pipeline itself/);
  await webhooksProcessed(world);
  expect(await itemsOf(world, pull, 'gate')).toHaveLength(1);
});
