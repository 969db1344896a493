/**
 * What tracing costs: a record made into spans, the spans encoded, the spans delivered; and a reset of 20 items × 10 jobs.
 *
 *     node test/bench/spans.ts
 *
 * Everything runs in one process: the sending figures contain the collector's receiving, but not its decoding.
 */
import { spansCodec } from '../../src/model/codec/records.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import type { SpanRecord } from '../../src/model/span.ts';
import { otlpExporter } from '../../src/tracing/otlp/exporter.ts';
import { resourceOf } from '../../src/tracing/otlp/resource.ts';
import { endedSpans } from '../../src/tracing/spans/ended-spans.ts';
import { itemSpans } from '../../src/tracing/spans/item-spans.ts';
import { resetAndMergedStory } from '../fake/item-stories.ts';
import { startOtlpSink } from '../fake/otlp-sink.ts';
import { itemStory } from '../fake/queue-item.ts';

export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

const ITEMS = 20;
const JOBS = 10;
const SENT = 10_000;

export async function benchSpans(): Promise<readonly BenchRow[]> {
  const items = Array.from(
    { length: 50 },
    (_, index) => resetAndMergedStory({ seed: `bench-${index}` }).item,
  );
  const spans = items.flatMap(item => itemSpans(item));
  const many = Array.from({ length: Math.ceil(SENT / spans.length) }, () => spans)
    .flat()
    .slice(0, SENT);
  return [
    row(
      'record → span',
      (medianMs(() => void items.flatMap(item => itemSpans(item))) * 1000) / spans.length,
      'µs/span',
    ),
    row(
      'span → outbox row',
      (medianMs(() => void spansCodec.encode(spans)) * 1000) / spans.length,
      'µs/span',
    ),
    ...resetRows(),
    ...(await sendRows(many)),
  ];
}

/** One commit that resets a full window: the spans that end in it. */
function resetRows(): readonly BenchRow[] {
  const pairs = Array.from({ length: ITEMS }, (_, index) => resetPair(index));
  const ended = () => pairs.flatMap(([before, after]) => endedSpans(before, after));
  const unchanged = () => pairs.flatMap(([before]) => endedSpans(before, { ...before }));
  return [
    row(`reset of ${ITEMS} items × ${JOBS} jobs: spans`, ended().length, 'spans'),
    row(
      `reset of ${ITEMS} items × ${JOBS} jobs: made in`,
      medianMs(() => void ended()),
      'ms',
    ),
    row(
      `${ITEMS} items touched, nothing ended`,
      medianMs(() => void unchanged()),
      'ms',
    ),
  ];
}

function resetPair(index: number): readonly [QueueItem, QueueItem] {
  const jobs = Array.from({ length: JOBS }, (_, job) => `job-${job}`);
  const story = itemStory({ seed: `reset-${index}` })
    .wait(5)
    .merge()
    .wait(9)
    .merged()
    .freeze(jobs)
    .wait(400);
  for (const job of jobs.slice(0, JOBS / 2)) story.start(job).wait(1);
  const before = story.wait(1000).item;
  return [before, story.reset().item];
}

async function sendRows(spans: readonly SpanRecord[]): Promise<readonly BenchRow[]> {
  await using sink = await startOtlpSink();
  const resource = resourceOf({
    serviceName: 'bench',
    serviceVersion: '0',
    instanceId: '1',
    hostName: 'h',
    component: 'all',
    extra: new Map(),
  });
  const exporter = otlpExporter({
    protocol: 'grpc',
    endpoint: sink.url,
    insecure: true,
    timeoutMs: 20_000,
    compression: 'none',
    resource,
    version: '0',
  });
  await exporter.send(spans.slice(0, 10));
  const cpu = process.cpuUsage();
  const start = performance.now();
  for (let from = 0; from < spans.length; from += 1000) {
    const outcome = await exporter.send(spans.slice(from, from + 1000));
    if (outcome.kind !== 'delivered') throw new Error(`not delivered: ${JSON.stringify(outcome)}`);
  }
  const ms = performance.now() - start;
  const used = process.cpuUsage(cpu);
  if (sink.spans.length !== spans.length + 10) throw new Error(`${sink.spans.length} spans arrived`);
  exporter.close();
  const bytes = sink.requests.reduce((sum, request) => sum + request.bytes, 0);
  return [
    row('span → collector, wall, both ends', (ms * 1000) / spans.length, 'µs/span'),
    row('span → collector, CPU, both ends', (used.user + used.system) / spans.length, 'µs/span'),
    row('size on the wire', bytes / sink.spans.length, 'bytes/span'),
  ];
}

/** Milliseconds of CPU per run, median of twenty groups after a warm-up: other processes on the machine do not count. */
function medianMs(work: () => void): number {
  const cpuMs = (runs: number) => {
    const before = process.threadCpuUsage();
    for (let run = 0; run < runs; run++) work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1000 / runs;
  };
  const once = Math.max(0.001, cpuMs(20));
  const runs = Math.max(1, Math.ceil(15 / once));
  const times = Array.from({ length: 20 }, () => cpuMs(runs));
  return times.sort((a, b) => a - b)[10] ?? Number.NaN;
}

function row(name: string, value: number, unit: string): BenchRow {
  return { name, value: Math.round(value * 100) / 100, unit };
}

if (import.meta.main) {
  for (const { name, value, unit } of await benchSpans())
    process.stdout.write(`${name.padEnd(48)} ${String(value).padStart(9)} ${unit}\n`);
}
