import { expect, test } from 'vitest';
import { traceDuplicate } from '../../../../src/cmd/service/duplicate-delivery.ts';
import { spansCodec } from '../../../../src/model/codec/records.ts';
import type { ConnectionEvent } from '../../../../src/model/event.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { listOutbox, readOutbox } from '../../../../src/store/outbox.ts';
import { DEFAULT_SPAN_OPTIONS } from '../../../../src/tracing/spans/span-options.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { openStand, type Stand } from '../../scheduler/stand.ts';

const TRACING = { spans: () => DEFAULT_SPAN_OPTIONS };

function event({ ids, clock }: Stand): ConnectionEvent {
  const now = clock.now();
  return {
    uuid: ids.uuid(),
    connection: 'local',
    deliveryId: 'd-1',
    type: 'refs-changed',
    payload: {},
    receivedAt: now,
    storedAt: now,
    sampled: true,
  };
}

test('a delivery that comes twice leaves a trace that says so', async () => {
  await using stand = openStand();
  await ensureNode(stand.store, stand.paths.spanOutbox);
  await traceDuplicate(event(stand), 'git', { ...stand, tracing: TRACING });
  const rows = await readOutbox(stand.store, await listOutbox(stand.store, stand.paths.spanOutbox));
  const spans = rows.flatMap(row => spansCodec.decode(row.data));
  expect(spans.map(span => span.name)).toEqual(['GitEvent refs-changed', 'EventReceive']);
  expect(spans[0]?.attributes).toMatchObject({
    'gatehouse.event.outcome': 'discarded',
    'gatehouse.reason': 'duplicate delivery',
    'gatehouse.delivery.id': 'd-1',
  });
  expect(checkTraces(spans.map(asArrived))).toEqual([]);
});

test('a store that cannot take the trace does not make the delivery come once more', async () => {
  await using stand = openStand();
  await traceDuplicate(event(stand), 'git', { ...stand, tracing: TRACING });
  expect(stand.logged).toEqual(['debug: cannot trace a duplicate delivery']);
});
