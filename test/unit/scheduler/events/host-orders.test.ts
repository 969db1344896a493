import { expect, test } from 'vitest';
import type { HostDequeue } from '../../../../src/driver/source.ts';
import { tenantEventCodec } from '../../../../src/model/codec/records.ts';
import type { TenantEvent } from '../../../../src/model/event.ts';
import { hostOrders } from '../../../../src/scheduler/events/host-orders.ts';
import type { EventQueue } from '../../../../src/store/event-queue.ts';
import { at, itemStory, proposedChange } from '../../../fake/queue-item.ts';

const { item } = itemStory();
const change = proposedChange('master/login').key;

function ordered(...requests: readonly HostDequeue[]) {
  return orders({ dequeues: requests });
}

function orders(requests: Parameters<typeof hostOrders>[0]) {
  const put: TenantEvent[] = [];
  const remember = (event: TenantEvent) => {
    put.push(event);
    return [];
  };
  const queue = { put: remember } as unknown as EventQueue<TenantEvent>;
  const queueOf = (tenant: string) => ({ tenant, queue });
  hostOrders(
    requests,
    { uuid: item.uuid, receivedAt: at(1) },
    { origin: { span: item.origin.eventSpan, sampled: true }, queuedAt: at(2) },
    { tenantsOf: key => (key === change ? ['acme', 'other'].map(queueOf) : []) },
  );
  return put;
}

test('a request goes to every tenant of the project, or to the one it names, as a record that can be stored', () => {
  const all = ordered({ change, by: 'bob' });
  expect(all.map(({ tenant }) => tenant)).toEqual(['acme', 'other']);
  expect(new Set(all.map(({ uuid }) => uuid)).size).toBe(2);
  const one = ordered({ change, by: 'bob', tenant: 'other', pipeline: 'gate', item: item.uuid });
  expect(one).toMatchObject([{ tenant: 'other', pipeline: 'gate', item: item.uuid, by: 'bob' }]);
  for (const event of [...all, ...one])
    expect(tenantEventCodec.decode(tenantEventCodec.encode(event))).toEqual(event);
});

test('the same event gives the same orders, those of an unknown project none, and never more than fifty requests', () => {
  const request = { change, by: 'bob' };
  expect(ordered(request)).toEqual(ordered(request));
  expect(ordered({ change: proposedChange('master/other').key, by: 'bob' })).toEqual([]);
  const many = ordered(...Array.from({ length: 60 }, () => ({ change, by: 'x'.repeat(1000) })));
  expect(many).toHaveLength(100);
  expect(many[0]).toMatchObject({ by: 'x'.repeat(256) });
});

test('requests to promote are orders of their own, beside those to dequeue', () => {
  const put = orders({
    dequeues: [{ change, by: 'bob', tenant: 'acme' }],
    promotes: [{ change, by: 'ann', tenant: 'acme', pipeline: 'gate' }],
  });
  expect(put).toMatchObject([
    { kind: 'dequeue', by: 'bob' },
    { kind: 'promote', tenant: 'acme', pipeline: 'gate', by: 'ann' },
  ]);
  expect(put[0]?.uuid).not.toBe(put[1]?.uuid);
  for (const event of put) expect(tenantEventCodec.decode(tenantEventCodec.encode(event))).toEqual(event);
});
