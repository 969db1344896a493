import { describe, expect, it } from 'vitest';
import { showOptionProblem } from '../../../src/lib/option-reader.ts';
import { parseSettings } from '../../../src/settings/parse-settings.ts';
import type { TracingOn, TracingSettings } from '../../../src/settings/tracing-settings.ts';

function parse(lines: string, environment: Record<string, string> = {}) {
  const content = new TextEncoder().encode(`[scheduler]\ntenant_config = t.yaml\n[tracing]\n${lines}`);
  return parseSettings({ content, file: 'g.conf', directory: '/etc/g', environment });
}

function tracingOf(lines: string, environment: Record<string, string> = {}): TracingSettings {
  const parsed = parse(lines, environment);
  if (parsed.kind === 'invalid') throw new Error(parsed.problems.map(showOptionProblem).join('\n'));
  return parsed.settings.tracing;
}

function onOf(lines: string, environment: Record<string, string> = {}): TracingOn {
  const tracing = tracingOf(lines, environment);
  if (tracing.kind === 'off') throw new Error(tracing.why);
  return tracing;
}

function errorsOf(lines: string, environment: Record<string, string> = {}): readonly string[] {
  const parsed = parse(lines, environment);
  return parsed.kind === 'invalid' ? parsed.problems.map(showOptionProblem) : [];
}

describe('whether', () => {
  it.each<[string, string, Record<string, string>, TracingSettings['kind'], string]>([
    ['nothing is said', '', {}, 'off', '[tracing] endpoint is not set'],
    ['an endpoint is in the file', 'endpoint = http://c:4317', {}, 'on', ''],
    ['an endpoint is in the environment', '', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4317' }, 'on', ''],
    [
      'an empty variable counts as unset',
      '',
      { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
      'off',
      '[tracing] endpoint is not set',
    ],
    ['it is switched on without endpoint', 'enabled = true', {}, 'on', ''],
    [
      'it is switched off with endpoint',
      'enabled = false\nendpoint = http://c:4317',
      {},
      'off',
      '[tracing] enabled is false',
    ],
    [
      'OTEL_SDK_DISABLED is true',
      'endpoint = http://c:4317',
      { OTEL_SDK_DISABLED: 'TRUE' },
      'off',
      'environment variable OTEL_SDK_DISABLED is true',
    ],
    ['the file says on against OTEL_SDK_DISABLED', 'enabled = true', { OTEL_SDK_DISABLED: 'true' }, 'on', ''],
    [
      'OTEL_TRACES_EXPORTER is none',
      'endpoint = http://c:4317',
      { OTEL_TRACES_EXPORTER: 'none' },
      'off',
      'environment variable OTEL_TRACES_EXPORTER is none',
    ],
  ])('%s', (_, lines, environment, kind, why) => {
    const tracing = tracingOf(lines, environment);
    expect(tracing.kind).toBe(kind);
    if (tracing.kind === 'off') expect(tracing.why).toBe(why);
  });

  it('variables that make no sense do not stop a service that sends nothing', () => {
    expect(tracingOf('', { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' }).kind).toBe('off');
  });
});

describe('values', () => {
  it('defaults', () => {
    expect(onOf('enabled = true')).toEqual({
      kind: 'on',
      protocol: 'grpc',
      endpoint: 'http://localhost:4317',
      insecure: true,
      tls: {},
      headers: new Map(),
      serviceName: 'gatehouse',
      servicePerComponent: false,
      resourceAttributes: new Map(),
      timeoutMs: 10_000,
      compression: 'none',
      spanNames: 'gatehouse',
      splitAfter: 3600,
      sampleRatio: 1,
      keep: { outcomes: [], slowerThanMs: null },
      outboxMaxAge: 86_400,
      outboxMaxBytes: 268_435_456,
      uiUrl: 'http://localhost:16686/trace/{trace_id}?uiFind={span_id}',
    });
  });

  it('the file wins over the environment, the variable for traces over the general one', () => {
    const environment = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://general:4317',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces:4317',
      OTEL_SERVICE_NAME: 'gate-a',
      OTEL_EXPORTER_OTLP_TIMEOUT: '2500',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20hunter2',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment=test,team=a%2Cb',
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.25',
    };
    const tracing = onOf('timeout = 50', environment);
    expect(tracing).toMatchObject({
      endpoint: 'https://traces:4317',
      insecure: false,
      serviceName: 'gate-a',
      timeoutMs: 50,
      compression: 'gzip',
      sampleRatio: 0.25,
      resourceAttributes: new Map([
        ['deployment.environment', 'test'],
        ['team', 'a,b'],
      ]),
    });
    expect(tracing.headers.get('authorization')?.reveal()).toBe('Bearer hunter2');
    expect(JSON.stringify([...tracing.headers])).not.toContain('hunter2');
    expect(onOf('service_name = x', environment).serviceName).toBe('x');
    expect(onOf('service_per_component = true', environment).servicePerComponent).toBe(true);
  });

  it('service.name among the resource attributes names the service when nothing else does', () => {
    expect(onOf('enabled = true', { OTEL_RESOURCE_ATTRIBUTES: 'service.name=b' }).serviceName).toBe('b');
  });

  it('a bare host and port uses TLS unless insecure', () => {
    expect(onOf('endpoint = c:4317').insecure).toBe(false);
    expect(onOf('endpoint = c:4317\ninsecure = yes').insecure).toBe(true);
    expect(onOf('endpoint = [::1]:4317\ntls_ca = ca.pem').tls).toEqual({ ca: '/etc/g/ca.pem' });
  });

  it.each([
    ['failure, reset', { outcomes: ['failure', 'reset'], slowerThanMs: null }],
    ['slower than 30m', { outcomes: [], slowerThanMs: 1_800_000 }],
    ['failure slower than 90, dequeued', { outcomes: ['failure', 'dequeued'], slowerThanMs: 90_000 }],
    ['error, error, slower than 1h30m', { outcomes: ['error'], slowerThanMs: 5_400_000 }],
    ['', { outcomes: [], slowerThanMs: null }],
  ])('keeps items by rules such as "%s"', (rules, keep) => {
    expect(onOf(`enabled = true\nsample_ratio = .1\nkeep = ${rules}`).keep).toEqual(keep);
  });
});

describe('where spans go with http/protobuf', () => {
  const HTTP = 'protocol = http/protobuf\n';
  it.each<[string, string, Record<string, string>, string]>([
    ['by default', 'enabled = true', {}, 'http://localhost:4318/v1/traces'],
    ['the file names a host', 'endpoint = http://c:4318', {}, 'http://c:4318/v1/traces'],
    ['the file names a host and a slash', 'endpoint = http://c:4318/', {}, 'http://c:4318/v1/traces'],
    ['the file names it all', 'endpoint = http://c/otlp/', {}, 'http://c/otlp/'],
    ['the file names host and port', 'endpoint = c:4318', {}, 'https://c:4318/v1/traces'],
    ['and no TLS', 'endpoint = c:4318\ninsecure = 1', {}, 'http://c:4318/v1/traces'],
    ['a base', '', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' }, 'http://c:4318/v1/traces'],
    ['a base with a slash', '', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c/' }, 'http://c/v1/traces'],
    ['a base with a path', '', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c/a' }, 'http://c/a/v1/traces'],
    ['and a slash', '', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c/a/' }, 'http://c/a/v1/traces'],
    [
      'the endpoint of traces',
      '',
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c/a/', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://d' },
      'http://c/a/',
    ],
    ['and no path', '', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:4318' }, 'http://c:4318/'],
  ])('%s', (_, lines, environment, endpoint) => {
    expect(onOf(HTTP + lines, environment).endpoint).toBe(endpoint);
  });

  it("takes zuul.conf's certificate_file for the authority", () => {
    expect(onOf(`${HTTP}endpoint = https://c\ncertificate_file = ca.pem`).tls).toEqual({
      ca: '/etc/g/ca.pem',
    });
  });
});

describe('variables', () => {
  it('OTEL_EXPORTER_OTLP_INSECURE speaks of endpoints without a scheme', () => {
    const environment = { OTEL_EXPORTER_OTLP_INSECURE: 'TRUE' };
    expect(onOf('endpoint = https://c:1', environment).insecure).toBe(false);
    expect(onOf('endpoint = c:1', environment).insecure).toBe(true);
  });

  it('that hold nothing usable count as unset', () => {
    const environment = {
      OTEL_EXPORTER_OTLP_TIMEOUT: 'soon',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'brotli',
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: 'half',
    };
    expect(onOf('enabled = true', environment)).toMatchObject({
      timeoutMs: 10_000,
      compression: 'none',
      sampleRatio: 1,
    });
  });

  it('name their choices in any case, and their files from the working directory', () => {
    const environment = {
      OTEL_EXPORTER_OTLP_PROTOCOL: 'HTTP/Protobuf',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'GZip',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c',
      OTEL_EXPORTER_OTLP_CERTIFICATE: 'ca.pem',
    };
    expect(onOf('', environment)).toMatchObject({
      protocol: 'http/protobuf',
      compression: 'gzip',
      tls: { ca: `${process.cwd()}/ca.pem` },
    });
  });
});

describe('problems', () => {
  const ON = 'enabled = true\n';
  it.each<[string, string, Record<string, string>, string[]]>([
    [
      'a mistyped switch',
      'enabled = ture',
      {},
      ['g.conf:4: [tracing] enabled: "ture" is not one of auto, true, false, did you mean "true"?'],
    ],
    [
      'a protocol we lack',
      ON,
      { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' },
      ['$OTEL_EXPORTER_OTLP_PROTOCOL: [tracing] protocol: "http/json" is not one of grpc, http/protobuf'],
    ],
    [
      'two authorities',
      'endpoint = https://c\nprotocol = http/protobuf\ntls_ca = a\ncertificate_file = b',
      {},
      ['g.conf:7: [tracing] certificate_file: means the same as tls_ca; drop one of them'],
    ],
    [
      'a header that cannot be sent',
      ON,
      { OTEL_EXPORTER_OTLP_HEADERS: 'x-key=hunter2%0A' },
      [
        '$OTEL_EXPORTER_OTLP_HEADERS: [tracing]: the value of "x-key" holds characters that no header may hold',
      ],
    ],
    [
      'a header that is ours',
      ON,
      { OTEL_EXPORTER_OTLP_HEADERS: 'Content-Length=5' },
      ['$OTEL_EXPORTER_OTLP_HEADERS: [tracing]: "Content-Length" is not for others to set'],
    ],
    [
      'an endpoint without port',
      'endpoint = collector',
      {},
      [
        'g.conf:4: [tracing] endpoint: "collector" is neither host:port nor a URL such as http://collector:4317',
      ],
    ],
    [
      'an endpoint with a password',
      'endpoint = http://a:b@c:1',
      {},
      [
        'g.conf:4: [tracing] endpoint: a URL must not hold a user name or password; use the options made for them',
      ],
    ],
    [
      'a certificate for the other protocol',
      'certificate_file = x',
      {},
      ['g.conf:4: [tracing] certificate_file: goes with protocol http/protobuf; with grpc write tls_ca'],
    ],
    [
      'no TLS and TLS',
      'endpoint = c:1\ninsecure = 1\ntls_ca = x',
      {},
      ['g.conf:5: [tracing] insecure: true means no TLS, but tls_ca is set; drop one of them'],
    ],
    [
      'no TLS and https',
      'endpoint = https://c:1\ninsecure = 1',
      {},
      [
        'g.conf:5: [tracing] insecure: true means no TLS, but endpoint starts with https://; drop one of them',
      ],
    ],
    [
      'TLS and http',
      'endpoint = http://c:1\ntls_ca = x',
      {},
      ['g.conf:5: [tracing] tls_ca: needs TLS, but endpoint starts with http://; write https:// there'],
    ],
    [
      'a certificate without key',
      'endpoint = c:1\ntls_cert = x',
      {},
      ['g.conf:5: [tracing] tls_cert: needs tls_key as well'],
    ],
    [
      'a key without certificate',
      'endpoint = c:1\ntls_key = x',
      {},
      ['g.conf:5: [tracing] tls_key: needs tls_cert as well'],
    ],
    [
      'a share above one',
      'sample_ratio = 50',
      {},
      ['g.conf:4: [tracing] sample_ratio: "50" is out of range, 0 to 1'],
    ],
    [
      'a share that is no number',
      'sample_ratio = half',
      {},
      ['g.conf:4: [tracing] sample_ratio: "half" is not a number'],
    ],
    [
      'a sampler we lack',
      ON,
      { OTEL_TRACES_SAMPLER: 'jaeger_remote' },
      [
        '$OTEL_TRACES_SAMPLER: [tracing]: "jaeger_remote" is not supported; one of always_on, parentbased_always_on, always_off, parentbased_always_off, traceidratio, parentbased_traceidratio',
      ],
    ],
    [
      'an exporter we lack',
      ON,
      { OTEL_TRACES_EXPORTER: 'zipkin' },
      ['$OTEL_TRACES_EXPORTER: [tracing]: "zipkin" is not supported; one of otlp, none'],
    ],
    [
      'an outcome that is none',
      'keep = success',
      {},
      [
        'g.conf:4: [tracing] keep: "success" is not one of failure, error, merge-conflict, config-error, dequeued, superseded, reset or "slower than" with a duration',
      ],
    ],
    [
      'an outcome with a slip',
      'keep = failures, slower than 30m',
      {},
      [
        'g.conf:4: [tracing] keep: "failures" is not one of failure, error, merge-conflict, config-error, dequeued, superseded, reset or "slower than" with a duration, did you mean "failure"?',
      ],
    ],
    [
      'a duration that is none',
      'keep = error, slower than ages',
      {},
      ['g.conf:4: [tracing] keep: "slower" must be followed by "than" and a duration such as 90s, 30m or 2h'],
    ],
    [
      'two durations',
      'keep = slower than 3m, slower than 4m',
      {},
      ['g.conf:4: [tracing] keep: says "slower than" twice; keep one of them'],
    ],
    [
      'a link to no trace',
      'ui_url = http://jaeger/search',
      {},
      ['g.conf:4: [tracing] ui_url: lacks {trace_id}, so it could link to no trace'],
    ],
    ['an empty name', 'service_name =', {}, ['g.conf:4: [tracing] service_name: is empty']],
    [
      'an outbox too small',
      'outbox_max_bytes = 5',
      {},
      ['g.conf:4: [tracing] outbox_max_bytes: "5" is too small, at least 1048576'],
    ],
    [
      'compression we lack',
      'compression = deflate',
      {},
      ['g.conf:4: [tracing] compression: "deflate" is not one of none, gzip'],
    ],
    [
      'headers that are no list',
      ON,
      { OTEL_EXPORTER_OTLP_HEADERS: 'hunter2' },
      ['$OTEL_EXPORTER_OTLP_HEADERS: [tracing]: is not a list such as key=value,key=value'],
    ],
  ])('%s', (_, lines, environment, expected) => {
    expect(errorsOf(lines, environment)).toEqual(expected);
  });
});
