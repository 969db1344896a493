/** What happens to a pull request, or to its branch, while it is in the gate. */
import { expect } from 'vitest';
import { git } from '../fake/bare-git.ts';
import type { OpenPullRequest } from '../fake/deeds/pulls.ts';
import type { Pull } from '../fake/world.ts';
import { type GithubWorld, githubStory } from './github-world.ts';
import { webhooksProcessed } from './pull-outcomes.ts';

async function gated(world: GithubWorld, request?: OpenPullRequest): Promise<Pull> {
  const pull = await world.open(request);
  await world.github.review(world.app, pull, 'bob', 'APPROVED');
  await world.observer.until('it to enter the gate', () => world.item(pull));
  return pull;
}

const checksOf = ({ app }: GithubWorld, pull: Pull, name: string) =>
  app.checks.filter(each => each.headSha === pull.now.head && each.name === name);

// Case 15
githubStory('a pull request that becomes a draft leaves the gate', {}, async world => {
  const { github, app } = world;
  const pull = await gated(world);
  await world.runs('unit: 1');
  await github.setDraft(app, pull, true);
  const left = await world.leaves(pull, 'FAILURE');
  expect(left.reason).toBe('requirement-lost');
  await webhooksProcessed(world);
  await github.settled();
  expect(checksOf(world, pull, 'tenant-one/gate')).toMatchObject([{ status: 'completed' }]);
  expect(pull.now.merged).toBe(false);
});

// Case 17
githubStory(
  'a pull request that moves to another branch leaves the gate and is tested there',
  {},
  async world => {
    const { github, app } = world;
    const main = await github.tip(app, 'main');
    await github.setRef(app, 'refs/heads/stable', main);
    const pull = await gated(world);
    await world.runs('unit: 1');
    await github.edit(app, pull, { base: 'stable' });
    const left = await world.leaves(pull, 'DEQUEUED');
    expect(left.reason).toBe('new-patchset');
    await world.runs('unit: 1');
    expect(
      world.stage.builds.map(({ pipeline, variables }) => [pipeline, variables.zuul.branch]).slice(-2),
    ).toEqual([
      ['gate', 'main'],
      ['check', 'stable'],
    ]);
    world.free();
    await world.observer.until('it to land', () => pull.now.merged);
    expect(await github.tip(app, 'main')).toBe(main);
  },
);

// Case 18
githubStory(
  'a dependency that is written while the pull request is in the gate merges first',
  {},
  async world => {
    const { github, app } = world;
    const needy = await gated(world, { title: 'Use it' });
    await world.runs('unit: 1');
    const needed = await world.open({ title: 'Make it' });
    await github.edit(app, needy, { body: `Depends-On: https://github.com/acme/app/pull/${needed.number}` });
    const left = await world.leaves(needy, 'FAILURE');
    expect(left.reason).toBe('dependency-lost');
    await github.review(app, needed, 'bob', 'APPROVED');
    await world.runs('unit: 2', 'unit: 2 1');
    world.release(/^unit: 2 1$/);
    await webhooksProcessed(world);
    expect(needy.now.merged).toBe(false);
    world.free();
    await world.leaves(needed, 'SUCCESS');
    await world.leaves(needy, 'SUCCESS');
    expect([needed.now.merged, needy.now.merged]).toEqual([true, true]);
  },
);

// Case 23
githubStory('a push by a person is below what lands', {}, async world => {
  const { github, app } = world;
  const pull = await gated(world);
  await world.runs('unit: 1');
  await webhooksProcessed(world);
  const [before, readBefore] = [github.requests.length, github.count('graphql')];
  const pushed = await github.push(app, 'main', { files: { 'by-hand.txt': '1\n' } });
  await webhooksProcessed(world);
  expect(github.requests.slice(before).filter(({ operation }) => !operation.startsWith('git/'))).toHaveLength(
    1,
  );
  expect(github.count('graphql')).toBe(readBefore + 1);
  world.release(/^unit: 1$/);
  await world.observer.until(
    'a reset',
    () =>
      world
        .item(pull)
        ?.resets.map(({ code }) => code)
        .join() === 'base-moved',
  );
  await world.runs('unit: 1');
  world.free();
  await world.leaves(pull, 'SUCCESS');
  expect(await git(app.dir, 'merge-base', pushed, 'main')).toBe(pushed);
});
