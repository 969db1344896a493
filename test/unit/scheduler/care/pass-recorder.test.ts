import { expect, test } from 'vitest';
import { spansCodec } from '../../../../src/model/codec/records.ts';
import { recordPass } from '../../../../src/scheduler/care/pass-recorder.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { listOutbox, readOutbox } from '../../../../src/store/outbox.ts';
import { WHOLE_TRACES } from '../../../../src/tracing/live-tracing.ts';
import { DEFAULT_SPAN_OPTIONS } from '../../../../src/tracing/spans/span-options.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { openStand, type Stand } from '../stand.ts';

const TRACING = { spans: () => DEFAULT_SPAN_OPTIONS, isSampled: () => true, policy: () => WHOLE_TRACES };

async function spansOf(stand: Stand) {
  const { store, paths } = stand;
  const rows = await readOutbox(store, await listOutbox(store, paths.spanOutbox));
  return rows.flatMap(row => spansCodec.decode(row.data));
}

test('a pass is a trace of what it did, one span per concern, and says nothing of the others', async () => {
  await using stand = openStand();
  for (const outbox of [stand.paths.spanOutbox, stand.paths.historyOutbox])
    await ensureNode(stand.store, outbox);
  const pass = recordPass('store', {}, { ...stand, tracing: TRACING });
  await pass.part('Sweep', 'delivery-ids', async () => ({ removed: 40 }));
  await pass.part('CacheCleanup', 'job-graphs', async () => ({ removed: 3 }));
  await pass.part('Sweep', 'stale-cancels', async () => ({ removed: 0 }));
  expect(pass.didSomething).toBe(true);
  await stand.store.multi(pass.rows());
  const spans = await spansOf(stand);
  expect(spans.map(({ name, attributes }) => [name, attributes['gatehouse.sweep.removed_count']])).toEqual([
    ['Sweep store', 43],
    ['Sweep delivery-ids', 40],
    ['CacheCleanup job-graphs', 3],
  ]);
  expect(spans[0]?.kind).toBe('internal');
  expect(checkTraces(spans.map(asArrived))).toEqual([]);
});

test('a pass that found nothing to do leaves no trace', async () => {
  await using stand = openStand();
  const pass = recordPass('store', {}, { ...stand, tracing: TRACING });
  await pass.part('Sweep', 'leftovers', async () => ({ removed: 0 }));
  expect(pass.didSomething).toBe(false);
  expect(pass.rows()).toEqual([]);
});

test('a pass that is not sampled leaves no trace', async () => {
  await using stand = openStand();
  const pass = recordPass('store', {}, { ...stand, tracing: { ...TRACING, isSampled: () => false } });
  await pass.part('Sweep', 'leftovers', async () => ({ removed: 1 }));
  expect(pass.rows()).toEqual([]);
});
