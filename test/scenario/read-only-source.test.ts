/** A connection without `proposals` is a source: of jobs' projects, of configuration, and of changes of its branches and tags. */
import { expect } from 'vitest';
import { BASE_JOB, gateYaml } from '../fake/layout-text.ts';
import { story } from './story.ts';

const LAYOUT = `${gateYaml({ require: '{approved: true, open: true}', notes: ['failure'] })}
- pipeline:
    name: upstream
    manager: independent
    post-review: true
    trigger: {far: [{event: ref-updated}]}
${BASE_JOB}
- job:
    name: integration
    required-projects: [org/lib]
- project:
    name: org/project
    gate: {jobs: [integration]}
`;

const LIBRARY = `
- job: {name: rebuild}
- project:
    upstream: {jobs: [rebuild]}
`;

story(
  'a connection that only reads gives projects to jobs and pushes to pipelines, and nothing is written to it',
  {
    layout: LAYOUT,
    projects: { 'org/project': { 'README.md': 'A project.\n' } },
    far: { 'org/lib': { 'README.md': 'A library elsewhere.\n', 'zuul.yaml': LIBRARY } },
    farReadOnly: true,
  },
  async world => {
    const library = world.developer('org/lib');
    await world.propose('A');
    await world.approve('A');
    await world.observer.until('the job to run', () => world.observer.running().length === 1);
    const [build] = world.stage.builds;
    expect(JSON.stringify(build?.variables)).toContain('far.example.org/org/lib');
    world.free();
    await world.leaves('A', 'SUCCESS');

    const tip = await library.commit({ files: { 'lib.txt': 'more' }, message: 'Go on' });
    await world.push('org/lib', tip, 'refs/heads/master');
    await world.push('org/lib', tip, 'refs/tags/v1');
    await world.push('org/lib', tip, 'refs/heads/for/master/B');
    const rebuilds = () => world.stage.builds.filter(({ job }) => job === 'rebuild');
    await world.observer.until('three rebuilds', () => rebuilds().length === 3);
    // Side by side, so in any order.
    expect(new Set(rebuilds().map(({ variables }) => variables.zuul.items[0]?.ref))).toEqual(
      new Set(['refs/heads/master', 'refs/tags/v1', 'refs/heads/for/master/B']),
    );
    expect(await library.tip('refs/notes/gatehouse')).toBeUndefined();
  },
);
