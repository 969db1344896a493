/**
 * Check 17: 50 000 spans that end within a second all arrive, in requests below 4 MiB, never more than eight at a time, and the
 * process that sends them stays small.
 *
 * The real outbox in the real embedded store on disk, the real drain, sender and wires; whole items of the gate stand in for the
 * gate that ends them, each story repeated many times as another item. Of what arrives only the ids are read (checks 01 and 07
 * read the rest). The sink lives in the same process: the bodies it keeps are taken off the memory that is measured.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { createSpanDrain, createSpanSender } from '../../src/cmd/service/span-delivery.ts';
import { fromMilliseconds, systemClock } from '../../src/lib/clock.ts';
import { parseUuid, traceIdOf } from '../../src/lib/ids.ts';
import { spansCodec } from '../../src/model/codec/records.ts';
import type { SpanRecord } from '../../src/model/span.ts';
import { openEmbeddedStore } from '../../src/store/embedded/server.ts';
import { ensureNode } from '../../src/store/ensure-node.ts';
import { outboxRows } from '../../src/store/outbox-rows.ts';
import { storePaths } from '../../src/store/paths.ts';
import type { Operation } from '../../src/store/port.ts';
import { wireFields } from '../../src/tracing/otlp/wire.ts';
import { itemSpans } from '../../src/tracing/spans/item-spans.ts';
import { eventually } from '../conformance/store/eventually.ts';
import { resetAndMergedStory } from '../fake/item-stories.ts';
import { virtualSender } from '../fake/otlp/virtual-sender.ts';
import { type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { SILENT } from '../fake/silent-log.ts';
import { tracingTo } from '../fake/tracing-to.ts';

/** Whole over the protocol that is the default; up to the last step, which keeps nothing between requests, both take the same way. */
const BURSTS = [
  ['grpc', 50_000],
  ['http/protobuf', 5_000],
] as const;
const MOST_AT_ONCE = 8;
const MOST_BYTES = 4 * 1024 * 1024;
/** What is alive beyond what was before: rows, spans and requests of one batch, and the names of the rows that wait. */
const MOST_GROWTH = 48 * 1024 * 1024;
const DEADLINE = 60_000;
const paths = storePaths('/gatehouse');
/** Since then they wait. */
const AT = fromMilliseconds(Date.now());

describe('check 17: a burst of 50 000 spans arrives whole', { timeout: 2 * DEADLINE }, () => {
  test.each(BURSTS)('over %s, with %i', async (protocol, size) => {
    const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-check-17-'));
    await using sink = await startOtlpSink({ protocol: protocol === 'grpc' ? 'grpc' : 'http' });
    await using server = openEmbeddedStore({ file: path.join(directory, 'store.sqlite') });
    const store = server.connect();
    await ensureNode(store, paths.spanOutbox);
    const clock = systemClock();
    const { commits, ids } = burst(size);
    for (const rows of commits) await store.multi(rows);

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

    const arrived = sink.requests.flatMap(request => idsIn(request.body));
    expect(arrived.length).toBe(ids.size);
    expect(new Set(arrived)).toEqual(ids);
    expect(Math.max(...sink.requests.map(request => request.bytes))).toBeLessThan(MOST_BYTES);
    expect(memory.most()).toBeLessThan(MOST_GROWTH);
    expect(sender.health()).toMatchObject({ state: 'ok', sent: ids.size, lost: {}, failedRequests: 0 });
    await rm(directory, { recursive: true });
  });
});

/** Rows with at least `size` spans of whole items, ten items per commit: about as much as one can hold. */
function burst(size: number) {
  const stories = Array.from({ length: 10 }, (_, index) =>
    itemSpans(resetAndMergedStory({ seed: `burst ${index}` }).item),
  );
  const commits: (readonly Operation[])[] = [];
  const ids = new Set<string>();
  while (ids.size < size) {
    const items = stories.map(spans => repeated(spans, commits.length));
    for (const { traceId, spanId } of items.flat()) ids.add(traceId + spanId);
    commits.push(items.flatMap(spans => outboxRows(paths.spanOutbox, spans, spansCodec, AT)));
  }
  return { commits, ids };
}

/** The same spans in another trace; one in four with all it has, the others bare, since the check shall be quick. */
function repeated(spans: readonly SpanRecord[], repetition: number): readonly SpanRecord[] {
  const mark = repetition.toString(16).padStart(4, '0');
  return spans.map((span, index) => {
    const other = { ...span, traceId: traceIdOf(parseUuid(mark + span.traceId.slice(4))) };
    return index % 4 === 0 ? other : { ...other, attributes: {}, events: [], links: [] };
  });
}

/** `resource_spans[] { scope_spans[] { spans[] { trace_id = 1, span_id = 2 } = 2 } = 2 } = 1` */
function idsIn(request: Uint8Array): readonly string[] {
  return parts(request, 1)
    .flatMap(resourceSpans => parts(resourceSpans, 2))
    .flatMap(scopeSpans => parts(scopeSpans, 2))
    .map(span => [...parts(span, 1), ...parts(span, 2)].map(id => Buffer.from(id).toString('hex')).join(''));
}

function parts(message: Uint8Array, number: number): readonly Uint8Array[] {
  const found: Uint8Array[] = [];
  for (const field of wireFields(message))
    if (field.number === number && field.bytes !== undefined) found.push(field.bytes);
  return found;
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
      if (looks % 10 === 0) most = Math.max(most, alive() - before);
    },
    most: () => most,
  };
}

describe('check 17: never more than eight requests at a time', () => {
  test.each(['grpc', 'http/protobuf'] as const)('over %s', async protocol => {
    await using rig = await virtualSender({ protocol });
    const answers: (() => void)[] = [];
    const total = MOST_AT_ONCE + 2;
    for (let number = 0; number < total; number++) {
      const { promise, resolve } = Promise.withResolvers<void>();
      answers.push(resolve);
      rig.sink.answerNext({ kind: 'slow', until: promise, answer: { kind: 'ok' } });
    }
    // As many batches, each small; what one of them needs more than one request for waits in the same line.
    const batches = itemSpans(resetAndMergedStory().item).slice(0, total);
    const deliveries = batches.map(span => rig.sender.deliver([spansCodec.encode([span])]));
    for (let answered = 0; answered < total; answered++) {
      await rig.sink.waitForRequests(Math.min(total, answered + MOST_AT_ONCE));
      expect(rig.sink.requests.length - answered).toBeLessThanOrEqual(MOST_AT_ONCE);
      answers[answered]?.();
    }
    expect(await Promise.all(deliveries)).toEqual(answers.map(() => 'delivered'));
    expect(rig.sink.spans.length).toBe(total);
  });
});
