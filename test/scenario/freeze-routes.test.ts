/** Zuul's routes for frozen jobs: by the layout in force, of which the web holds none of its own. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { DEADLINE } from './observer.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';

const JOBS = (timeout: number) => `
- job: {name: unit, timeout: ${timeout}, vars: {colour: blue}}
- job: {name: docs, files: [^doc/], voting: false}
- job: {name: deploy, dependencies: [unit, {name: docs, soft: true}]}
- project: {name: org/project, gate: {jobs: [unit, docs, deploy]}}
`;

story(
  'the jobs of a branch are frozen as the configuration in force has them',
  { layout: layoutWith(JOBS(600), { notes: false }) },
  async world => {
    const ask = async (path: string) => {
      const response = await fetch(`${world.api.root}/api/tenant/${TENANT}/pipeline/${path}`);
      return { status: response.status, body: JSON.parse(await response.text()) };
    };
    const branch = 'gate/project/org/project/branch/master';
    // Matchers of files are passed over. Equal questions share an answer.
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(`${branch}/freeze-jobs`)));
    for (const answer of answers)
      expect(answer).toEqual({
        status: 200,
        body: [
          { name: 'unit', dependencies: [] },
          { name: 'docs', dependencies: [] },
          {
            name: 'deploy',
            dependencies: [
              { name: 'unit', soft: false },
              { name: 'docs', soft: true },
            ],
          },
        ],
      });
    expect(await ask('../jobs')).toEqual({
      status: 200,
      body: [
        { name: 'base', variants: [] },
        ...['deploy', 'docs', 'unit'].map(name => ({ name, variants: [{ parent: 'base' }] })),
      ],
    });
    expect(await ask(`${branch}/freeze-job/unit`)).toMatchObject({
      status: 200,
      body: {
        job: 'unit',
        timeout: 600,
        voting: true,
        vars: { colour: 'blue' },
        playbooks: [{ path: 'playbooks/job.sh' }],
      },
    });
    for (const [path, place] of [
      [`${branch}/freeze-job/units`, 'path: job'],
      ['nothing/project/org/project/branch/master/freeze-jobs', 'path: pipeline'],
      ['gate/project/org/project/branch/a/b/freeze-jobs', 'path: branch'],
      ['gate/project/org/none/branch/master/freeze-jobs', 'path: project'],
    ] as const)
      expect(await ask(path)).toMatchObject({ status: 404, body: { place } });

    const described = async (path: string) => {
      const response = await fetch(`${world.api.root}/api/tenant/${TENANT}/${path}`);
      return { status: response.status, body: JSON.parse(await response.text()) };
    };
    expect(await described('job/docs')).toMatchObject({
      status: 200,
      body: [
        {
          name: 'docs',
          parent: 'base',
          voting: false,
          files: ['^doc/'],
          source_context: { project: 'org/config', branch: 'master', path: 'zuul.yaml' },
        },
      ],
    });
    expect(await described('project/org/project')).toMatchObject({
      status: 200,
      body: {
        name: 'org/project',
        metadata: { default_branch: 'master' },
        configs: [
          {
            is_template: false,
            pipelines: [
              { name: 'gate', jobs: [[{ name: 'unit' }], [{ name: 'docs' }], [{ name: 'deploy' }]] },
            ],
          },
        ],
      },
    });
    expect(await described('job/none')).toMatchObject({ status: 404, body: { place: 'path: job' } });
    expect(await described('project/org/none')).toMatchObject({
      status: 404,
      body: { place: 'path: project' },
    });

    const config = world.developer('org/config');
    const commit = await config.commit({
      files: { 'zuul.yaml': layoutWith(JOBS(1200), { notes: false }) },
      message: 'More time',
    });
    await world.push('org/config', commit, 'refs/heads/master');
    // An answer is kept for ten seconds.
    const timeout = async () => (await ask(`${branch}/freeze-job/unit`)).body.timeout;
    await expect.poll(timeout, { timeout: DEADLINE, interval: 200 }).toBe(1200);
  },
);
