/** The same on a GitHub Enterprise Server, as its own API description has it. */
import { expect } from 'vitest';
import { githubStory } from './github-world.ts';

githubStory(
  'a pull request lands at a GitHub Enterprise Server',
  { fake: { product: 'ghes' }, connection: ['server = github.example.org'] },
  async world => {
    const { github, app } = world;
    world.free();
    const pull = await world.open();
    await world.leaves(pull, 'SUCCESS', 'check');
    await github.review(app, pull, 'bob', 'APPROVED');
    await world.leaves(pull, 'SUCCESS');
    await github.settled();
    expect(pull.now.merged).toBe(true);
    expect(github.requests.some(({ path }) => path.startsWith('/api/graphql'))).toBe(true);
    expect(github.requests.some(({ path }) => path.startsWith('/api/v3/'))).toBe(true);
  },
);
