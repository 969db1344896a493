/** Case 47: people ask at GitHub for checks to run again. */
import { expect } from 'vitest';
import { githubLayout } from './github-layout.ts';
import { githubStory } from './github-world.ts';
import { itemsOf, webhooksProcessed } from './pull-outcomes.ts';

const STYLE = `
- pipeline:
    name: style
    manager: independent
    trigger:
      local:
        - {event: pull_request, action: opened}
        - {event: check_run, action: rerequested, check: .*/style:.*}
    success:
      local: {check: success}
    failure:
      local: {check: failure}
`;

githubStory(
  'a re-run of one check runs its pipeline once more, and of all checks each that takes it, which the gate does not',
  { layout: STYLE + githubLayout({ project: ['style: {jobs: [unit]}'] }) },
  async world => {
    const { github, app } = world;
    world.free();
    const pull = await world.open();
    await world.leaves(pull, 'SUCCESS', 'check');
    await world.leaves(pull, 'SUCCESS', 'style');
    world.fail('unit', pull);
    await github.review(app, pull, 'bob', 'APPROVED');
    await world.leaves(pull, 'FAILURE');
    const runs = async () => {
      const items = await Promise.all(
        ['check', 'style', 'gate'].map(pipeline => itemsOf(world, pull, pipeline)),
      );
      return items.map(({ length }) => length);
    };
    // An item that has left is in the history a moment later.
    const settleAt = async (...expected: readonly number[]) => {
      await webhooksProcessed(world);
      const isThere = async () => (await runs()).every((count, index) => count >= (expected[index] ?? 0));
      await world.observer.until('all runs to have ended', isThere);
      await world.observer.settle();
      expect(await runs()).toEqual(expected);
    };
    await settleAt(1, 1, 1);

    const check = app.checks.find(({ name }) => name === 'tenant-one/check');
    if (check === undefined) return expect.unreachable('the pipeline has a check run');
    await github.rerun(app, check);
    await settleAt(2, 1, 1);
    await github.rerunAll(app, pull.now.head);
    await settleAt(3, 2, 1);
  },
);
