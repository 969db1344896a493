/** What gRPC and HTTP have in common, and what only one of them can get wrong. */
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { SpanId } from '../../../../src/lib/ids.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import { spansCodec } from '../../../../src/model/codec/records.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import { type ExporterOptions, otlpExporter } from '../../../../src/tracing/otlp/exporter.ts';
import type { SpanExporter } from '../../../../src/tracing/otlp/span-exporter.ts';
import { resources } from '../../../../src/tracing/resource.ts';
import { itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import { makeAuthority } from '../../../fake/certificates.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { INSTALLATION } from '../../../fake/installation.ts';
import { resetAndMergedStory } from '../../../fake/item-stories.ts';
import { virtualSender } from '../../../fake/otlp/virtual-sender.ts';
import { type OtlpSink, type SinkOptions, startOtlpSink } from '../../../fake/otlp-sink.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

const spans = itemSpans(resetAndMergedStory().item);
const one = spans.slice(0, 1);

type Protocol = ExporterOptions['protocol'];

function exporterTo(
  protocol: Protocol,
  endpoint: string,
  options: Partial<ExporterOptions> = {},
): SpanExporter {
  const base = { insecure: true, timeoutMs: 5000, compression: 'none', installation: INSTALLATION } as const;
  const exporter = otlpExporter({ ...base, protocol, endpoint, ...options });
  cleanups.push(() => exporter.close());
  return exporter;
}

async function sinkFor(protocol: Protocol, options: SinkOptions = {}): Promise<OtlpSink> {
  const sink = await startOtlpSink({ ...options, protocol: protocol === 'grpc' ? 'grpc' : 'http' });
  cleanups.push(() => sink[Symbol.asyncDispose]());
  return sink;
}

describe.each<Protocol>(['grpc', 'http/protobuf'])('%s', protocol => {
  it('brings a whole trace, exact to the nanosecond, with the flags a receiver wants', async () => {
    const sink = await sinkFor(protocol);
    expect(await exporterTo(protocol, sink.url).send(spans)).toEqual({
      kind: 'delivered',
      refused: undefined,
    });
    expect(checkTraces(sink.spans)).toEqual([]);
    const times = (arrived: readonly { spanId: string; start: bigint }[]) =>
      new Map(arrived.map(({ spanId, start }) => [spanId, start]));
    expect(times(sink.spans)).toEqual(times(spans.map(asArrived)));
    expect(new Set(sink.spans.map(span => [span.flags, span.dropped].join(' ')))).toEqual(
      new Set([`${0x101} 0`]),
    );
  });

  it('sends the same bytes each time', async () => {
    const sink = await sinkFor(protocol);
    const exporter = exporterTo(protocol, sink.url);
    await exporter.send(spans);
    await exporter.send(spans);
    expect(sink.requests[1]!.body.equals(sink.requests[0]!.body)).toBe(true);
  });

  it('says of each span which process made it, once for all of that process', async () => {
    const sink = await sinkFor(protocol);
    await exporterTo(protocol, sink.url).send(spans);
    const own = resources(INSTALLATION);
    const expected = new Map(spans.map(span => [span.spanId, own(span)]));
    expect(new Map(sink.spans.map(span => [span.spanId, span.resource]))).toEqual(expected);
    const components = new Set(sink.spans.map(span => span.resource['gatehouse.component']));
    expect(components).toEqual(new Set(['scheduler', 'merger', 'executor']));
    const groups = sink.spans.filter((span, at) => span.resource !== sink.spans[at - 1]?.resource);
    expect(groups.length).toBe(new Set(expected.values()).size);
  });

  it('lets the spans of others keep who made them, side by side with ours', async () => {
    const sink = await sinkFor(protocol);
    const theirs = (index: number): SpanRecord => ({
      ...spans[index]!,
      resource: { 'service.name': 'unit-tests', 'process.tags': ['a', 'b'] },
      scope: 'pytest',
      traceState: 'vendor=x,other=y',
    });
    await exporterTo(protocol, sink.url).send([theirs(0), spans[1]!, theirs(2)]);
    const arrived = sink.spans.map(({ spanId, resource, scope, traceState }) => {
      return [spanId, resource['service.name'], scope, traceState];
    });
    expect(arrived).toEqual([
      [spans[0]!.spanId, 'unit-tests', 'pytest', 'vendor=x,other=y'],
      [spans[2]!.spanId, 'unit-tests', 'pytest', 'vendor=x,other=y'],
      [spans[1]!.spanId, 'gatehouse', 'gatehouse', ''],
    ]);
    expect(sink.spans[0]!.resource['process.tags']).toEqual(['a', 'b']);
  });

  it('compresses and sends headers when configured', async () => {
    const sink = await sinkFor(protocol);
    const headers = new Map([['X-Api-Key', new Secret('letmein')]]);
    await exporterTo(protocol, sink.url, { compression: 'gzip', headers }).send(spans);
    expect(sink.requests[0]!.headers).toMatchObject({ 'x-api-key': 'letmein' });
    expect(sink.spans.length).toBe(spans.length);
  });

  it('reports the refused spans of that request only', async () => {
    const sink = await sinkFor(protocol);
    sink.answerNext({ kind: 'partial', rejected: 200, message: 'too old' });
    const exporter = exporterTo(protocol, sink.url);
    expect(await exporter.send(one)).toEqual({ kind: 'delivered', refused: { spans: 200, text: 'too old' } });
    expect(await exporter.send(one)).toEqual({ kind: 'delivered', refused: undefined });
  });

  it('finds a connection that breaks off worth another try', async () => {
    const sink = await sinkFor(protocol);
    sink.answerNext({ kind: 'reset' });
    const exporter = exporterTo(protocol, sink.url);
    expect((await exporter.send(one)).kind).toBe('again');
    expect((await exporter.send(one)).kind).toBe('delivered');
  });

  it('gives up on a collector that does not answer, and comes back over a new connection', async () => {
    const sink = await sinkFor(protocol);
    sink.answerNext({ kind: 'hang' });
    const exporter = exporterTo(protocol, sink.url, { timeoutMs: 1000 });
    expect((await exporter.send(one)).kind).toBe('again');
    expect((await exporter.send(one)).kind).toBe('delivered');
    expect(sink.connections).toBe(2);
  });

  it('gives up its requests when it is closed', async () => {
    const sink = await sinkFor(protocol);
    sink.answerAlways({ kind: 'hang' });
    const exporter = exporterTo(protocol, sink.url);
    const sending = exporter.send(one);
    await sink.waitForRequests(1);
    exporter.close();
    expect((await sending).kind).toBe('again');
  });

  it('retries when there is no listener', async () => {
    const sink = await sinkFor(protocol);
    sink.stop();
    expect((await exporterTo(protocol, sink.url).send(one)).kind).toBe('again');
  });

  it('learns that a request is too large', async () => {
    const sink = await sinkFor(protocol, { maxBytes: 2000 });
    expect((await exporterTo(protocol, sink.url).send(spans)).kind).toBe('too-large');
    expect(sink.spans).toEqual([]);
  });

  it('is not even handed what no collector takes', async () => {
    await using rig = await virtualSender({ protocol });
    const large = { ...spans[0]!, name: 'x'.repeat(4 * 1024 * 1024) };
    expect(await rig.sender.deliver([spansCodec.encode([large])])).toEqual({ lost: 'too-large' });
    expect(rig.sink.connections).toBe(0);
  });

  it('knows of many answers, in any order and to several exporters, which is for which request', async () => {
    const sink = await sinkFor(protocol);
    const total = 8;
    const go = Array.from({ length: total }, () => Promise.withResolvers<void>());
    for (const [index, { promise }] of go.entries()) {
      const answer = { kind: 'partial', rejected: index, message: `answer ${index}` } as const;
      sink.answerNext({ kind: 'slow', until: promise, answer });
    }
    const exporters = [exporterTo(protocol, sink.url), exporterTo(protocol, sink.url)];
    const outcomes = new Map(
      spans.slice(0, total).map((span, index) => [span.spanId, exporters[index % 2]!.send([span])]),
    );
    await sink.waitForRequests(total);
    for (const { resolve } of go.toReversed()) resolve();
    for (const [index, request] of sink.requests.entries()) {
      expect(await outcomes.get(request.spans[0]!.spanId as SpanId)).toEqual({
        kind: 'delivered',
        refused: { spans: index, text: `answer ${index}` },
      });
    }
  });

  it('finds a collector that is back with the first request, however often it was away before', async () => {
    const sink = await sinkFor(protocol);
    const exporter = exporterTo(protocol, sink.url);
    expect((await exporter.send(one)).kind).toBe('delivered');
    sink.stop();
    for (let tries = 0; tries < 4; tries++) expect((await exporter.send(one)).kind).toBe('again');
    await sinkFor(protocol, { port: sink.port });
    expect((await exporter.send(one)).kind).toBe('delivered');
  });

  it('adds no header from the environment to the ones it is given', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=for-another-collector');
    vi.stubEnv('OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'x-api-key=for-another-collector');
    cleanups.push(() => vi.unstubAllEnvs());
    const sink = await sinkFor(protocol);
    const headers = new Map([['x-mine', new Secret('letmein')]]);
    await exporterTo(protocol, sink.url, { headers }).send(one);
    expect(sink.requests[0]!.headers['x-mine']).toBe('letmein');
    expect(JSON.stringify(sink.requests[0]!.headers)).not.toContain('another');
    expect(process.env.OTEL_EXPORTER_OTLP_HEADERS).toBe('authorization=for-another-collector');
  });

  it('delivers to a collector whose answer cannot be read, and says so', async () => {
    const sink = await sinkFor(protocol);
    sink.answerNext({ kind: 'body', body: Buffer.of(0x0a, 0x7f) });
    expect(await exporterTo(protocol, sink.url).send(one)).toEqual({
      kind: 'delivered',
      refused: { spans: 0, text: 'the answer cannot be read; is this a collector?' },
    });
  });

  it('speaks TLS with a private authority and a client certificate', async () => {
    const authority = makeAuthority('collectors');
    const server = authority.issue('collector');
    const client = authority.issue('gatehouse');
    const sink = await sinkFor(protocol, { tls: { ...server, clientCa: authority.cert } });
    const trusted = { insecure: false, tls: { ca: authority.cert, ...client } };
    expect((await exporterTo(protocol, sink.url, trusted).send(one)).kind).toBe('delivered');
    const stranger = { insecure: false, tls: { ca: authority.cert }, timeoutMs: 1000 };
    expect((await exporterTo(protocol, sink.url, stranger).send(one)).kind).toBe('again');
    const distrustful = { insecure: false, tls: { ca: makeAuthority('others').cert }, timeoutMs: 1000 };
    expect((await exporterTo(protocol, sink.url, distrustful).send(one)).kind).toBe('again');
  });

  it('says at once when a TLS file holds something else', () => {
    const tls = { ca: Buffer.from('x'), cert: Buffer.from('y'), key: Buffer.from('z') };
    expect(() => exporterTo(protocol, 'https://localhost:1', { insecure: false, tls })).toThrow();
  });
});

describe('grpc alone', () => {
  it('says who it is, and which connection this is when it is not the first', async () => {
    const sink = await sinkFor('grpc');
    sink.answerNext({ kind: 'status', code: status.UNAVAILABLE });
    const exporter = exporterTo('grpc', sink.url);
    await exporter.send(one);
    await exporter.send(one);
    expect(sink.requests.map(request => request.headers['user-agent'])).toEqual([
      expect.stringMatching(/^gatehouse\/0\.1\.0 OTel/),
      expect.stringMatching(/^gatehouse\/0\.1\.0 \(connection 2\) OTel/),
    ]);
  });

  it('leaves a connection that failed at once, while other requests still hang on it', async () => {
    const sink = await sinkFor('grpc');
    sink.answerNext({ kind: 'hang' }, { kind: 'status', code: status.UNAVAILABLE });
    const exporter = exporterTo('grpc', sink.url);
    const hanging = exporter.send(one);
    await sink.waitForRequests(1);
    await exporter.send(one);
    expect((await exporter.send(one)).kind).toBe('delivered');
    expect(sink.connections).toBe(2);
    exporter.close();
    expect((await hanging).kind).toBe('again');
  });
});

describe('http/protobuf alone', () => {
  it('measures what it has encoded before it sends it', async () => {
    const sink = await sinkFor('http/protobuf');
    const large = { ...spans[0]!, name: 'x'.repeat(4 * 1024 * 1024) };
    expect((await exporterTo('http/protobuf', sink.url).send([large])).kind).toBe('too-large');
    expect(sink.connections).toBe(0);
  });

  it('posts protobuf to the whole URL, over connections it keeps', async () => {
    const sink = await sinkFor('http/protobuf');
    const exporter = exporterTo('http/protobuf', `${sink.url}/otlp/v1/traces?tenant=a`);
    await exporter.send(one);
    await exporter.send(one);
    expect(sink.requests[0]).toMatchObject({
      method: 'POST',
      path: '/otlp/v1/traces?tenant=a',
      headers: { 'content-type': 'application/x-protobuf', 'user-agent': 'gatehouse/0.1.0' },
    });
    expect(sink.connections).toBe(1);
  });

  it('treats a collector that closes an idle connection as one that works', async () => {
    const sink = await sinkFor('http/protobuf');
    const exporter = exporterTo('http/protobuf', sink.url);
    await exporter.send(one);
    sink.answerNext({ kind: 'reset' });
    expect((await exporter.send(one)).kind).toBe('delivered');
    expect(sink.requests.length).toBe(3);
  });

  it('does not follow a redirect', async () => {
    const elsewhere = await sinkFor('http/protobuf');
    const sink = await sinkFor('http/protobuf');
    sink.answerNext({ kind: 'status', code: 307, headers: { location: `${elsewhere.url}/v1/traces` } });
    expect(await exporterTo('http/protobuf', sink.url).send(one)).toMatchObject({ kind: 'lost' });
    expect(elsewhere.connections).toBe(0);
  });

  it('waits as long as Retry-After says', async () => {
    const sink = await sinkFor('http/protobuf');
    sink.answerNext({ kind: 'status', code: 503, retryAfterMs: 3000 });
    expect(await exporterTo('http/protobuf', sink.url).send(one)).toEqual({
      kind: 'again',
      afterMs: 3000,
      text: 'HTTP 503: status 503',
    });
  });

  it('reads only the beginning of an answer that does not end', async () => {
    const sink = await sinkFor('http/protobuf');
    sink.answerNext({ kind: 'body', body: Buffer.alloc(50_000_000, 0x2a) });
    expect((await exporterTo('http/protobuf', sink.url).send(one)).kind).toBe('delivered');
  });

  it('takes a collector at its word that stops in the middle of its answer', async () => {
    const sink = await sinkFor('http/protobuf');
    sink.answerNext({ kind: 'body', body: Buffer.of(0x0a), unfinished: true });
    expect((await exporterTo('http/protobuf', sink.url).send(one)).kind).toBe('delivered');
  });
});
