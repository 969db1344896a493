/** The managers that test one item at a time, after Zuul's test_serial.py and test_supercedent.py. */
import { expect } from 'vitest';
import { BASE_JOB } from '../fake/layout-text.ts';
import { TENANT } from './site.ts';
import { story } from './story.ts';
import type { World } from './world.ts';

const NOTES = ['success', 'failure', 'dequeue'].map(action => `    ${action}:\n      local: {note: true}\n`);

function pipeline(name: string, manager: string, event: string, more = ''): string {
  return `
- pipeline:
    name: ${name}
    manager: ${manager}
    post-review: true
    trigger:
      local: [{event: ${event}}]
${more}${NOTES.join('')}`;
}

const projects = ['org/project', 'org/project1', 'org/project2'];

const deployment = `${pipeline('deploy', 'serial', 'proposed')}${BASE_JOB}
- queue: {name: shared}
- job: {name: deploy}
- job: {name: verify}
- project:
    name: org/project
    deploy: {jobs: [deploy, verify]}
${['org/project1', 'org/project2']
  .map(name => `- project:\n    name: ${name}\n    queue: shared\n    deploy: {jobs: [deploy]}\n`)
  .join('')}`;

story(
  'a serial pipeline tests every change of a shared queue, one after the other, each without those ahead',
  { layout: deployment },
  async world => {
    for (const [index, topic] of ['A', 'B', 'C'].entries())
      await world.propose(topic, { project: projects[1 + (index % 2)]! });
    await world.propose('D', { project: 'org/project' });

    await world.runs('deploy: A', 'deploy: D', 'verify: D');
    expect(world.queued('deploy')).toEqual(['A', 'B', 'C', 'D']);
    expect(world.item('C', 'deploy')?.state).toMatchObject({
      name: 'window',
      subject: expect.stringMatching(/^org\/project2 master\/B,/),
    });
    world.fail('deploy', 'A');
    world.release(/: A/);
    await world.leaves('A', 'FAILURE', 'deploy');
    await world.runs('deploy: B', 'deploy: D', 'verify: D');
    world.release(/: B/);
    await world.leaves('B', 'SUCCESS', 'deploy');
    await world.runs('deploy: C', 'deploy: D', 'verify: D');
    world.release(/./);
    const left = await world.leaves('C', 'SUCCESS', 'deploy');
    await world.leaves('D', 'SUCCESS', 'deploy');

    const explanation = await world.api.get(`/api/tenant/${TENANT}/item/${left.uuid}/explain`);
    expect(JSON.stringify(explanation)).toContain('waited for its turn behind org/project2 master/B');
    expect(await world.history()).toEqual([
      'deploy: A FAILURE',
      'deploy: B SUCCESS',
      'deploy: C SUCCESS',
      'deploy: D SUCCESS',
      'verify: D SUCCESS',
    ]);
  },
);

story(
  'a serial pipeline lands what its reporter merges, and tests the next change on it',
  {
    layout: `${pipeline('gate', 'serial', 'approved').replace('{note: true}', '{note: true, merge: true}')}${BASE_JOB}
- job: {name: unit}
- project:
    name: org/project
    gate: {jobs: [unit]}
`,
  },
  async world => {
    for (const topic of ['A', 'B']) {
      await world.propose(topic);
      await world.approve(topic);
    }
    await world.runs('unit: A');
    world.release(/./);
    await world.leaves('A', 'SUCCESS');
    await world.runs('unit: B');
    world.release(/./);
    await world.leaves('B', 'SUCCESS');
    expect(await world.landed()).toEqual(['A', 'B']);
    expect(await world.history()).toEqual(['unit: A SUCCESS', 'unit: B SUCCESS']);
  },
);

const publishing = `${pipeline('post', 'supercedent', 'ref-updated')}${BASE_JOB}
- queue: {name: shared}
- job: {name: publish}
- project:
    name: org/project
    queue: shared
    post: {jobs: [publish]}
`;

/** Lands a commit past the gate. */
async function land(world: World, branch: string, name: string): Promise<string> {
  const developer = world.developer('org/project');
  const commit = await developer.commit({ files: { [name]: name }, message: name, branch });
  await world.push('org/project', commit, `refs/heads/${branch}`);
  return commit;
}

function published(world: World): readonly (string | undefined)[] {
  return world.stage.builds.map(({ variables }) => variables.zuul.items.at(-1)?.newrev);
}

story(
  'a supercedent pipeline runs the first and the newest update of a ref, and none of those between',
  { layout: publishing, projects: { 'org/project': { 'README.md': 'A project.\n' } } },
  async world => {
    const a = await land(world, 'master', 'a');
    await world.runs('publish: refs/heads/master');
    await land(world, 'master', 'b');
    await world.runs('publish: refs/heads/master');
    const c = await land(world, 'master', 'c');
    await world.runs('publish: refs/heads/master');

    const overtaken = await world.observer.until('b to leave', async () =>
      (await world.observer.finished()).find(({ reason }) => reason === 'overtaken'),
    );
    expect(overtaken.result).toBe('DEQUEUED');

    // Another branch has a queue of its own.
    const stable = await land(world, 'stable', 's');
    await world.runs('publish: refs/heads/master', 'publish: refs/heads/stable');
    world.release(/master/);
    await world.observer.until('c to run', () => published(world).includes(c));
    await world.runs('publish: refs/heads/master', 'publish: refs/heads/stable');
    expect(published(world)).toEqual([a, stable, c]);
  },
);
