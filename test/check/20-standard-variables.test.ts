/**
 * Check 20: the standard `OTEL_*` variables mean here what the OpenTelemetry specification says: seen from the collector's side,
 * by URL, headers and body.
 *
 * From the settings file and the environment to the wire all is real: settings, TLS files, sender, both protocols. One row of the
 * outbox handed to the sender stands in for the running gate.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSpanSender } from '../../src/cmd/service/span-delivery.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { showOptionProblem } from '../../src/lib/option-reader.ts';
import { spansCodec } from '../../src/model/codec/records.ts';
import { parseSettings } from '../../src/settings/parse-settings.ts';
import type { TracingSettings } from '../../src/settings/tracing-settings.ts';
import { itemSpans } from '../../src/tracing/spans/item-spans.ts';
import { makeAuthority } from '../fake/certificates.ts';
import { resetAndMergedStory } from '../fake/item-stories.ts';
import { type OtlpSink, type SinkRequest, startOtlpSink } from '../fake/otlp-sink.ts';
import { SILENT } from '../fake/silent-log.ts';

const spans = itemSpans(resetAndMergedStory().item).slice(0, 20);
const HTTP = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf' };

type Environment = Readonly<Record<string, string>>;

function tracingOf(environment: Environment, lines: readonly string[]): TracingSettings {
  const text = ['[scheduler]', 'tenant_config = t.yaml', '[tracing]', ...lines].join('\n');
  const content = new TextEncoder().encode(text);
  const parsed = parseSettings({ content, file: 'gatehouse.conf', directory: '/etc/gatehouse', environment });
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(showOptionProblem).join('\n'));
  return parsed.settings.tracing;
}

/** What a sender that was set up so sends to the sink. */
async function sentTo(
  sink: OtlpSink,
  environment: Environment,
  lines: readonly string[] = [],
): Promise<SinkRequest> {
  const settings = tracingOf(environment, lines);
  if (settings.kind === 'off') throw new Error(settings.why);
  const known = { version: '1.2.3', instance: 'an installation', host: 'ci1' };
  const sender = createSpanSender({
    settings,
    clock: systemClock(),
    log: SILENT,
    backlog: () => 0,
    ...known,
  });
  const outcome = await sender.deliver([spansCodec.encode(spans)]);
  await sender.close(0);
  const request = sink.requests.at(-1);
  if (outcome !== 'delivered' || request === undefined)
    throw new Error(`${JSON.stringify(outcome)} ${JSON.stringify(sender.health().lastError)}`);
  const ids = (each: readonly { spanId: string }[]) => each.map(({ spanId }) => spanId).toSorted();
  expect(ids(request.spans)).toEqual(ids(spans));
  return request;
}

describe('check 20: the URL', () => {
  test.each<[string, (url: string) => Environment, string]>([
    ['a base', url => ({ OTEL_EXPORTER_OTLP_ENDPOINT: url }), '/v1/traces'],
    ['a base with a slash', url => ({ OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/` }), '/v1/traces'],
    ['a base with a path', url => ({ OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/otlp` }), '/otlp/v1/traces'],
    ['and a slash', url => ({ OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/otlp/` }), '/otlp/v1/traces'],
    ["the traces' own", url => ({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/my/traces` }), '/my/traces'],
    ['and a slash', url => ({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/my/` }), '/my/'],
    ['and no path', url => ({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url }), '/'],
    [
      "the traces' own and a base",
      url => ({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/mine`, OTEL_EXPORTER_OTLP_ENDPOINT: 'http://x' }),
      '/mine',
    ],
    [
      'an empty one and a base',
      url => ({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '', OTEL_EXPORTER_OTLP_ENDPOINT: url }),
      '/v1/traces',
    ],
  ])('%s', async (_, environment, expected) => {
    await using sink = await startOtlpSink({ protocol: 'http' });
    const request = await sentTo(sink, { ...HTTP, ...environment(sink.url) });
    expect(request).toMatchObject({ method: 'POST', path: expected });
    expect(request.headers['content-type']).toBe('application/x-protobuf');
  });

  test('gRPC takes the endpoint as it is, with any path', async () => {
    await using sink = await startOtlpSink();
    const endpoint = `${sink.url}/ignored`;
    const environment = { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc', OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
    expect((await sentTo(sink, environment)).path).toMatch(/TraceService\/Export$/);
    const bare = { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint.slice(7).replace('/ignored', '') };
    await sentTo(sink, { ...bare, OTEL_EXPORTER_OTLP_INSECURE: 'true' });
  });

  test('the file wins over all of them', async () => {
    await using sink = await startOtlpSink({ protocol: 'http' });
    const environment = {
      OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://x',
    };
    const request = await sentTo(sink, environment, [`endpoint = ${sink.url}`, 'protocol = http/protobuf']);
    expect(request.path).toBe('/v1/traces');
  });
});

describe.each(['grpc', 'http'] as const)('check 20: over %s', protocol => {
  const chosen = { OTEL_EXPORTER_OTLP_PROTOCOL: protocol === 'grpc' ? 'grpc' : 'http/protobuf' };
  const at = (sink: OtlpSink) => ({ ...chosen, OTEL_EXPORTER_OTLP_ENDPOINT: sink.url });

  test('headers are decoded, commas and equal signs and all, and those of traces win', async () => {
    await using sink = await startOtlpSink({ protocol });
    const general = { OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Basic%20YTpi, x-list=a%2Cb,x-query=k=v' };
    expect((await sentTo(sink, { ...at(sink), ...general })).headers).toMatchObject({
      authorization: 'Basic YTpi',
      'x-list': 'a,b',
      'x-query': 'k=v',
    });
    const own = { ...general, OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-list=mine' };
    expect((await sentTo(sink, { ...at(sink), ...own })).headers['x-list']).toBe('mine');
  });

  test('the body is gzipped only when compression is gzip', async () => {
    await using sink = await startOtlpSink({ protocol });
    /** What went over the wire for one request, which is more than its plain body, or much less. */
    const sent = async (variables: Environment) => {
      const before = sink.bytesRead;
      const { bytes } = await sentTo(sink, { ...at(sink), ...variables });
      return sink.bytesRead - before < bytes ? 'gzip' : 'plain';
    };
    expect(await sent({ OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip' })).toBe('gzip');
    expect(await sent({ OTEL_EXPORTER_OTLP_TRACES_COMPRESSION: 'GZIP' })).toBe('gzip');
    for (const value of ['none', '', 'lz4'])
      expect(await sent({ OTEL_EXPORTER_OTLP_COMPRESSION: value })).toBe('plain');
  });

  test('the timeout is in milliseconds', async () => {
    await using sink = await startOtlpSink({ protocol });
    sink.answerAlways({ kind: 'hang' });
    const begin = performance.now();
    const environment = { ...at(sink), OTEL_EXPORTER_OTLP_TIMEOUT: '150' };
    await expect(sentTo(sink, environment)).rejects.toThrow('retryAfterMs');
    // The default would be ten seconds.
    expect(performance.now() - begin).toBeLessThan(9_500);
  });

  test('the service name wins over the resource attributes, an empty one counts as unset', async () => {
    await using sink = await startOtlpSink({ protocol });
    const attributes = 'service.name=from-list,team=a%2Cb%3Dc,host.name=mine';
    const resourceWith = async (name: string) => {
      const variables = { OTEL_SERVICE_NAME: name, OTEL_RESOURCE_ATTRIBUTES: attributes };
      return (await sentTo(sink, { ...at(sink), ...variables })).spans[0]?.resource;
    };
    const common = { team: 'a,b=c', 'host.name': 'mine', 'service.version': '1.2.3' };
    expect(await resourceWith('by-name')).toMatchObject({ ...common, 'service.name': 'by-name' });
    expect(await resourceWith('')).toMatchObject({ ...common, 'service.name': 'from-list' });
  });

  describe('TLS', () => {
    let directory: string;
    const authority = makeAuthority('collectors');
    const server = authority.issue('collector');
    const client = authority.issue('gatehouse');
    beforeAll(async () => {
      directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-check-20-'));
      const files = { 'ca.pem': authority.cert, 'client.pem': client.cert, 'client-key.pem': client.key };
      for (const [name, content] of Object.entries(files))
        await writeFile(path.join(directory, name), content);
    });
    afterAll(() => rm(directory, { recursive: true }));

    test('the certificate variables let us in', async () => {
      await using sink = await startOtlpSink({ protocol, tls: { ...server, clientCa: authority.cert } });
      const files = {
        OTEL_EXPORTER_OTLP_CERTIFICATE: path.join(directory, 'ca.pem'),
        OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: path.join(directory, 'client.pem'),
        OTEL_EXPORTER_OTLP_CLIENT_KEY: path.join(directory, 'client-key.pem'),
      };
      const endpoint = sink.url.replace('127.0.0.1', 'localhost');
      const environment = { ...chosen, OTEL_EXPORTER_OTLP_ENDPOINT: endpoint };
      // It speaks of endpoints without a scheme: this one has one.
      await sentTo(sink, { ...environment, ...files, OTEL_EXPORTER_OTLP_INSECURE: 'true' });
      const stranger = {
        ...files,
        OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: '',
        OTEL_EXPORTER_OTLP_CLIENT_KEY: '',
      };
      await expect(sentTo(sink, { ...environment, ...stranger })).rejects.toThrow('retryAfterMs');
    });
  });
});

describe('check 20: what is not sent at all', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' };
  test.each<[string, Environment, TracingSettings['kind']]>([
    ['an endpoint switches it on', endpoint, 'on'],
    ['an empty endpoint does not', { OTEL_EXPORTER_OTLP_ENDPOINT: '' }, 'off'],
    ['no exporter', { ...endpoint, OTEL_TRACES_EXPORTER: 'none' }, 'off'],
    ['SDK disabled', { ...endpoint, OTEL_SDK_DISABLED: 'TRUE' }, 'off'],
    ['SDK disabled by another word', { ...endpoint, OTEL_SDK_DISABLED: '1' }, 'on'],
  ])('%s', (_, environment, kind) => {
    expect(tracingOf(environment, []).kind).toBe(kind);
  });

  test.each<[string, Environment, number]>([
    ['always_off', { OTEL_TRACES_SAMPLER: 'always_off' }, 0],
    ['parentbased_always_on', { OTEL_TRACES_SAMPLER: 'parentbased_always_on' }, 1],
    ['a ratio', { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.3' }, 0.3],
    ['a ratio without number', { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio' }, 1],
    ['a ratio that is none', { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: 'x' }, 1],
    ['a number without sampler', { OTEL_TRACES_SAMPLER_ARG: '0.3' }, 1],
  ])('%s samples', (_, environment, ratio) => {
    expect(tracingOf({ ...endpoint, ...environment }, [])).toMatchObject({ sampleRatio: ratio });
  });
});
