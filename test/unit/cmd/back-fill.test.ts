import { beforeEach, describe, expect, test } from 'vitest';
import {
  type BackFillProgress,
  backFill,
  type OtherTraces,
  PATIENCE_MS,
} from '../../../src/cmd/back-fill.ts';
import { derivedUuid, traceIdOf } from '../../../src/lib/ids.ts';
import { spansCodec } from '../../../src/model/codec/records.ts';
import type { QueueItem } from '../../../src/model/queue-item.ts';
import type { SpanRecord } from '../../../src/model/span.ts';
import type { SendOutcome } from '../../../src/tracing/otlp/sender.ts';
import { senderCounters } from '../../../src/tracing/otlp/sender-health.ts';
import { createTraceJudge } from '../../../src/tracing/otlp/trace-judge.ts';
import { itemSpans } from '../../../src/tracing/spans/item-spans.ts';
import { failedStory } from '../../fake/item-stories.ts';
import { manualClock } from '../store/test-bench.ts';

/** Three pages of two items each; every other one is not sampled. */
const ITEMS: readonly QueueItem[] = ['a', 'b', 'c', 'd', 'e', 'f'].map((seed, index) => ({
  ...failedStory({ seed }).item,
  sampled: index % 2 === 0,
}));
const SPANS = itemSpans(ITEMS[0]!).length;
const NO_TRACES: OtherTraces = { kind: 'all', page: async () => ({ spans: [], next: null }) };
/** Of an event. */
const traceOf = (seed: string): SpanRecord => ({
  ...itemSpans(ITEMS[0]!)[0]!,
  traceId: traceIdOf(derivedUuid(seed)),
});

let clock: ReturnType<typeof manualClock>;
let stop: AbortController;
/** Ids of the items whose spans were delivered. */
let arrived: string[];
let reported: BackFillProgress[];
let pauses: number[];

beforeEach(() => {
  clock = manualClock();
  stop = new AbortController();
  arrived = [];
  reported = [];
  pauses = [];
});

/** @param answer of the collector to the delivery with this number, from 0. */
function run({
  all = false,
  traces = NO_TRACES,
  answer,
}: {
  all?: boolean;
  traces?: OtherTraces;
  answer?: ((delivery: number) => SendOutcome) | undefined;
}) {
  const counters = senderCounters();
  let deliveries = 0;
  return backFill({
    page: async after => ({ items: ITEMS.slice(after, after + 2), next: after + 2 < 6 ? after + 2 : null }),
    spansOf: item => itemSpans(item),
    traces,
    sender:
      answer === undefined
        ? undefined
        : {
            async deliver(rows) {
              const given = answer(deliveries++);
              const spans = rows.flatMap(row => spansCodec.decode(row));
              if (given === 'delivered') {
                counters.delivered(spans.length, clock.now());
                arrived.push(...new Set(spans.map(span => span.traceId)));
              } else if ('retryAfterMs' in given) counters.failed(clock.now(), 'UNAVAILABLE');
              return given;
            },
            health: () => ({
              ...counters.read(0),
              traces: { hours: [], totals: createTraceJudge(clock).totals() },
            }),
          },
    all,
    clock,
    pause: async ms => {
      pauses.push(ms);
      clock.advance(ms);
    },
    signal: stop.signal,
    onProgress: progress => void reported.push(progress),
  });
}

const uuids = (...indices: readonly number[]) => indices.map(index => ITEMS[index]?.uuid);

describe('a back-fill of what is no item', () => {
  test('sends every page of it, before the items', async () => {
    const spans = ['one', 'two', 'three'].map(traceOf);
    const traces: OtherTraces = {
      kind: 'all',
      page: async after => ({ spans: spans.slice(after, after + 2), next: after === 0 ? 2 : null }),
    };
    const outcome = await run({ traces, answer: () => 'delivered' });
    expect(outcome).toMatchObject({ kind: 'done', items: 3, traces: 3, spans: 3 * SPANS + 3 });
    expect(arrived).toEqual([...spans.map(({ traceId }) => traceId), ...uuids(0, 2, 4)]);
  });

  test('sends what the wanted items came of, when only some are wanted', async () => {
    const asked: string[] = [];
    const traces: OtherTraces = {
      kind: 'of-items',
      async find(ids) {
        asked.push(...ids);
        return ids.length === 0 ? [] : [traceOf('event')];
      },
    };
    await run({ traces, answer: () => 'delivered' });
    const origins = [0, 2, 4].flatMap(index => {
      const { eventSpan, tenantSpan } = ITEMS[index]!.origin;
      return [eventSpan.traceId, tenantSpan.traceId];
    });
    expect(new Set(asked)).toEqual(new Set(origins));
    expect(arrived[0]).toBe(traceOf('event').traceId);
  });

  test('begins with it again when the collector does not take it', async () => {
    const traces: OtherTraces = { kind: 'all', page: async () => ({ spans: [traceOf('one')], next: null }) };
    const outcome = await run({ traces, answer: () => ({ retryAfterMs: 60_000 }) });
    expect(outcome).toMatchObject({ kind: 'gave-up', items: 0, traces: 0, upTo: null });
  });
});

describe('a back-fill', () => {
  test('sends what sampling chose, page by page, and counts the rest', async () => {
    const outcome = await run({ answer: () => 'delivered' });
    expect(outcome).toMatchObject({ kind: 'done', items: 3, spans: 3 * SPANS, unsampled: 3, problem: null });
    expect(arrived).toEqual(uuids(0, 2, 4));
    expect(outcome.upTo).toBe(ITEMS[4]?.phase.phase === 'left' ? ITEMS[4].phase.at : undefined);
  });

  test('sends everything when it is asked to', async () => {
    expect(await run({ all: true, answer: () => 'delivered' })).toMatchObject({ items: 6, unsampled: 0 });
    expect(arrived).toEqual(uuids(0, 1, 2, 3, 4, 5));
  });

  test('counts what it would send when it sends nothing', async () => {
    expect(await run({})).toMatchObject({ kind: 'done', items: 3, spans: 3 * SPANS });
  });

  test('tries again what was not taken, as late as the sender says, and reports the problem meanwhile', async () => {
    const outcome = await run({ answer: n => (n === 1 || n === 2 ? { retryAfterMs: 700 } : 'delivered') });
    expect(outcome).toMatchObject({ kind: 'done', items: 3 });
    expect(arrived).toEqual(uuids(0, 2, 4));
    expect(pauses).toEqual([700, 700]);
    expect(reported.map(({ items, problem }) => `${items} ${problem}`)).toContain('1 UNAVAILABLE');
    expect(reported.at(-1)?.problem).toBeNull();
  });

  test('goes on after spans that will never be taken', async () => {
    expect(await run({ answer: n => (n === 0 ? { lost: 'refused' } : 'delivered') })).toMatchObject({
      kind: 'done',
      items: 3,
    });
    expect(arrived).toEqual(uuids(2, 4));
  });

  test('gives up when the collector takes nothing for ten minutes, and says how far it came', async () => {
    const outcome = await run({ answer: n => (n === 0 ? 'delivered' : { retryAfterMs: 60_000 }) });
    expect(outcome).toMatchObject({ kind: 'gave-up', items: 1, problem: 'UNAVAILABLE' });
    expect(pauses).toHaveLength(PATIENCE_MS / 60_000 + 1);
  });

  test('stops when aborted, in the middle of a retry, too', async () => {
    const outcome = await run({
      answer(n) {
        if (n === 1) stop.abort();
        return n === 0 ? 'delivered' : { retryAfterMs: 100 };
      },
    });
    expect(outcome).toMatchObject({ kind: 'interrupted', items: 1 });
    expect(pauses).toEqual([]);
  });
});
