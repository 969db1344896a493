import { expect } from 'vitest';
import { BASE_JOB } from '../fake/layout-text.ts';
import { story } from './story.ts';

const layout = `${BASE_JOB}
- pipeline:
    name: post
    manager: independent
    trigger:
      local: [{event: ref-updated}]
- pipeline:
    name: cleanup
    manager: independent
    trigger:
      local: [{event: ref-updated, ignore-deletes: false}]
- job: {name: publish}
- job: {name: sweep, run: playbooks/nothing.sh}
- project:
    name: org/project
    post: {jobs: [publish]}
    cleanup: {jobs: [noop]}
`;
const projects = { 'org/project': { 'README.md': 'A project.\n' } };
const configFiles = { 'playbooks/nothing.sh': '#!/bin/sh\ntrue\n' };

story(
  'the deletion of a branch runs nothing unless a pipeline asks for it',
  { layout, projects, configFiles },
  async world => {
    const developer = world.developer('org/project');
    // The first read of the repository is no event; changes after it are.
    await world.push(
      'org/project',
      await developer.commit({ files: { 'a.txt': 'a\n' }, message: 'Landed by hand' }),
      'refs/heads/master',
    );
    world.free();
    const commit = await developer.commit({ files: { 'b.txt': 'b\n' }, message: 'On a branch' });
    await world.push('org/project', commit, 'refs/heads/feature');
    await world.observer.until('publish to run for the new branch', () =>
      world.stage.builds.some(build => build.changes === 'refs/heads/feature'),
    );
    await world.observer.until('all items to leave', async () =>
      (await world.observer.finished()).some(
        item => item.changes[0]?.name === 'refs/heads/feature' && item.pipeline === 'post',
      ),
    );
    const before = world.stage.builds.length;

    await world.push('org/project', null, 'refs/heads/feature');
    const swept = await world.observer.until('cleanup to see the deletion', async () =>
      (await world.observer.finished()).find(
        item => item.pipeline === 'cleanup' && item.changes[0]?.text.includes('(deleted)'),
      ),
    );
    expect(swept.result).toBe('SUCCESS');
    await world.runs();
    expect(world.stage.builds).toHaveLength(before);
    expect(
      (await world.observer.finished()).filter(
        item => item.pipeline === 'post' && item.changes[0]?.text.includes('(deleted)'),
      ),
    ).toEqual([]);
  },
);
