import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import { Secret } from '../../../../src/lib/secret.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import {
  type ExporterOptions,
  otlpExporter,
  type SpanExporter,
} from '../../../../src/tracing/otlp/exporter.ts';
import { probeEndpoint } from '../../../../src/tracing/otlp/probe-endpoint.ts';
import { resourceOf } from '../../../../src/tracing/otlp/resource.ts';
import { itemSpans } from '../../../../src/tracing/spans/item-spans.ts';
import { asArrived, checkTraces } from '../../../fake/check-traces.ts';
import { resetAndMergedStory } from '../../../fake/item-stories.ts';
import { type OtlpSink, type SinkOptions, startOtlpSink } from '../../../fake/otlp-sink.ts';

const spans = itemSpans(resetAndMergedStory().item);
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

const resource = resourceOf({
  serviceName: 'gatehouse',
  serviceVersion: '0.1.0',
  instanceId: 'i-1',
  hostName: 'host-1',
  component: 'scheduler',
  extra: new Map([
    ['host.name', 'from-environment'],
    ['deployment.environment.name', 'test'],
  ]),
});

function exporterTo(endpoint: string, options: Partial<ExporterOptions> = {}): SpanExporter {
  const base = {
    protocol: 'grpc',
    endpoint,
    insecure: true,
    timeoutMs: 5000,
    compression: 'none',
    resource,
    version: '0.1.0',
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
    for (const [index, span] of spans.entries()) {
      const arrived = sink.spans[index]!;
      const { kind: _kind, events: _events, ...expected } = { ...asArrived(span), kind: 0, events: 0 };
      expect(arrived).toMatchObject(expected);
      expect(arrived.attributes).toEqual(span.attributes);
      expect(arrived.events).toEqual(span.events.map(event => ({ ...event, at: BigInt(event.at) })));
      expect(arrived.flags & 1).toBe(1);
    }
    expect(sink.spans[0]).toMatchObject({ kind: 2, scope: 'gatehouse', start: 1795000000123456789n });
  });

  it('says who sends, the environment winning over the host name', async () => {
    const sink = await sinkWith();
    await exporterTo(sink.url).send(spans.slice(0, 1));
    expect(sink.spans[0]!.resource).toEqual({
      'service.name': 'gatehouse',
      'service.version': '0.1.0',
      'service.instance.id': 'i-1',
      'host.name': 'from-environment',
      'deployment.environment.name': 'test',
      'gatehouse.component': 'scheduler',
    });
  });

  it('compresses and sends headers when told to', async () => {
    const sink = await sinkWith();
    const exporter = exporterTo(sink.url, {
      compression: 'gzip',
      headers: new Map([['x-api-key', new Secret('letmein')]]),
    });
    await exporter.send(spans);
    expect(sink.requests[0]!.headers['x-api-key']).toBe('letmein');
    expect(sink.spans.length).toBe(spans.length);
  });

  it('takes an address without a scheme', async () => {
    const sink = await sinkWith();
    expect((await exporterTo(`127.0.0.1:${sink.port}`).send(spans.slice(0, 1))).kind).toBe('delivered');
  });

  it('counts a partial success as delivered and tells what was refused, of that request only', async () => {
    const sink = await sinkWith();
    sink.answerNext({ kind: 'partial', rejected: 2, message: 'too old' });
    const exporter = exporterTo(sink.url);
    const first = await exporter.send(spans.slice(0, 3));
    expect(first).toEqual({ kind: 'delivered', refused: { spans: 2, text: 'too old' } });
    expect(await exporter.send(spans.slice(0, 3))).toEqual({ kind: 'delivered', refused: undefined });
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

  it('gives up on a collector that does not answer, in the time it was given', async () => {
    const sink = await sinkWith();
    sink.answerNext({ kind: 'hang' });
    const before = performance.now();
    const outcome = await exporterTo(sink.url, { timeoutMs: 300 }).send(spans.slice(0, 1));
    expect(outcome.kind).toBe('again');
    expect(performance.now() - before).toBeLessThan(4000);
  });

  it('finds nobody listening to be worth another try', async () => {
    const sink = await startOtlpSink();
    sink.stop();
    expect((await exporterTo(sink.url, { timeoutMs: 1000 }).send(spans.slice(0, 1))).kind).toBe('again');
  });

  it('is told by the server that a message is too large', async () => {
    const sink = await sinkWith({ maxBytes: 2000 });
    expect((await exporterTo(sink.url).send(spans)).kind).toBe('too-large');
  });

  it('speaks TLS with a private authority and a client certificate', async () => {
    const files = selfSigned();
    const sink = await sinkWith({ tls: { ...files, clientCa: files.cert } });
    const tls = { ca: files.cert, cert: files.cert, key: files.key };
    const endpoint = `https://localhost:${sink.port}`;
    expect(await exporterTo(endpoint, { insecure: false, tls }).send(spans.slice(0, 2))).toMatchObject({
      kind: 'delivered',
    });
    const stranger = exporterTo(endpoint, { insecure: false, tls: { ca: files.cert }, timeoutMs: 1000 });
    expect((await stranger.send(spans.slice(0, 2))).kind).toBe('again');
  });

  it('never sends an array of mixed values, an object or a null, whatever it is given', async () => {
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

/** A certificate for localhost that is its own authority. */
function selfSigned(): { readonly cert: Buffer; readonly key: Buffer } {
  const directory = mkdtempSync(join(tmpdir(), 'gatehouse-tls-'));
  cleanups.push(() => rmSync(directory, { recursive: true }));
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const args = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-days',
    '2',
    '-keyout',
    key,
    '-out',
    cert,
    ...subject,
  ];
  execFileSync('openssl', args, { stdio: 'ignore' });
  return { cert: readFileSync(cert), key: readFileSync(key) };
}
