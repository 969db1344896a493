/**
 * Check 18: a service that is stopped while thousands of spans wait ends within its bound, and the next start delivers the rest. The
 * collector answers the first three requests after a second each, and takes every later one without ever answering: worse than slow.
 *
 * Real processes, real signals, the real store file; the spans are put there beforehand, as a gate leaves them.
 */

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { prepareSite, type Site } from '../../src/cmd/quickstart/prepare-site.ts';
import { freePort, startServiceProcess, waitUntilReady } from '../../src/cmd/quickstart/service-process.ts';
import { addMilliseconds, systemClock } from '../../src/lib/clock.ts';
import { derivedSpanId, randomIds, spanIdOf, traceIdOf } from '../../src/lib/ids.ts';
import { spansCodec } from '../../src/model/codec/records.ts';
import type { SpanRecord } from '../../src/model/span.ts';
import { openEmbeddedStore } from '../../src/store/embedded/server.ts';
import { ensureNode } from '../../src/store/ensure-node.ts';
import { outboxOperation } from '../../src/store/outbox.ts';
import { storePaths } from '../../src/store/paths.ts';
import { eventually } from '../conformance/store/eventually.ts';
import { type OtlpSink, startOtlpSink } from '../fake/otlp-sink.ts';
import { builtProgram } from '../setup/built-program.ts';

/** What `gatehouse start` allows itself to stop, in milliseconds, and a little for a loaded machine. */
const BOUND = 15_000 + 3_000;
const ROWS = 200;
const SPANS_PER_ROW = 25;
const DEADLINE = 60_000;

let directory: string;
let site: Site;
let sink: OtlpSink;
beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-check-18-'));
  sink = await startOtlpSink();
  site = await prepareSite({
    directory: path.join(directory, 'site'),
    port: await freePort(0),
    token: 'token of the check',
    logLevel: 'info',
  });
});
afterEach(async () => {
  await sink[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

/** About 2 kB each, so that they take many requests. */
function spanNumber(row: number, number: number): SpanRecord {
  const trace = randomIds().uuid();
  const start = addMilliseconds(systemClock().now(), -60_000);
  return {
    traceId: traceIdOf(trace),
    spanId: derivedSpanId(spanIdOf(trace), `${row}`, number),
    parent: null,
    name: `Build ${row}/${number}`,
    kind: 'internal',
    start,
    end: addMilliseconds(start, 1),
    attributes: { 'gatehouse.change': 'x'.repeat(2_000) },
    events: [],
    links: [],
    status: { code: 'unset' },
  };
}

async function leaveSpans(): Promise<readonly string[]> {
  const state = path.join(directory, 'site/state');
  await mkdir(state, { recursive: true });
  await using server = openEmbeddedStore({ file: path.join(state, 'store.sqlite') });
  const store = server.connect();
  const { spanOutbox } = storePaths('/gatehouse');
  await ensureNode(store, spanOutbox);
  const left: string[] = [];
  for (let row = 0; row < ROWS; row++) {
    const spans = Array.from({ length: SPANS_PER_ROW }, (_, number) => spanNumber(row, number));
    left.push(...spans.map(span => span.spanId));
    await store.multi([outboxOperation(spanOutbox, spansCodec.encode(spans), systemClock().now())]);
  }
  return left.sort();
}

async function start() {
  const service = await startServiceProcess(
    site.config,
    path.join(directory, 'gatehouse.log'),
    { ...process.env, OTEL_EXPORTER_OTLP_ENDPOINT: sink.url },
    await builtProgram(),
  );
  await waitUntilReady(site.url, service, DEADLINE);
  return service;
}

test('check 18: a stop with 5 000 spans waiting is bounded, and the next start delivers the rest', {
  timeout: 3 * DEADLINE,
}, async () => {
  const left = await leaveSpans();
  expect(left).toHaveLength(ROWS * SPANS_PER_ROW);
  const slowly = () => ({ kind: 'slow', until: pause(1_000), answer: { kind: 'ok' } }) as const;
  sink.answerNext(...Array.from({ length: 3 }, slowly));
  sink.answerAlways({ kind: 'hang' });
  const first = await start();
  await sink.waitForRequests(1, DEADLINE);
  const begun = performance.now();
  await first.stop();
  expect(performance.now() - begun).toBeLessThan(BOUND);
  const own = () => sink.spans.filter(span => span.name.startsWith('Build ')).map(span => span.spanId);
  expect(own().length).toBeLessThan(left.length);

  sink.answerAlways({ kind: 'ok' });
  const second = await start();
  await eventually(() => new Set(own()).size >= left.length, DEADLINE);
  await second.stop();
  expect([...new Set(own())].sort()).toEqual(left);
  expect(differentRepeats()).toEqual([]);
});

/** What came twice, because its answer came too late for the one that was stopped, and not alike. */
function differentRepeats(): readonly string[] {
  const seen = new Map<string, string>();
  return sink.spans.flatMap(span => {
    const text = JSON.stringify(span, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    const before = seen.get(span.spanId);
    seen.set(span.spanId, text);
    return before === undefined || before === text ? [] : [`${before}\n${text}`];
  });
}
