/**
 * What tracing costs: a record made into spans, the spans written as an outbox row, read again, encoded, delivered; a reset of 20
 * items × 10 jobs; and what all of it means for a gate that is busy.
 *
 *     node test/bench/spans.ts
 *
 * Everything runs in one process: the sending figures contain the collector's receiving, but not its decoding.
 */
import { spansCodec } from '../../src/model/codec/records.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { encodeRequest } from '../../src/tracing/otlp/encode-request.ts';
import { endedSpans, itemSpans } from '../../src/tracing/spans/item-spans.ts';
import { INSTALLATION } from '../fake/installation.ts';
import { resetAndMergedStory } from '../fake/item-stories.ts';
import { itemStory } from '../fake/queue-item.ts';
import { extraWrites, outboxThroughput } from './outbox-throughput.ts';

export interface BenchRow {
  readonly name: string;
  readonly value: number;
  readonly unit: string;
}

const ITEMS = 20;
const JOBS = 10;
/** What a busy gate lets through, for the share of CPU: a change every ten seconds, each reset once. */
const ITEMS_PER_HOUR = 360;

export async function benchSpans(): Promise<readonly BenchRow[]> {
  const items = Array.from(
    { length: 50 },
    (_, index) => resetAndMergedStory({ seed: `bench-${index}` }).item,
  );
  const spans = items.flatMap(item => itemSpans(item));
  const stored = spansCodec.encode(spans);
  const request = encodeRequest(spans, INSTALLATION);
  const perSpan = (work: () => void) => (medianMs(work) * 1000) / spans.length;
  const make = perSpan(() => void items.flatMap(item => itemSpans(item)));
  const store = perSpan(() => void spansCodec.encode(spans));
  const throughput = await outboxThroughput(
    Array.from({ length: 4 }, () => items.map(item => itemSpans(item))).flat(),
  );
  const deliver = Math.max(...throughput.filter(each => each.unit === 'µs/span').map(each => each.value));
  const spansPerHour = ITEMS_PER_HOUR * (spans.length / items.length);
  return [
    row('record → span', make, 'µs/span'),
    row('span → outbox row', store, 'µs/span'),
    row(
      'outbox row → span',
      perSpan(() => void spansCodec.decode(stored)),
      'µs/span',
    ),
    row(
      'span → request',
      perSpan(() => void encodeRequest(spans, INSTALLATION)),
      'µs/span',
    ),
    row('size in the outbox', stored.length / spans.length, 'bytes/span'),
    row('size on the wire', request.length / spans.length, 'bytes/span'),
    ...throughput,
    row(
      `share of one core at ${ITEMS_PER_HOUR} items/h (${Math.round(spansPerHour)} spans/h), all of the above`,
      ((make + store + deliver) * spansPerHour) / 3.6e9 / 0.01,
      '%',
    ),
    ...resetRows(),
    ...(await extraWrites()),
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
