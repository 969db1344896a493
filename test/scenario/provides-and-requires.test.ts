/** A job that requires what a job of a change ahead provides, after Zuul's test_requirements. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';

const layout = layoutWith(
  `
- queue: {name: integrated}
- job: {name: image, provides: image, run: [playbooks/image.sh, playbooks/job.sh]}
- job: {name: deploy, requires: [image], run: [playbooks/deploy.sh, playbooks/job.sh]}
- project:
    name: org/project1
    queue: integrated
    check: {jobs: [image]}
    gate: {jobs: [image]}
- project:
    name: org/project2
    queue: integrated
    check: {jobs: [deploy]}
    gate: {jobs: [deploy]}
`,
  { notes: false, check: true },
);
const configFiles = {
  'playbooks/image.sh': `#!/bin/sh
gatehouse return '{"zuul": {"artifacts": [{"name": "image", "url": "https://files.example.org/image.tar", "metadata": {"type": "container"}}]}}'
`,
  'playbooks/deploy.sh': `#!/bin/sh
node -e 'console.log("artifacts", JSON.stringify(JSON.parse(require("fs").readFileSync(process.env.GATEHOUSE_VARIABLES)).zuul.artifacts ?? null))'
`,
};
const projects = { 'org/project1': { 'README.md': 'one\n' }, 'org/project2': { 'README.md': 'two\n' } };

interface Build {
  readonly uuid: string;
  readonly job_name: string;
}

story(
  'a job waits for what a change ahead provides, in the gate and in check, gets its artifacts, and shows the wait',
  { layout, configFiles, projects },
  async world => {
    const artifacts = async (uuid: string | undefined) => {
      const log = await world.api.text(`/api/tenant/${TENANT}/build/${uuid}/log`);
      return JSON.parse(/artifacts (.*)/.exec(log)?.[1] ?? '"none"');
    };
    const built = async (job: string, pipeline: string) => {
      const builds = await world.api.get<readonly Build[]>(
        `/api/tenant/${TENANT}/builds?job_name=${job}&pipeline=${pipeline}`,
      );
      return builds[0];
    };
    const ARTIFACTS = [
      {
        name: 'image',
        url: 'https://files.example.org/image.tar',
        metadata: { type: 'container' },
        project: 'org/project1',
        change: 'master/A',
        patchset: expect.stringMatching(/^[0-9a-f]{40}$/),
        job: 'image',
      },
    ];
    await world.propose('A', { project: 'org/project1' });
    await world.runs('image: A');
    await world.propose('B', {
      project: 'org/project2',
      message: 'Depends-On: org/project1@master/A',
    });
    await world.observer.until(
      'B to wait in check',
      () => world.item('B', 'check')?.state.name === 'requirement',
    );
    await world.runs('image: A');
    world.release(/image/);
    await world.runs('deploy: A B');
    world.release(/deploy/);
    await world.leaves('B', 'SUCCESS', 'check');
    await world.leaves('A', 'SUCCESS', 'check');
    expect(await artifacts((await built('deploy', 'check'))?.uuid)).toEqual(ARTIFACTS);
    expect(await built('image', 'check')).toMatchObject({
      provides: [{ name: 'image' }],
      artifacts: [{ name: 'image', metadata: { type: 'container' } }],
    });

    await world.approve('A');
    await world.approve('B');
    await world.runs('image: A');
    await world.observer.until('B to wait in the gate', () => world.item('B')?.state.name === 'requirement');
    const waiting = world.item('B');
    expect(waiting?.state.subject).toMatch(/^image, which org\/project1 master\/A,.* provides$/);
    expect(waiting?.jobs[0]).toMatchObject({ waitingFor: 'requirements: image' });
    world.release(/image/);
    await world.runs('deploy: A B');
    world.release(/deploy/);
    const left = await world.leaves('B', 'SUCCESS');
    expect(await artifacts((await built('deploy', 'gate'))?.uuid)).toEqual(ARTIFACTS);
    const explanation = await world.api.get(`/api/tenant/${TENANT}/item/${left.uuid}/explain`);
    expect(JSON.stringify(explanation)).toContain('waited for image, which org/project1 master/A');
    const span = await world.observer.until('the span of the wait', () =>
      world.sink.spans.find(({ attributes }) => attributes['gatehouse.span.type'] === 'RequirementWait'),
    );
    expect(span.attributes['gatehouse.requires']).toEqual(['image']);
    expect(await world.landed('org/project2')).toEqual(['B']);
  },
);
