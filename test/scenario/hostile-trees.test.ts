import { statfsSync } from 'node:fs';
import { expect } from 'vitest';
import { runGit } from '../fake/git-repository.ts';
import { measureTurns } from '../fake/turn-cost.ts';
import { type BombEntry, commitWith, gitBomb } from '../unit/git/git-bomb.ts';
import { commitUnfolding } from '../unit/git/unfolding-pack.ts';
import { classicLayout, layoutWith } from './layouts.ts';
import type { ShownDecision } from './outcomes.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const MEGABYTE = 1_000_000;

const GATE_OLD = '- project: {gate: {jobs: [old]}}\n';

/** Proposes what `entries` make of the project's root. */
async function propose(world: World, topic: string, entries: readonly BombEntry[]): Promise<void> {
  const { bare, tip } = world.developer('org/project');
  const commit = await commitWith(bare, (await tip('refs/heads/master')) ?? '', entries);
  await world.push('org/project', commit, `refs/heads/for/master/${topic}`);
}

story(
  'proposals of a few kilobytes that unfold to 10^10 files or 120 MB end with the reason, and a good change lands beside them',
  {
    layout: classicLayout({ check: true }),
    executor: ['disk_limit_per_job = 100'],
    expectedTrouble: [/its tree is too large to read/],
  },
  async world => {
    world.free();
    const { bare } = world.developer('org/project');
    const free = () => {
      const { bavail, bsize } = statfsSync(bare);
      return bavail * bsize;
    };
    const before = free();
    const blob = await runGit(bare, ['hash-object', '-w', '--stdin'], Buffer.alloc(120 * MEGABYTE, 'y\n'));
    const turns = measureTurns();
    await propose(world, 'files', [{ name: 'd', mode: '040000', id: await gitBomb(bare, 10) }]);
    await propose(world, 'config', [{ name: 'zuul.d', mode: '040000', id: await gitBomb(bare, 19) }]);
    await propose(world, 'bytes', [{ name: 'large', mode: '100644', id: blob.toString().trim() }]);
    await world.propose('good');
    await world.approve('good');
    await world.leaves('good', 'SUCCESS');
    const checked = await world.observer.until('all proposals to have left check', async () => {
      const all = (await world.observer.finished()).filter(item => item.pipeline === 'check');
      return all.length >= 4 ? all : undefined;
    });
    expect(checked.map(item => item.result).toSorted()).toEqual(['ERROR', 'ERROR', 'FAILURE', 'SUCCESS']);
    expect(turns.stop()).toBeLessThan(1_000);
    const notes = await world.developer('org/project').git('log', '-p', '--glob=refs/notes/*');
    expect(notes).toContain('its tree is too large to read: 11111111111 entries, limit 1000000');
    expect(notes).toMatch(/its tree is too large to read: more than \d+ entries/);
    expect(notes).toContain('DISK_FULL');
    expect(await world.landed()).toEqual(['good']);
    expect(before - free()).toBeLessThan(100 * MEGABYTE);
  },
);

story(
  'an approved proposal that takes more memory than git may have is refused with the reason, and a good change lands beside it',
  {
    layout: classicLayout({ check: true }),
    sections: ['[merger]', 'git_memory_limit = 150'],
  },
  async world => {
    world.free();
    const { bare, tip } = world.developer('org/project');
    const huge = await commitUnfolding(bare, (await tip('refs/heads/master')) ?? '');
    await world.push('org/project', huge, 'refs/heads/for/master/huge');
    await world.push('org/project', huge, 'refs/heads/gate/master/huge');
    await world.propose('good');
    await world.approve('good');
    await world.leaves('good', 'SUCCESS');
    await world.propose('later');
    await world.approve('later');
    await world.leaves('later', 'SUCCESS');
    expect(await world.landed()).toEqual(['good', 'later']);
    const path = `/api/tenant/${TENANT}/changes/master%2Fhuge/decisions?project=org%2Fproject`;
    const { decisions } = await world.api.get<{ readonly decisions: readonly ShownDecision[] }>(path);
    expect(decisions.map(({ text }) => text)).toEqual([
      expect.stringContaining(
        'not taken up: its commit is too large to read: more than 150 MB of memory, limit [merger] git_memory_limit',
      ),
    ]);
  },
);

story(
  'a branch that takes more memory than git may have keeps its configuration, and counts again once it is made good',
  {
    layout: layoutWith('- job: {name: old}\n- job: {name: new}\n'),
    projects: { 'org/project': { '.zuul.yaml': GATE_OLD } },
    sections: ['[merger]', 'git_memory_limit = 150'],
    expectedTrouble: [/too large to read/],
  },
  async world => {
    const { bare, tip, commit } = world.developer('org/project');
    const good = (await tip('refs/heads/master')) ?? '';
    await world.push('org/project', await commitUnfolding(bare, good), 'refs/heads/master');
    await world.observer.until('the branch to be named', () =>
      world.log.trouble.some(line => line.includes('too large')),
    );
    const files = { '.zuul.yaml': GATE_OLD.replace('old', 'new') };
    const mended = await commit({ files, message: 'New job\n', parent: good });
    await world.push('org/project', mended, 'refs/heads/master');
    await world.propose('A');
    await world.approve('A');
    await world.runs('new: A');
    world.free();
    await world.leaves('A', 'SUCCESS');
    expect(world.log.trouble.filter(line => !line.includes('sandbox'))).toEqual([
      expect.stringMatching(
        /^warn branch master of \S+org\/project is too large to read: more than 150 MB of memory, limit \[merger\] git_memory_limit; its known configuration stays in force/,
      ),
    ]);
  },
);
