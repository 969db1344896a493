import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const SHARED = ['org/project1', 'org/project2']
  .map(
    name => `
- project:
    name: ${name}
    queue: integrated
    check: {jobs: [unit]}
    gate: {jobs: [unit]}
`,
  )
  .join('');

story(
  'a project that is taken out of the tenant takes its changes along: nothing of them lands',
  {
    layout: layoutWith(`\n- queue:\n    name: integrated\n- job:\n    name: unit\n${SHARED}`, {
      check: true,
    }),
    expectedTrouble: [/project "org\/project1" is not in tenant/],
  },
  async world => {
    await world.propose('A', { project: 'org/project1' });
    await world.propose('B', { project: 'org/project2' });
    await world.approve('A');
    await world.approve('B');
    await world.runs('unit: A', 'unit: B', 'unit: A', 'unit: A B');
    await world.restart('org/project', 'org/project2');
    await world.runs('unit: B', 'unit: B');
    const left = await world.observer.until('A to be in the history', async () => {
      const own = (await world.observer.finished()).filter(item =>
        item.changes.some(change => change.project === 'org/project1'),
      );
      return own.length === 2 ? own : undefined;
    });
    expect(left.map(item => [item.result, item.reason])).toEqual([
      ['DEQUEUED', 'project-removed'],
      ['DEQUEUED', 'project-removed'],
    ]);
    world.free();
    await world.leaves('B', 'SUCCESS');
    expect(await world.landed('org/project1')).toEqual([]);
    expect(await world.landed('org/project2')).toEqual(['B']);
    expect(await world.notes('A')).toEqual([expect.stringContaining('Starting gate jobs.')]);
  },
);
