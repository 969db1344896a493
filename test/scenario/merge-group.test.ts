/** A host that lands by itself asks for a verdict on what it is going to land. */
import { expect } from 'vitest';
import { BASE_JOB } from '../fake/layout-text.ts';
import { contractOf } from './contract-host-stories.ts';
import { story } from './story.ts';

const LAYOUT = `${BASE_JOB}
- pipeline:
    name: groups
    manager: independent
    trigger:
      local: [{event: ref-updated, ref: ^refs/heads/queue/}]
- job: {name: unit}
- job: {name: release}
- project:
    name: org/project
    groups:
      jobs:
        - unit: {branches: master}
        - release: {branches: stable}
`;
const CONFIG = `
- job: {name: proposed}
- project:
    groups:
      jobs: [proposed]
`;

story(
  'a merge group is tested as it is, with jobs and configuration of the branch it is for',
  { layout: LAYOUT, contractHost: true },
  async world => {
    const developer = world.developer('org/project');
    const base = await developer.commit({ files: { 'base.txt': 'base' }, message: 'Base' });
    await developer.push(base, 'refs/heads/master');
    await contractOf(world).pushed('org/project');
    const group = await developer.commit({ files: { '.zuul.yaml': CONFIG }, message: 'Group of 1 and 2' });
    await developer.push(group, 'refs/heads/queue/master/pr-1');
    await contractOf(world).pushed('org/project');

    const ref = 'refs/heads/queue/master/pr-1';
    await world.runs(`unit: ${ref}`, `proposed: ${ref}`);
    for (const { variables } of world.stage.builds)
      expect(variables.zuul).toMatchObject({
        ...{ ref, branch: 'master', oldrev: base, newrev: group },
        projects: { 'contract.example/org/project': { checkout: 'master', commit: group } },
      });
    world.free();
    const item = await world.observer.until('the group to leave', async () =>
      (await world.observer.finished()).find(({ pipeline }) => pipeline === 'groups'),
    );
    expect(item.result).toBe('SUCCESS');
    expect(await developer.git('rev-parse', 'master')).toBe(base);
  },
);

story(
  'a merge group that the host drops leaves, and its jobs are stopped',
  { layout: LAYOUT, contractHost: true },
  async world => {
    const developer = world.developer('org/project');
    const ref = 'refs/heads/queue/master/pr-2';
    await developer.push(await developer.commit({ files: { 'a.txt': 'a' }, message: 'Group' }), ref);
    await contractOf(world).pushed('org/project');
    await world.runs(`unit: ${ref}`);
    await developer.push(null, ref);
    await contractOf(world).pushed('org/project');
    const item = await world.observer.until('the group to leave', async () =>
      (await world.observer.finished()).find(({ pipeline }) => pipeline === 'groups'),
    );
    expect(item).toMatchObject({ result: 'DEQUEUED', reason: 'dequeued-by-hand' });
    // Its span is sent by another loop than the history, in its own time.
    const command = await world.observer.until('the span of the command', () =>
      world.sink.spans.find(({ name }) => name === 'ManagementEvent dequeue'),
    );
    expect(command.attributes['gatehouse.by']).toBe('the host');
    await world.runs();
  },
);
