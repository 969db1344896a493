/** Pipelines that start at times, on the branches of their projects. */
import { expect } from 'vitest';
import { BASE_JOB, gateYaml } from '../fake/layout-text.ts';
import { story } from './story.ts';

const layout = (trigger: string) => `${gateYaml({ require: '{approved: true, open: true}' })}
- pipeline:
    name: periodic
    manager: independent
    ${trigger}
${BASE_JOB}
- job: {name: nightly}
- project:
    name: org/project
    periodic: {jobs: [nightly]}
`;

story(
  'a timer runs the jobs of a branch on the commit that the branch holds then',
  {
    layout: layout("trigger: {timer: [{time: '* * * * * */2'}]}"),
    projects: { 'org/project': { 'README.md': 'A project.\n' } },
  },
  async world => {
    const tip = await world.developer('org/project').tip('refs/heads/master');
    await world.observer.until('the job to run', () =>
      world.stage.builds.some(({ job }) => job === 'nightly'),
    );
    const [build] = world.stage.builds;
    expect(build?.variables.zuul.items[0]).toMatchObject({
      ref: 'refs/heads/master',
      branch: 'master',
      newrev: tip,
    });
    const files = { 'zuul.yaml': layout('trigger: {}') };
    const config = world.developer('org/config');
    await world.push('org/config', await config.commit({ files, message: 'No timer' }), 'refs/heads/master');
    world.free();
  },
);
