import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { type Clock, fromMilliseconds } from '../../../../src/lib/clock.ts';
import { derivedSpanId } from '../../../../src/lib/ids.ts';
import type { Log } from '../../../../src/lib/log.ts';
import { spansCodec } from '../../../../src/model/codec/records.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import type { ExportOutcome } from '../../../../src/tracing/otlp/export-outcome.ts';
import { otlpExporter } from '../../../../src/tracing/otlp/exporter.ts';
import { estimatedBytes, packSpans } from '../../../../src/tracing/otlp/request-size.ts';
import { type SpanSender, spanSender } from '../../../../src/tracing/otlp/sender.ts';
import type { SpanExporter } from '../../../../src/tracing/otlp/span-exporter.ts';
import { itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import { checkTraces } from '../../../fake/check-traces.ts';
import { INSTALLATION } from '../../../fake/installation.ts';
import { resetAndMergedStory } from '../../../fake/item-stories.ts';
import { newerRecord } from '../../../fake/newer-record.ts';
import { startOtlpSink } from '../../../fake/otlp-sink.ts';
import { itemStory } from '../../../fake/queue-item.ts';
import { slowness } from '../../../fake/slowness.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const spans = itemSpans(resetAndMergedStory().item);
const row = (...some: readonly SpanRecord[]) => spansCodec.encode(some);

interface Rig {
  readonly sender: SpanSender;
  readonly logged: string[];
  /** Lets time pass. */
  wait(ms: number): void;
}

function rig(exporter: SpanExporter): Rig {
  const logged: string[] = [];
  let ms = 0;
  const clock: Clock = { now: () => fromMilliseconds(1_795_000_000_000 + ms), monotonic: () => ms };
  const note = (_facts: object, text: string) => void logged.push(text);
  const log: Log = { debug: note, info: note, warn: note, error: note, child: () => log };
  const sender = spanSender({ exporter, clock, log, random: () => 0.999999, backlog: () => 7 });
  return {
    sender,
    logged,
    wait: amount => {
      ms += amount;
    },
  };
}

/** An exporter with given answers that records its calls. */
function scripted(...answers: readonly ExportOutcome[]) {
  const sent: (readonly SpanRecord[])[] = [];
  const rest = [...answers];
  const exporter: SpanExporter = {
    send: async request => {
      sent.push(request);
      return rest.shift() ?? { kind: 'delivered', refused: undefined };
    },
    close: () => undefined,
  };
  return { exporter, sent };
}

const AGAIN: ExportOutcome = {
  kind: 'again',
  afterMs: undefined,
  text: 'no connection to https://u:pw@collector',
};

describe('the sender', () => {
  it('delivers rows and counts their spans', async () => {
    const { exporter, sent } = scripted();
    const { sender } = rig(exporter);
    expect(await sender.deliver([row(...spans.slice(0, 3)), row(...spans.slice(3, 5))])).toBe('delivered');
    expect(sent).toEqual([spans.slice(0, 5)]);
    expect(sender.health()).toMatchObject({
      state: 'ok',
      sent: 5,
      lost: {},
      failedRequests: 0,
      backlog: 7,
      lastError: null,
    });
  });

  it('never sends a span that is still open', async () => {
    const { exporter, sent } = scripted();
    expect(await rig(exporter).sender.deliver([row(...itemSpans(itemStory().item))])).toBe('delivered');
    expect(sent).toEqual([]);
  });

  it('asks for patience, longer each time, and comes back', async () => {
    const { exporter, sent } = scripted(AGAIN, AGAIN, AGAIN);
    const { sender, logged, wait } = rig(exporter);
    const waits: number[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      const outcome = await sender.deliver([row(spans[0]!)]);
      if (outcome === 'delivered' || !('retryAfterMs' in outcome)) throw new Error('delivered');
      waits.push(Math.round(outcome.retryAfterMs));
      // Other batches get the same answer without a request.
      expect(await sender.deliver([row(spans[1]!)])).toEqual(outcome);
      wait(outcome.retryAfterMs);
    }
    expect(waits).toEqual([500, 1000, 2000]);
    expect(sent.length).toBe(3);
    expect(sender.health()).toMatchObject({ state: 'failing', failedRequests: 3 });
    expect(await sender.deliver([row(spans[0]!)])).toBe('delivered');
    expect(sender.health().state).toBe('ok');
    expect(logged).toEqual([
      'the collector does not take spans; they wait in the outbox',
      'the collector takes spans again',
    ]);
    expect(JSON.stringify(sender.health())).not.toContain('pw@');
  });

  it('waits at least as long as the collector asks', async () => {
    const { exporter } = scripted({ kind: 'again', afterMs: 42_000, text: 'busy' });
    expect(await rig(exporter).sender.deliver([row(spans[0]!)])).toEqual({ retryAfterMs: 42_000 });
  });

  it('loses what the collector will never take, once, and says why', async () => {
    const { exporter } = scripted({ kind: 'lost', reason: 'refused', text: 'INVALID_ARGUMENT' });
    const { sender } = rig(exporter);
    expect(await sender.deliver([row(...spans.slice(0, 4))])).toEqual({ lost: 'refused' });
    expect(sender.health().lost).toEqual({ refused: 4 });
    expect(await sender.deliver([row(spans[5]!)])).toBe('delivered');
  });

  it('cuts a request in halves until the pieces fit', async () => {
    const exporter: SpanExporter = {
      send: async request =>
        request.length > 3
          ? { kind: 'too-large', text: 'larger than max' }
          : { kind: 'delivered', refused: undefined },
      close: () => undefined,
    };
    const { sender } = rig(exporter);
    expect(await sender.deliver([row(...spans.slice(0, 20))])).toBe('delivered');
    expect(sender.health()).toMatchObject({ sent: 20, lost: {} });
  });

  it('sends only the rest of a batch that got through in part', async () => {
    const big = Array.from({ length: 10_000 }, (_, index) => spans[index % spans.length]!).map(
      (span, index) => ({
        ...span,
        spanId: derivedSpanId(span.spanId, 'big', index),
      }),
    );
    const { exporter, sent } = scripted({ kind: 'delivered', refused: undefined }, AGAIN);
    const { sender, wait } = rig(exporter);
    const outcome = await sender.deliver([row(...big)]);
    expect(outcome).toMatchObject({ retryAfterMs: expect.any(Number) });
    wait(10_000);
    expect(await sender.deliver([row(...big)])).toBe('delivered');
    const taken = sender.health().sent;
    expect(taken).toBe(10_000);
    const [first] = sent;
    expect(sent.slice(1).flat().length).toBeLessThan(2 * (10_000 - first!.length) + 1);
    expect(sent.slice(2).flat()).not.toContainEqual(first![0]);
  }, 20_000);

  it('counts an unreadable row and goes on', async () => {
    const { exporter } = scripted();
    const { sender } = rig(exporter);
    expect(await sender.deliver([Buffer.from('nonsense'), row(spans[0]!)])).toEqual({ lost: 'unreadable' });
    expect(sender.health()).toMatchObject({ sent: 1, lost: { unreadable: 1 } });
    sender.noteLost('too-old', 12);
    expect(sender.health().lost).toEqual({ unreadable: 1, 'too-old': 12 });
  });

  it('leaves rows of a newer version to an upgraded sender, and sends nothing of their batch', async () => {
    const { exporter, sent } = scripted();
    const { sender } = rig(exporter);
    const rows = [row(spans[0]!), newerRecord(spansCodec)];
    await expect(sender.deliver(rows)).rejects.toThrow(`version ${spansCodec.version + 1}`);
    expect(sent).toEqual([]);
    expect(sender.health()).toMatchObject({ sent: 0, lost: {} });
  });

  it('logs partial successes once and counts them', async () => {
    const part: ExportOutcome = { kind: 'delivered', refused: { spans: 1, text: 'odd' } };
    const { exporter } = scripted(part, part);
    const { sender, logged } = rig(exporter);
    await sender.deliver([row(...spans.slice(0, 3))]);
    await sender.deliver([row(spans[3]!)]);
    expect(sender.health()).toMatchObject({
      sent: 2,
      requests: 2,
      partialSuccesses: 2,
      lost: { rejected: 2 },
      failedRequests: 0,
    });
    expect(logged.length).toBe(1);
  });

  it('ends in bounded time while the collector hangs, and leaves the rows to the next start', async () => {
    const never = Promise.withResolvers<ExportOutcome>();
    const { sender } = rig({ send: () => never.promise, close: () => never.resolve(AGAIN) });
    const delivery = sender.deliver([row(spans[0]!)]);
    const before = performance.now();
    await sender.close(50);
    expect(performance.now() - before).toBeLessThan(2000 * slowness());
    expect(await delivery).toMatchObject({ retryAfterMs: expect.any(Number) });
    expect(await sender.deliver([row(spans[0]!)])).toMatchObject({ retryAfterMs: expect.any(Number) });
  });

  it('keeps every request small enough by estimate, in order', () => {
    const wide = Array.from({ length: 5000 }, (_, index) => ({
      ...spans[0]!,
      name: `x${index}`,
      attributes: { text: 'ü'.repeat(1000) },
    }));
    const { requests, tooLarge } = packSpans(wide);
    expect(requests.length).toBeGreaterThan(2);
    expect(requests.flat()).toEqual(wide);
    for (const request of requests)
      expect(request.reduce((sum, span) => sum + estimatedBytes(span), 0)).toBeLessThanOrEqual(3_500_000);
    expect(tooLarge).toEqual([]);
    expect(packSpans([{ ...spans[0]!, name: 'x'.repeat(4_000_000) }]).tooLarge.length).toBe(1);
  });
});

describe('the sender and a real collector', () => {
  it('brings everything over an outage and a lost answer, and nothing differs', async () => {
    await using sink = await startOtlpSink();
    sink.answerNext(
      { kind: 'status', code: status.UNAVAILABLE },
      { kind: 'take-then-fail', code: status.UNAVAILABLE },
      { kind: 'status', code: status.ABORTED, retryAfterMs: 10 },
    );
    const options = {
      protocol: 'grpc',
      endpoint: sink.url,
      insecure: true,
      timeoutMs: 3000,
      compression: 'gzip',
      installation: INSTALLATION,
    } as const;
    const { sender, wait } = rig(otlpExporter(options));
    cleanups.push(() => sender.close(100));
    for (let tries = 0; ; tries++) {
      const outcome = await sender.deliver([row(...spans)]);
      if (outcome === 'delivered') break;
      if (tries > 5 || !('retryAfterMs' in outcome)) throw new Error(JSON.stringify(outcome));
      wait(outcome.retryAfterMs);
    }
    expect(sink.requests.length).toBe(4);
    expect(checkTraces(sink.spans, { repeatsAllowed: true })).toEqual([]);
    expect(new Set(sink.spans.map(span => span.spanId)).size).toBe(spans.length);
  });
});
