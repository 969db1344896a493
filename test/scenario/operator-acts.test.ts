/** An operator acts: what enters by hand, with the name of who asked. */
import { expect } from 'vitest';
import { layoutWith } from './layouts.ts';
import { story } from './story.ts';

const PROJECT = `
- job: {name: unit}
- project:
    name: org/project
    gate: {jobs: [unit]}
    check: {jobs: [unit]}
`;
const TENANT = '/api/tenant/tenant-one';
const ENQUEUE = `${TENANT}/project/org/project/enqueue`;

story(
  'a change enters by hand without an approval, and a branch without a push',
  {
    layout: layoutWith(PROJECT, { check: true }),
  },
  async world => {
    await world.propose('A');
    world.free();
    await expect(
      world.operator.post(ENQUEUE, { pipeline: 'gate', change: 'master/nothing' }),
    ).rejects.toThrow(/has no change "master\/nothing"/);
    await world.operator.post(ENQUEUE, { pipeline: 'gate', change: 'master/A' });
    const a = await world.leaves('A', 'SUCCESS');
    await world.decided('A', 'enqueued', 'enqueued by hand by command line');
    await world.operator.post(ENQUEUE, { pipeline: 'check', ref: 'refs/heads/master' });
    const named = () => world.sink.spans.filter(({ name }) => name === 'ManagementEvent enqueue');
    await world.observer.until('the traces of all', () => named().length > 2);
    expect(named().map(({ attributes }) => attributes)).toMatchObject([
      { 'gatehouse.event.outcome': 'refused', 'gatehouse.reason': 'no-such-change' },
      { 'gatehouse.event.outcome': 'enqueued', 'gatehouse.item.id': a.uuid, 'gatehouse.by': 'command line' },
      { 'gatehouse.event.outcome': 'enqueued', 'gatehouse.pipeline': 'check' },
    ]);
  },
);
