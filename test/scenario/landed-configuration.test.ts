import { expect } from 'vitest';
import type { FinishedItem } from '../../src/api/live-item.ts';
import { layoutWith } from './layouts.ts';
import type { StagedBuild } from './stage.ts';
import { story, storyOnBothStores } from './story.ts';
import type { World } from './world.ts';

const NEIGHBOUR = 'tenant-two';

const JOBS = `
- job:
    name: old
- job:
    name: new
- project:
    name: org/project
    gate: {jobs: [old]}
- project:
    name: org/config
    gate: {jobs: [old]}
- queue: {name: shared}
- project:
    name: org/project1
    queue: shared
    gate: {jobs: [old]}
- project:
    name: org/project2
    gate: {jobs: [old]}
`;
const layout = layoutWith(JOBS, { notes: false });

const changedLayout = layout
  .replace('org/project\n    gate: {jobs: [old]}', 'org/project\n    gate: {jobs: [new]}')
  .replace('name: org/project2\n', 'name: org/project2\n    queue: shared\n');

story(
  'configuration that the gate landed takes effect immediately, also without a webhook',
  { layout },
  async world => {
    await world.propose('K', {
      project: 'org/config',
      files: { 'zuul.yaml': changedLayout },
    });
    await world.approve('K');
    await world.runs('old: K');
    for (const topic of ['Y', 'Z'])
      await world.propose(topic, { project: topic === 'Y' ? 'org/project1' : 'org/project2' });
    for (const topic of ['Y', 'Z']) await world.approve(topic);
    await world.runs('old: K', 'old: Y', 'old: Z');
    world.ignoreHooks();
    world.release(/K$/);
    await world.leaves('K', 'SUCCESS');
    // Both projects have one queue now: the change that comes into it is tested behind the other.
    await world.runs('old: Y', 'old: Y Z');
    expect(world.item('Z')?.resets.map(({ code }) => code)).toEqual(['queue-changed']);
    await world.decided('Z', 'requeued');
    world.release(/./);
    await world.leaves('Z', 'SUCCESS');
    await world.propose('A');
    await world.approve('A');
    await world.runs('new: A');
    expect(await world.landed('org/config')).toEqual(['K']);
  },
);

storyOnBothStores(
  'configuration that the gate of one tenant landed counts at once for another tenant with the same config-project',
  { layout, moreTenants: [NEIGHBOUR] },
  async world => {
    const jobsOfNeighbour = (topic: string) =>
      world.stage.builds
        .filter(({ variables, changes }) => variables.zuul.tenant === NEIGHBOUR && changes === topic)
        .map(({ job }) => job);
    await world.propose('K', { project: 'org/config', files: { 'zuul.yaml': changedLayout } });
    await world.approve('K');
    await world.runs('old: K');
    world.ignoreHooks();
    // Only the first tenant's job ends: the neighbour lands nothing.
    world.release(/./);
    await world.leaves('K', 'SUCCESS');
    await world.propose('A');
    await world.approve('A');
    await world.observer.until('the neighbour to test A', () => jobsOfNeighbour('A').length > 0);
    expect(jobsOfNeighbour('A')).toEqual(['new']);
    await world.runs('new: A');
    world.free();
    await world.leaves('A', 'SUCCESS');
    // The neighbour's K was still being tested when it landed.
    expect((await letNeighbourEnd(world)).map(({ reason }) => reason)).toContain('merged-elsewhere');
  },
);

/** Its jobs end as soon as they begin from now on; returns when all its items have left. */
async function letNeighbourEnd({ stage, api, observer }: World): Promise<readonly FinishedItem[]> {
  const end = ({ uuid, variables }: StagedBuild) => {
    if (variables.zuul.tenant === NEIGHBOUR) stage.end(uuid, 0);
  };
  stage.onCall(end);
  for (const build of stage.builds) end(build);
  return observer.until('both items of the neighbour to leave', async () => {
    const left = await api.get<readonly FinishedItem[]>(`/api/tenant/${NEIGHBOUR}/items`);
    return left.length === 2 ? left : undefined;
  });
}
