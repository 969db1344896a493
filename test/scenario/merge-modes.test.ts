import path from 'node:path';
import { expect } from 'vitest';
import { testedMergeOf } from '../../src/model/build-set.ts';
import type { MergeMode } from '../../src/model/merge-mode.ts';
import { itemsInHistory } from '../e2e/landed.ts';
import { layoutWith } from './layouts.ts';
import { stateOf, TENANT } from './site.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

function layoutFor(mode: MergeMode): string {
  return layoutWith(`
- job: {name: test}
- project:
    name: org/project
    merge-mode: ${mode}
    gate: {jobs: [test]}
`);
}

/** Commits of master with a subject, an author and one parent each, oldest first, without the first one. */
const subjects = (world: World) =>
  world
    .developer('org/project')
    .git('log', '--reverse', '--max-parents=1', '--min-parents=1', '--format=%s', 'master');

/** Each landed commit is the tested one, and so is its tree, on the state it was tested on. */
async function expectTested(world: World, ...topics: readonly string[]): Promise<void> {
  const items = await itemsInHistory(stateOf(path.dirname(path.dirname(world.config))), TENANT);
  const git = world.developer('org/project').git;
  for (const topic of topics) {
    const item = items.find(
      ({ phase, changes }) =>
        phase.phase === 'left' &&
        phase.result === 'SUCCESS' &&
        changes.some(change => change.kind === 'change' && change.id === `master/${topic}`),
    );
    const tested = item === undefined ? undefined : testedMergeOf(item.buildset)?.branches[0];
    if (tested === undefined) expect.unreachable(`${topic} was not tested`);
    await git('merge-base', '--is-ancestor', tested.before, tested.commit);
    await git('merge-base', '--is-ancestor', tested.commit, 'master');
    expect(await git('rev-parse', `${tested.commit}^{tree}`)).toBe(tested.tree);
  }
}

/** A squash has the title of its proposal; otherwise the proposal's commits are there, or again. */
const LANDED = ['Change B', 'Change D', 'Change E'];

for (const mode of ['squash-merge', 'rebase', 'cherry-pick', 'merge-resolve'] as const) {
  story(
    `a gate in the merge mode ${mode} lands what it tested, past a failing head and a conflict`,
    { layout: layoutFor(mode) },
    async world => {
      await world.propose('A');
      await world.propose('B', { files: { 'conflict.txt': 'one thing\n' } });
      await world.propose('C', { files: { 'conflict.txt': 'another thing\n' } });
      await world.propose('D');
      await world.propose('E', { on: 'D', message: 'On top of another proposal.' });
      world.fail('test', 'A');
      for (const topic of ['A', 'B', 'C', 'D', 'E']) await world.approve(topic);
      await world.runs('test: A', 'test: A B', 'test: A B D', 'test: A B D E');
      world.release(/test: A$/);
      await world.leaves('A', 'FAILURE');
      await world.runs('test: B', 'test: B D', 'test: B D E');
      world.free();
      for (const topic of ['B', 'D', 'E']) await world.leaves(topic, 'SUCCESS');
      await world.leaves('C', 'MERGE_CONFLICT');

      expect((await subjects(world)).split('\n')).toEqual(LANDED);
      await expectTested(world, 'B', 'D', 'E');
      const developer = world.developer('org/project');
      for (const topic of ['B', 'D', 'E'])
        expect(await developer.tip(`refs/heads/for/master/${topic}`)).toBeUndefined();
      expect((await world.notes('C')).at(-1)).toContain('- conflict.txt');
    },
  );
}
