/**
 * Check 15: the collector is down for ten minutes while items run: afterwards every span arrives, once, and the gate did not notice.
 *
 * What stands in: the real outbox, drain, sender and connection, by gRPC and by HTTP, with a clock that jumps over the back-off
 * (ten minutes pass in a moment). That the gate cannot notice follows from who knows the sender: no room that decides or works
 * does. The whole service with its collector down is in `test/scenario/collector-down.test.ts`.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { status } from '@grpc/grpc-js';
import { expect, test } from 'vitest';
import { createSpanDrain, createSpanSender } from '../../src/cmd/service/span-delivery.ts';
import { type Clock, fromMilliseconds } from '../../src/lib/clock.ts';
import { spansCodec } from '../../src/model/codec/records.ts';
import type { SpanRecord } from '../../src/model/span.ts';
import { openEmbeddedStore } from '../../src/store/embedded/server.ts';
import { ensureNode } from '../../src/store/ensure-node.ts';
import { outboxOperation } from '../../src/store/outbox.ts';
import { storePaths } from '../../src/store/paths.ts';
import { itemSpans } from '../../src/tracing/spans/item-spans.ts';
import { eventually } from '../conformance/store/eventually.ts';
import { randomStory } from '../fake/item-stories.ts';
import { checkTraces, startOtlpSink } from '../fake/otlp-sink.ts';
import { SILENT } from '../fake/silent-log.ts';
import { tracingTo } from '../fake/tracing-to.ts';

const OUTAGE = 600_000;
const BEGIN = 1_795_000_000_000;
const paths = storePaths('/gatehouse');

/** As many items as the gate lands in the meantime, each with its whole trace. */
function fiftyTraces(): readonly (readonly SpanRecord[])[] {
  return Array.from({ length: 50 }, (_, number) => {
    const { item } = randomStory([number, 3, 1, 4, 1, 5, 9, 2, 6], `outage ${number}`);
    return itemSpans(item).filter(span => span.end !== null);
  });
}

test.each([
  ['grpc', 'grpc', status.UNAVAILABLE],
  ['http/protobuf', 'http', 503],
] as const)(
  'check 15: ten minutes without a collector cost no span, and none arrives twice (%s)',
  async (protocol, wire, away) => {
    await using sink = await startOtlpSink({ protocol: wire });
    sink.answerAlways({ kind: 'status', code: away });
    await using server = openEmbeddedStore({ file: ':memory:' });
    const store = server.connect();
    await ensureNode(store, paths.spanOutbox);
    let ms = 0;
    const clock: Clock = { now: () => fromMilliseconds(BEGIN + ms), monotonic: () => ms };
    const write = (spans: readonly SpanRecord[]) =>
      store.multi([outboxOperation(paths.spanOutbox, spansCodec.encode(spans), clock.now())]);

    const traces = fiftyTraces();
    const waiting = [...traces];
    const pauses: number[] = [];
    /** Time passes only while the delivery waits; another item lands meanwhile. */
    async function pass(wait: number): Promise<void> {
      pauses.push(wait);
      ms += wait;
      const next = waiting.shift();
      if (next !== undefined) await write(next);
      if (ms >= OUTAGE) {
        for (const left of waiting.splice(0)) await write(left);
        sink.answerAlways({ kind: 'ok' });
      }
    }
    const settings = tracingTo(sink.url, protocol);
    const sender = createSpanSender({
      settings,
      clock,
      log: SILENT,
      version: '0',
      instance: 'an installation',
      host: 'ci1',
      backlog: () => 0,
    });
    const stop = new AbortController();
    const drain = createSpanDrain({
      settings,
      sender,
      store,
      paths,
      clock,
      log: SILENT,
      onProgress: () => {},
      pause: pass,
    });
    const running = drain.run(stop.signal);
    await write(waiting.shift() ?? []);

    const spans = traces.flat();
    await sink.waitForSpans(spans.length, 30_000);
    await eventually(async () => (await store.get(paths.spanOutbox))?.stat.childCount === 0);
    stop.abort();
    await running;
    await sender.close(0);

    expect(ms).toBeGreaterThanOrEqual(OUTAGE);
    // Patient with a collector that is away: not more often than every half minute in the end, and not much less often either.
    expect(Math.max(...pauses)).toBeLessThanOrEqual(30_000);
    expect(pauses.length).toBeLessThan(60);
    expect(sink.spans.map(span => span.spanId).sort()).toEqual(spans.map(span => span.spanId).sort());
    expect(checkTraces(sink.spans)).toEqual([]);
    expect(sender.health()).toMatchObject({ state: 'ok', sent: spans.length, lost: {} });
  },
);

test('check 15: the code that decides, merges or runs jobs does not know the sender, so it cannot wait for it', async () => {
  const src = path.resolve(import.meta.dirname, '../../src');
  const files = ['scheduler', 'pipeline', 'layout', 'merger', 'executor', 'git', 'store'].flatMap(room =>
    readdirSync(path.join(src, room), { recursive: true, encoding: 'utf8' }).map(file =>
      path.join(src, room, file),
    ),
  );
  const sources = files.filter(file => file.endsWith('.ts'));
  expect(sources.length).toBeGreaterThan(150);
  // All there is about sending but the limiter, with which the executor bounds what jobs send to it.
  const sending = readdirSync(path.join(src, 'tracing/otlp')).filter(file => file !== 'limiter.ts');
  expect(sending).toEqual(expect.arrayContaining(['sender.ts', 'exporter.ts', 'span-exporter.ts']));
  const known = sources.flatMap(file => {
    const text = readFileSync(file, 'utf8');
    return sending.filter(name => text.includes(`/tracing/otlp/${name}'`)).map(name => `${file}: ${name}`);
  });
  expect(known).toEqual([]);
});
