/** What a pipeline requires of a pull request, and when it is met. */
import { expect } from 'vitest';
import type { Pull } from '../fake/world.ts';
import { githubLayout } from './github-layout.ts';
import { type GithubWorld, githubStory } from './github-world.ts';
import { decided, itemsOf, webhooksProcessed } from './pull-outcomes.ts';

const LAYOUT = githubLayout().replace(
  '    require:\n',
  `    reject:
      local:
        review: [{type: changes_requested, permission: write}]
    require:
`,
);

const gateOf = (world: GithubWorld, pull: Pull) => itemsOf(world, pull, 'gate');

// Case 26, 27, 28, 39
githubStory(
  'an approval counts by who gave it, and until it is withdrawn',
  { layout: LAYOUT },
  async world => {
    const { github, app } = world;
    github.setRole(app, 'derp', 'write');
    const pull = await world.open();
    // GitHub never computes whether it can be merged.
    pull.mergeableFrom = Number.POSITIVE_INFINITY;
    world.free();
    await world.leaves(pull, 'SUCCESS', 'check');
    await github.review(app, pull, 'eve', 'APPROVED');
    await decided(world, pull, /needs approved by write; eve has read/);

    const requested = await github.review(app, pull, 'derp', 'CHANGES_REQUESTED');
    await github.review(app, pull, 'bob', 'APPROVED');
    await github.review(app, pull, 'bob', 'COMMENTED');
    await webhooksProcessed(world);
    expect(await gateOf(world, pull)).toEqual([]);

    await github.dismiss(app, pull, requested);
    await world.leaves(pull, 'SUCCESS');
    expect(pull.now.merged).toBe(true);
  },
);

// Case 38
githubStory(
  'a label that was removed again counts for nothing, in any order of webhooks',
  { layout: githubLayout({ require: ['label: go'] }) },
  async world => {
    const { github, app } = world;
    const pull = await world.open();
    await github.review(app, pull, 'bob', 'APPROVED');
    // Read only now, the approval would find the label.
    await webhooksProcessed(world);
    github.hooks.faults.push('swapped');
    await github.label(app, pull, 'go');
    await github.unlabel(app, pull, 'go');
    await webhooksProcessed(world);
    expect(await gateOf(world, pull)).toEqual([]);
    await github.label(app, pull, 'go');
    world.free();
    await world.leaves(pull, 'SUCCESS');
  },
);
