/** People move a change to the head of the gate: by the API, and where they look at it, at the code host. */
import { expect } from 'vitest';
import { contractLayout, contractOf, landedAtHost } from './contract-host-stories.ts';
import { story } from './story.ts';

story(
  'a promoted change is tested and lands first, and the traces say who asked',
  { layout: contractLayout('merge'), contractHost: true },
  async world => {
    for (const topic of ['A', 'B', 'C']) await world.propose(topic);
    for (const topic of ['A', 'B', 'C']) await world.approve(topic);
    await world.runs('unit: A', 'unit: A B', 'unit: A B C');
    await contractOf(world).command('org/project', 'master/C', 'promote', 'bob');
    await world.runs('unit: C', 'unit: C A', 'unit: C A B');
    await world.operator.post('/api/tenant/tenant-one/promote', { pipeline: 'gate', changes: ['master/B'] });
    await world.runs('unit: B', 'unit: B C', 'unit: B C A');
    world.free();
    const [b, c] = [await world.leaves('B', 'SUCCESS'), await world.leaves('C', 'SUCCESS')];
    await world.leaves('A', 'SUCCESS');
    expect(await landedAtHost(world)).toEqual(['B', 'C', 'A']);

    const named = (name: string) => world.sink.spans.filter(span => span.name === name);
    await world.observer.until('the traces of both', () => named('ManagementEvent promote').length > 1);
    expect(named('ManagementEvent promote').map(({ attributes }) => attributes)).toMatchObject([
      { 'gatehouse.by': 'bob', 'gatehouse.event.outcome': 'promoted', 'gatehouse.item.id': c.uuid },
      { 'gatehouse.event.outcome': 'promoted', 'gatehouse.item.id': b.uuid },
    ]);
    const tests = world.sink.spans.filter(
      span => span.traceId === c.uuid && span.attributes['gatehouse.span.type'] === 'BuildSet',
    );
    expect(tests.map(({ attributes }) => attributes['gatehouse.cause.code'])).toEqual([
      undefined,
      'promoted',
      'promoted',
    ]);
    expect(tests[1]?.attributes).toMatchObject({
      'gatehouse.superseded.code': 'promoted',
      'gatehouse.leave.initiator.name': 'bob',
    });
  },
);
