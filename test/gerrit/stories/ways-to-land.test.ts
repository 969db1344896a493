/** Each submit type, without a merge mode of the configuration: what lands has the tree that was tested, after one round of tests. */
import { expect } from 'vitest';
import { git } from '../fake/bare-git.ts';
import type { FakeChange } from '../fake/world.ts';
import { itemsOf } from './change-outcomes.ts';
import { gerritLayout } from './gerrit-layout.ts';
import { gerritStory } from './gerrit-world.ts';

const SUBMIT_TYPES = [
  'MERGE_IF_NECESSARY',
  'MERGE_ALWAYS',
  'REBASE_IF_NECESSARY',
  'REBASE_ALWAYS',
  'CHERRY_PICK',
] as const;

const projectOf = (submitType: string) => `acme/${submitType.toLowerCase().replaceAll('_', '-')}`;

/** Each project has a queue of its own. */
const LAYOUT = `${gerritLayout({ projects: [] })}${SUBMIT_TYPES.map(
  each => `- project:
    name: ${projectOf(each)}
    check: {jobs: [unit]}
    gate: {jobs: [unit]}
`,
).join('')}`;

gerritStory(
  'three changes of one queue land with each submit type, with the tested trees and one round of tests',
  {
    layout: LAYOUT,
    projects: SUBMIT_TYPES.map(projectOf),
    async before(gerrit) {
      for (const submitType of SUBMIT_TYPES) {
        const project = gerrit.world.projects.get(projectOf(submitType));
        if (project !== undefined) project.submitType = submitType;
      }
    },
  },
  async world => {
    const { gerrit } = world;
    const changes: FakeChange[] = [];
    for (const submitType of SUBMIT_TYPES)
      for (let count = 0; count < 3; count++) {
        const change = await world.push({ project: projectOf(submitType) });
        changes.push(change);
        await world.approve(change);
      }
    await world.observer.until('all to run', () => world.observer.running().length === changes.length);
    world.free();
    for (const change of changes) await world.leaves(change, 'SUCCESS');
    expect(new Set(changes.map(({ now }) => now.status))).toEqual(new Set(['MERGED']));
    expect(world.stage.builds.filter(({ pipeline }) => pipeline === 'gate')).toHaveLength(changes.length);
    for (const change of changes) {
      const [item] = await itemsOf(world, change, 'gate');
      expect(item?.resets).toBe(0);
    }
    for (const submitType of SUBMIT_TYPES) {
      const name = projectOf(submitType);
      const of = changes.filter(({ project }) => project.name === name);
      const { dir } = of[0]?.project ?? { dir: '' };
      const files = await git(dir, 'ls-tree', '--name-only', await gerrit.tip(name));
      expect(files.split('\n')).toHaveLength(4);
      const merges = await git(dir, 'rev-list', '--merges', '--count', await gerrit.tip(name));
      expect([submitType, Number(merges)]).toEqual([
        submitType,
        { MERGE_IF_NECESSARY: 2, MERGE_ALWAYS: 3 }[submitType as string] ?? 0,
      ]);
    }
  },
);
