/** GitHub lands something else than was tested: it does so without a word when a push comes while it merges. */
import { expect } from 'vitest';
import { git } from '../fake/bare-git.ts';
import { githubLayout } from './github-layout.ts';
import { githubStory } from './github-world.ts';
import { decided } from './pull-outcomes.ts';

githubStory(
  'a squash that holds other contents than were tested is an alarm, and those behind are tested again (case 50)',
  {
    connection: ['landing = api'],
    layout: githubLayout({ project: ['merge-mode: squash-merge'] }).replaceAll(
      '    check: {jobs: [unit]}\n',
      '',
    ),
    expectedTrouble: [/is not the tested/],
  },
  async world => {
    const { github, app } = world;
    const [first, second] = [await world.open(), await world.open()];
    await github.review(app, first, 'bob', 'APPROVED');
    await github.review(app, second, 'bob', 'APPROVED');
    await world.runs('unit: 1', 'unit: 1 2');
    const what = () => github.push(app, 'main', { files: { 'unseen.txt': 'pushed while GitHub merges\n' } });
    github.faults.add({ operation: 'pulls/merge', does: { kind: 'after', what } });
    world.release(/^unit: 1$/);
    await world.leaves(first, 'SUCCESS');
    await decided(world, first, /whose tree [0-9a-f]+ is not the tested/);
    await world.runs('unit: 2');
    world.free();
    const left = await world.leaves(second, 'SUCCESS');
    expect(left.resets).toBe(1);
    const reset = await world.api.get<unknown>(`/api/tenant/tenant-one/item/${left.uuid}`);
    expect(JSON.stringify(reset)).toContain('landed-tree-differs');
    const files = (await git(app.dir, 'ls-tree', '--name-only', 'main')).split('\n');
    expect(files).toContain('unseen.txt');
    expect(files.filter(name => name.startsWith('file-'))).toHaveLength(2);
    expect([first, second].map(({ now }) => now.merged)).toEqual([true, true]);
  },
);
