/**
 * Check 17: 50 000 spans that end within a second all arrive, in requests below 4 MiB, never more than eight at a time, and the
 * process that sends them stays small.
 *
 * The real outbox in the real embedded store on disk, the real drain, sender and wires; whole items of the gate stand in for the
 * gate that ends them. The sink lives in the same process: the bodies it keeps are taken off the memory that is measured.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createSpanDrain, createSpanSender } from '../../src/cmd/service/span-delivery.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { spansCodec } from '../../src/model/codec/records.ts';
import type { SpanRecord } from '../../src/model/span.ts';
import { openEmbeddedStore } from '../../src/store/embedded/server.ts';
import { ensureNode } from '../../src/store/ensure-node.ts';
import { outboxRows } from '../../src/store/outbox-rows.ts';
import { storePaths } from '../../src/store/paths.ts';
import { itemSpans } from '../../src/tracing/spans/item-spans.ts';
import { eventually } from '../conformance/store/eventually.ts';
import { resetAndMergedStory } from '../fake/item-stories.ts';
import { virtualSender } from '../fake/otlp/virtual-sender.ts';
import { type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { SILENT } from '../fake/silent-log.ts';
import { tracingTo } from '../fake/tracing-to.ts';

const BURST = 50_000;
const MOST_AT_ONCE = 8;
const MOST_BYTES = 4 * 1024 * 1024;
/** What is alive beyond what was before: rows, spans and requests of one batch, and the names of the rows that wait. */
const MOST_GROWTH = 48 * 1024 * 1024;
const DEADLINE = 60_000;
const PROTOCOLS = ['grpc', 'http/protobuf'] as const;
const paths = storePaths('/gatehouse');

describe('check 17: a burst of 50 000 spans arrives whole', { timeout: 2 * DEADLINE }, () => {
  test.each(PROTOCOLS)('over %s', async protocol => {
    const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-check-17-'));
    await using sink = await startOtlpSink({ protocol: protocol === 'grpc' ? 'grpc' : 'http' });
    await using server = openEmbeddedStore({ file: path.join(directory, 'store.sqlite') });
    const store = server.connect();
    await ensureNode(store, paths.spanOutbox);
    const clock = systemClock();
    const items = burst();
    const sent = items.flat().length;
    // Ten items per commit: about as much as one can hold.
    for (let from = 0; from < items.length; from += 10) {
      const rows = items
        .slice(from, from + 10)
        .map(spans => outboxRows(paths.spanOutbox, spans, spansCodec, clock.now()));
      await store.multi(rows.flat());
    }

    const settings = tracingTo(sink.url, protocol);
    const deps = { settings, clock, log: SILENT };
    const sender = createSpanSender({
      ...deps,
      version: '0',
      instance: 'an installation',
      host: 'ci1',
      backlog: () => 0,
    });
    const stop = new AbortController();
    const memory = growthBeside(sink);
    const drain = createSpanDrain({ ...deps, sender, store, paths, onProgress: () => memory.look() });
    const running = drain.run(stop.signal);
    await eventually(async () => (await store.get(paths.spanOutbox))?.stat.childCount === 0, DEADLINE);
    stop.abort();
    await running;
    await sender.close(0);

    expect(sent).toBeGreaterThanOrEqual(BURST);
    expect(sink.spans.length).toBe(sent);
    expect(new Set(sink.spans.map(span => span.traceId + span.spanId)).size).toBe(sent);
    expect(Math.max(...sink.requests.map(request => request.bytes))).toBeLessThan(MOST_BYTES);
    expect(memory.most()).toBeLessThan(MOST_GROWTH);
    expect(sender.health()).toMatchObject({ state: 'ok', sent, lost: {}, failedRequests: 0 });
    await rm(directory, { recursive: true });
  });
});

/** The spans of whole items. */
const burst = once(() => {
  const items: (readonly SpanRecord[])[] = [];
  for (let spans = 0; spans < BURST; spans += items.at(-1)?.length ?? 0)
    items.push(itemSpans(resetAndMergedStory({ seed: `burst ${items.length}` }).item));
  return items;
});

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/** Looks at what is alive now and then: a garbage collection each time is too slow. */
function growthBeside(sink: OtlpSink): { look(): void; most(): number } {
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  const alive = () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external - sink.requests.reduce((sum, request) => sum + request.bytes, 0);
  };
  const before = alive();
  let looks = 0;
  let most = 0;
  return {
    look() {
      looks += 1;
      if (looks % 8 === 0) most = Math.max(most, alive() - before);
    },
    most: () => most,
  };
}

describe('check 17: never more than eight requests at a time', () => {
  test.each(PROTOCOLS)('over %s', async protocol => {
    await using rig = await virtualSender({ protocol });
    const answers: (() => void)[] = [];
    const total = 20;
    for (let number = 0; number < total; number++) {
      const { promise, resolve } = Promise.withResolvers<void>();
      answers.push(resolve);
      rig.sink.answerNext({ kind: 'slow', until: promise, answer: { kind: 'ok' } });
    }
    const delivery = rig.sender.deliver([spansCodec.encode(wideSpans(total))]);
    for (let answered = 0; answered < total; answered++) {
      await rig.sink.waitForRequests(Math.min(total, answered + MOST_AT_ONCE));
      expect(rig.sink.requests.length - answered).toBeLessThanOrEqual(MOST_AT_ONCE);
      answers[answered]?.();
    }
    expect(await delivery).toBe('delivered');
    expect(rig.sink.spans.length).toBe(total);
  });
});

/** Of which each needs a request of its own. */
function wideSpans(count: number): readonly SpanRecord[] {
  const spans = itemSpans(resetAndMergedStory().item).slice(0, count);
  return spans.map(span => ({ ...span, attributes: { wide: 'x'.repeat(2_000_000) } }));
}
