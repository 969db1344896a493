/** Spans dropped by the outbox and spans rejected by the collector: each counted and reported by its reason. */
import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { createSpanDrain, createSpanSender } from '../../../../src/cmd/service/span-delivery.ts';
import { type Clock, fromMilliseconds } from '../../../../src/lib/clock.ts';
import { derivedSpanId } from '../../../../src/lib/ids.ts';
import type { Log } from '../../../../src/lib/log.ts';
import { spansCodec } from '../../../../src/model/codec/records.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import { readTracing, type TracingOn } from '../../../../src/settings/tracing-settings.ts';
import { openEmbeddedStore } from '../../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { outboxRows } from '../../../../src/store/outbox-rows.ts';
import { storePaths } from '../../../../src/store/paths.ts';
import type { Store } from '../../../../src/store/port.ts';
import { itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import { eventually } from '../../../conformance/store/eventually.ts';
import { resetAndMergedStory } from '../../../fake/item-stories.ts';
import { startOtlpSink } from '../../../fake/otlp-sink.ts';

const BEGIN = 1_795_000_000_000;
const HOUR = 3_600_000;
const SPANS_PER_ROW = 25;
const paths = storePaths('/gatehouse');
const [sample] = itemSpans(resetAndMergedStory().item);

/** Small ones: of those one batch takes several requests. */
function spansOfRow(row: number): readonly SpanRecord[] {
  if (sample === undefined) throw new Error('the story has no spans');
  return Array.from({ length: SPANS_PER_ROW }, (_, number) => ({
    ...sample,
    spanId: derivedSpanId(sample.spanId, `row ${row}`, number),
    name: 'a',
    attributes: {},
    events: [],
    links: [],
  }));
}

/** A commit's spans each. */
async function writeRows(store: Store, from: number, count: number, atMs: number): Promise<void> {
  for (let row = from; row < from + count; row++)
    await store.multi(outboxRows(paths.spanOutbox, spansOfRow(row), spansCodec, fromMilliseconds(atMs)));
}

function tracingTo(endpoint: string): TracingOn {
  const at = { file: 'gatehouse.conf', line: 1 };
  const options = new Map([['endpoint', { value: endpoint, at }]]);
  const { tracing } = readTracing({ name: 'tracing', at, options }, {});
  if (tracing.kind === 'off') throw new Error(tracing.why);
  return tracing;
}

async function rig(endpoint: string, bounds: Partial<TracingOn>) {
  const server = openEmbeddedStore({ file: ':memory:' });
  const store = server.connect();
  await ensureNode(store, paths.spanOutbox);
  const clock: Clock = { now: () => fromMilliseconds(BEGIN), monotonic: () => 0 };
  const logged: string[] = [];
  const note = (facts: object, text: string) => void logged.push(`${text} ${JSON.stringify(facts)}`);
  const log: Log = { debug: () => {}, info: () => {}, warn: note, error: note, child: () => log };
  const settings = { ...tracingTo(endpoint), ...bounds };
  const sender = createSpanSender({
    settings,
    clock,
    log,
    version: '0',
    instance: 'an installation',
    host: undefined,
    backlog: () => 0,
  });
  const stop = new AbortController();
  const drain = createSpanDrain({ settings, sender, store, paths, clock, log, onProgress: () => {} });
  return {
    store,
    sender,
    logged,
    /** Until nothing waits. */
    async drained() {
      const running = drain.run(stop.signal);
      await eventually(async () => (await store.get(paths.spanOutbox))?.stat.childCount === 0);
      stop.abort();
      await running;
    },
    async [Symbol.asyncDispose]() {
      await sender.close(0);
      await server.close();
    },
  };
}

test('rows that waited too long are lost by their spans, not by their number', async () => {
  await using sink = await startOtlpSink();
  await using box = await rig(sink.url, { outboxMaxAge: HOUR / 1000 });
  await writeRows(box.store, 0, 3, BEGIN - 2 * HOUR);
  await writeRows(box.store, 3, 2, BEGIN);
  await box.drained();
  expect(box.sender.health()).toMatchObject({ sent: 50, lost: { 'too-old': 75 } });
  expect(sink.spans).toHaveLength(50);
  expect(box.logged).toEqual(['spans were dropped {"reason":"too-old","rows":3,"spans":75}']);
});

test('rows an outbox that is full has no place for are lost by their spans', async () => {
  await using sink = await startOtlpSink();
  const bytes = spansCodec.encode(spansOfRow(0)).byteLength;
  await using box = await rig(sink.url, { outboxMaxBytes: bytes * 2.5 });
  await writeRows(box.store, 0, 6, BEGIN);
  await box.drained();
  expect(box.sender.health()).toMatchObject({ sent: 50, lost: { 'outbox-full': 100 } });
});

test('of a batch in several requests only the rejected one is lost and reported', async () => {
  await using sink = await startOtlpSink();
  await using box = await rig(sink.url, {});
  // More than one request holds.
  const rows = Math.ceil(5_000 / SPANS_PER_ROW);
  sink.answerNext({ kind: 'status', code: status.INVALID_ARGUMENT });
  await writeRows(box.store, 0, rows, BEGIN);
  await box.drained();
  const { sent, lost, requests } = box.sender.health();
  const refused = lost.refused ?? 0;
  expect(requests).toBeGreaterThan(1);
  expect([refused > 0, sent > 0, refused + sent]).toEqual([true, true, rows * SPANS_PER_ROW]);
  expect(box.logged).toHaveLength(1);
  expect(box.logged[0]).toContain(`"spans":${refused}`);
});
