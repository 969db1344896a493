/**
 * From the outbox to a collector: how many spans per second, over each protocol, and what a turn writes to the store because spans
 * end in it. The real drain and sender on the embedded store on disk; the collector is in the same process.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { createSpanDrain, createSpanSender } from '../../src/cmd/service/span-delivery.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { spansCodec } from '../../src/model/codec/records.ts';
import type { SpanRecord } from '../../src/model/span.ts';
import { openEmbeddedStore } from '../../src/store/embedded/server.ts';
import { ensureNode } from '../../src/store/ensure-node.ts';
import { outboxRows } from '../../src/store/outbox-rows.ts';
import { storePaths } from '../../src/store/paths.ts';
import type { Store } from '../../src/store/port.ts';
import { splitOperations } from '../../src/store/split-operations.ts';
import { startOtlpSink } from '../fake/otlp-sink.ts';
import { SILENT } from '../fake/silent-log.ts';
import { tracingTo } from '../fake/tracing-to.ts';
import { gateOf } from './gate-reset.ts';
import type { BenchRow } from './spans.ts';
import { storedGate } from './stored-gate.ts';

const PROTOCOLS = ['grpc', 'http/protobuf'] as const;

/** @param traces one list per item, each with the spans of one commit. */
export async function outboxThroughput(
  traces: readonly (readonly SpanRecord[])[],
): Promise<readonly BenchRow[]> {
  const rows: BenchRow[] = [];
  for (const protocol of PROTOCOLS) {
    // Once to warm up.
    await embedded(store => drained(store, protocol, traces));
    const { seconds, cpuSeconds, spans } = await embedded(store => drained(store, protocol, traces));
    rows.push(
      { name: `outbox → collector, ${protocol}`, value: Math.round(spans / seconds), unit: 'spans/s' },
      {
        name: `outbox → collector, ${protocol}, CPU, both ends`,
        value: Math.round((cpuSeconds * 1e8) / spans) / 100,
        unit: 'µs/span',
      },
    );
  }
  return rows;
}

/** @throws Error when spans that end in a turn cost it a transaction. */
export async function extraWrites(): Promise<readonly BenchRow[]> {
  const reset = (traced: boolean) =>
    embedded(async store => (await storedGate(store, gateOf(20, 10, 20), undefined, traced)).reset());
  const [with_, without] = [await reset(true), await reset(false)];
  const extra = with_.transactions - without.transactions;
  if (extra !== 0) throw new Error(`tracing costs a turn ${extra} more transactions`);
  return [
    { name: 'a turn that ends them: more transactions', value: extra, unit: 'transactions' },
    { name: 'a turn that ends them: more bytes', value: with_.bytes - without.bytes, unit: 'bytes' },
  ];
}

async function drained(
  store: Store,
  protocol: (typeof PROTOCOLS)[number],
  traces: readonly (readonly SpanRecord[])[],
) {
  const paths = storePaths('/gatehouse');
  const clock = systemClock();
  await ensureNode(store, paths.spanOutbox);
  const operations = traces.flatMap(spans => outboxRows(paths.spanOutbox, spans, spansCodec, clock.now()));
  for (const part of splitOperations(operations)) await store.multi(part);

  await using sink = await startOtlpSink({ protocol: protocol === 'grpc' ? 'grpc' : 'http' });
  const deps = { settings: tracingTo(sink.url, protocol), clock, log: SILENT };
  const sender = createSpanSender({ ...deps, version: '0', instance: 'i', host: 'h', backlog: () => 0 });
  const stop = new AbortController();
  const total = traces.flat().length;
  const cpu = process.cpuUsage();
  const begun = performance.now();
  const onProgress = () => {
    if (sender.health().sent >= total) stop.abort();
  };
  await createSpanDrain({ ...deps, sender, store, paths, onProgress }).run(stop.signal);
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await sender.close(0);
  if (sink.spans.length !== total) throw new Error(`${sink.spans.length} of ${total} spans arrived`);
  return { seconds, cpuSeconds: (user + system) / 1e6, spans: total };
}

async function embedded<T>(use: (store: Store) => Promise<T>): Promise<T> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-spans-'));
  const server = openEmbeddedStore({ file: path.join(directory, 'store.sqlite') });
  try {
    return await use(server.connect());
  } finally {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  }
}
