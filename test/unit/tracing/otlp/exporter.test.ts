import { createServer } from 'node:net';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import type { SpanRecord } from '../../../../src/model/span.ts';
import { type ExporterOptions, otlpExporter } from '../../../../src/tracing/otlp/exporter.ts';
import { probeEndpoint } from '../../../../src/tracing/otlp/probe-endpoint.ts';
import type { SpanExporter } from '../../../../src/tracing/otlp/span-exporter.ts';
import { itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { INSTALLATION } from '../../../fake/installation.ts';
import { resetAndMergedStory } from '../../../fake/item-stories.ts';
import { type OtlpSink, type SinkOptions, startOtlpSink } from '../../../fake/otlp-sink.ts';

const spans = itemSpans(resetAndMergedStory().item);
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

function exporterTo(endpoint: string, options: Partial<ExporterOptions> = {}): SpanExporter {
  const base = {
    protocol: 'grpc',
    endpoint,
    insecure: true,
    timeoutMs: 5000,
    compression: 'none',
    installation: INSTALLATION,
  } as const;
  const exporter = otlpExporter({ ...base, ...options });
  cleanups.push(() => exporter.close());
  return exporter;
}

async function sinkWith(options: SinkOptions = {}): Promise<OtlpSink> {
  const sink = await startOtlpSink(options);
  cleanups.push(() => sink[Symbol.asyncDispose]());
  return sink;
}

describe('the exporter', () => {
  it('brings a whole trace over the wire, exact to the nanosecond', async () => {
    const sink = await sinkWith();
    expect(await exporterTo(sink.url).send(spans)).toEqual({ kind: 'delivered', refused: undefined });
    expect(sink.spans.length).toBe(spans.length);
    expect(checkTraces(sink.spans)).toEqual([]);
    const byId = new Map(sink.spans.map(span => [span.spanId, span]));
    for (const span of spans) {
      const arrived = byId.get(span.spanId)!;
      const { kind: _kind, events: _events, ...expected } = { ...asArrived(span), kind: 0, events: 0 };
      expect(arrived).toMatchObject(expected);
      expect(arrived.attributes).toEqual(span.attributes);
      expect(arrived.events).toEqual(span.events.map(event => ({ ...event, at: BigInt(event.at) })));
      expect(arrived.flags & 1).toBe(1);
    }
    expect(sink.spans[0]).toMatchObject({ kind: 2, scope: 'gatehouse', start: 1795000000123456789n });
  });

  it('takes an address without a scheme', async () => {
    const sink = await sinkWith();
    expect((await exporterTo(`127.0.0.1:${sink.port}`).send(spans.slice(0, 1))).kind).toBe('delivered');
  });

  it.each([
    ['UNAVAILABLE', 'again'],
    ['DEADLINE_EXCEEDED', 'again'],
    ['ABORTED', 'again'],
    ['OUT_OF_RANGE', 'again'],
    ['CANCELLED', 'again'],
    ['DATA_LOSS', 'again'],
    ['INVALID_ARGUMENT', 'lost'],
    ['UNIMPLEMENTED', 'lost'],
    ['INTERNAL', 'lost'],
    ['UNAUTHENTICATED', 'lost'],
    ['PERMISSION_DENIED', 'lost'],
    ['RESOURCE_EXHAUSTED', 'lost'],
  ] as const)('classifies %s as %s', async (name, kind) => {
    const sink = await sinkWith();
    sink.answerNext({ kind: 'status', code: status[name] });
    expect((await exporterTo(sink.url).send(spans.slice(0, 1))).kind).toBe(kind);
  });

  it('waits as long as RetryInfo says, also for RESOURCE_EXHAUSTED', async () => {
    const sink = await sinkWith();
    sink.answerNext(
      { kind: 'status', code: status.RESOURCE_EXHAUSTED, retryAfterMs: 2500 },
      { kind: 'status', code: status.UNAVAILABLE, retryAfterMs: 70_000 },
    );
    const exporter = exporterTo(sink.url);
    expect(await exporter.send(spans.slice(0, 1))).toMatchObject({ kind: 'again', afterMs: 2500 });
    expect(await exporter.send(spans.slice(0, 1))).toMatchObject({ kind: 'again', afterMs: 70_000 });
  });

  it('never sends an array of mixed values, an object or a null, for any input', async () => {
    const sink = await sinkWith();
    const odd: SpanRecord = { ...spans[0]!, attributes: { a: ['x', 'y'], b: 1.5, c: false, d: '' } };
    await exporterTo(sink.url).send([odd]);
    expect(sink.spans[0]!.attributes).toEqual({ a: ['x', 'y'], b: 1.5, c: false, d: '' });
  });
});

describe('looking for a collector', () => {
  it('finds one that listens and does not find one that does not', async () => {
    const sink = await sinkWith();
    expect(await probeEndpoint('127.0.0.1', sink.port, 1000)).toBe(true);
    const closed = createServer().listen(0, '127.0.0.1');
    await new Promise(resolve => closed.once('listening', resolve));
    const address = closed.address();
    await new Promise(resolve => closed.close(resolve));
    expect(await probeEndpoint('127.0.0.1', typeof address === 'object' ? address!.port : 0, 1000)).toBe(
      false,
    );
  });
});
