/** People remove a change from the gate where they look at it: at the code host. */
import { expect } from 'vitest';
import { contractLayout, contractOf } from './contract-host-stories.ts';
import { story } from './story.ts';

story(
  'a change that a person dequeues at the host leaves, and the trace names the person',
  { layout: contractLayout('merge'), contractHost: true },
  async world => {
    for (const topic of ['A', 'B']) await world.propose(topic);
    for (const topic of ['A', 'B']) await world.approve(topic);
    await world.runs('unit: A', 'unit: A B');
    await contractOf(world).command('org/project', 'master/A', 'dequeue', 'bob');
    const left = await world.leaves('A', 'DEQUEUED');
    expect(left.reason).toBe('dequeued-by-hand');
    await world.runs('unit: B');
    world.free();
    await world.leaves('B', 'SUCCESS');

    const named = (name: string) => world.sink.spans.filter(span => span.name === name);
    await world.observer.until('the trace of the request', () => named('ManagementEvent dequeue').length > 0);
    const [request] = named('ManagementEvent dequeue');
    expect(request?.attributes).toMatchObject({
      'gatehouse.by': 'bob',
      'gatehouse.event.outcome': 'dequeued',
      'gatehouse.item.id': left.uuid,
    });
    const { traceId: origin } = request?.links[0] ?? expect.unreachable('the request has no link');
    const roots = world.sink.spans.filter(each => each.traceId === origin && each.parentSpanId === null);
    expect(roots.map(({ name }) => name)).toEqual([expect.stringMatching(/^ContractEvent/)]);
    const removed = world.sink.spans.find(
      span => span.traceId === left.uuid && span.name.startsWith('QueueItem'),
    );
    expect(removed?.attributes).toMatchObject({
      'gatehouse.leave.initiator.type': 'operator',
      'gatehouse.leave.initiator.name': 'bob',
    });
  },
);
