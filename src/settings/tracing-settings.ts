/**
 * `[tracing]`: whether, where to and how spans are sent.
 *
 * Tracing is on when `enabled = true`, or when it is `auto` (the default) and an endpoint is known. The standard
 * `OTEL_*` variables apply where the file says nothing; a problem with one is reported as `$NAME: [tracing] option: …`.
 */
import {
  type OptionProblem,
  type OptionReader,
  type OptionSection,
  optionReader,
} from '../lib/option-reader.ts';
import { Secret } from '../lib/secret.ts';
import type { Environment } from './interpolate.ts';
import { type KeepSettings, readKeep } from './keep-option.ts';
import { pairsFromEnvironment, tracingFromEnvironment } from './otel-environment.ts';

export type TracingSettings = TracingOff | TracingOn;

export interface TracingOff {
  readonly kind: 'off';
  /** For `gatehouse config-check` and the log: what would have to change to have traces. */
  readonly why: string;
}

export interface TracingOn {
  readonly kind: 'on';
  readonly protocol: 'grpc';
  /** `http://…`, `https://…` or `host:port`. Default `http://localhost:4317`. */
  readonly endpoint: string;
  /** Without TLS. True for an `http://` endpoint or `insecure = true`. */
  readonly insecure: boolean;
  /** PEM files. */
  readonly tls: { readonly ca?: string; readonly cert?: string; readonly key?: string };
  /** Sent with every request, from OTEL_EXPORTER_OTLP_HEADERS. */
  readonly headers: ReadonlyMap<string, Secret>;
  /** Default `gatehouse`. */
  readonly serviceName: string;
  /** From OTEL_RESOURCE_ATTRIBUTES; `service.name` in it counts unless service_name or OTEL_SERVICE_NAME says otherwise. */
  readonly resourceAttributes: ReadonlyMap<string, string>;
  /** Milliseconds per export. Default 10 000. */
  readonly timeoutMs: number;
  readonly compression: 'none' | 'gzip';
  /** `zuul` names spans by their bare kind. Default `gatehouse`. */
  readonly spanNames: 'gatehouse' | 'zuul';
  /** Seconds after which a job gets a trace of its own. Default 3600; 0 = never. */
  readonly splitAfter: number;
  /** Share of items sampled, 0 to 1. Default 1. */
  readonly sampleRatio: number;
  /** Items that are kept whatever the ratio says. Default none. */
  readonly keep: KeepSettings;
  /** Seconds an unsent span waits before it is dropped. Default 1 d. */
  readonly outboxMaxAge: number;
  /** Default 256 MiB. */
  readonly outboxMaxBytes: number;
  /** Link to one trace, with `{trace_id}` and perhaps `{span_id}`. Default a local Jaeger. */
  readonly uiUrl: string;
}

const DEFAULT_ENDPOINT = 'http://localhost:4317';
const DEFAULT_UI_URL = 'http://localhost:16686/trace/{trace_id}?uiFind={span_id}';

export interface ReadTracing {
  readonly tracing: TracingSettings;
  readonly problems: readonly OptionProblem[];
  /** What is written and does nothing, for warnings. */
  readonly withoutEffect: readonly OptionProblem[];
}

/** Options of which the values are checked, and nothing else. */
const WITHOUT_EFFECT: readonly string[] = [];

export function readTracing(section: OptionSection, environment: Environment): ReadTracing {
  const fromEnvironment = tracingFromEnvironment(environment);
  const options = new Map([...fromEnvironment, ...section.options]);
  const read = optionReader({ ...section, options });

  const enabled = read.oneOf('enabled', ['auto', 'true', 'false'], 'auto');
  const protocol = read.oneOf('protocol', ['grpc', 'http/protobuf'], 'grpc');
  if (protocol === 'http/protobuf')
    read.refuse('protocol', 'http/protobuf is not supported yet; use grpc (port 4317)');
  const endpoint = readEndpoint(read);
  const insecure = read.boolean('insecure', false);
  const tls = { ca: read.path('tls_ca'), cert: read.path('tls_cert'), key: read.path('tls_key') };
  checkTls(endpoint ?? DEFAULT_ENDPOINT, insecure, read);
  const { headers, resourceAttributes, problems: pairProblems } = pairsFromEnvironment(environment);
  const on: TracingOn = {
    kind: 'on',
    protocol: 'grpc',
    endpoint: endpoint ?? DEFAULT_ENDPOINT,
    insecure: insecure || (endpoint ?? DEFAULT_ENDPOINT).startsWith('http://'),
    tls: withoutUndefined(tls),
    headers: new Map([...headers].map(([name, value]) => [name, new Secret(value)])),
    serviceName: read.string('service_name') ?? resourceAttributes.get('service.name') ?? 'gatehouse',
    resourceAttributes,
    timeoutMs: read.integer('timeout', { min: 1, max: 600_000 }, 10_000),
    compression: read.oneOf('compression', ['none', 'gzip'], 'none'),
    spanNames: read.oneOf('span_names', ['gatehouse', 'zuul'], 'gatehouse'),
    splitAfter: read.duration('split_after', { min: 0 }, 3600),
    sampleRatio: read.number('sample_ratio', { min: 0, max: 1 }, 1),
    keep: readKeep(read),
    outboxMaxAge: read.duration('outbox_max_age', { min: 1 }, 86_400),
    outboxMaxBytes: read.integer('outbox_max_bytes', { min: 1_048_576 }, 268_435_456),
    uiUrl: readUiUrl(read),
  };
  if (read.has('service_name') && on.serviceName === '') read.refuse('service_name', 'is empty');

  const tracing = switchedOn(enabled, endpoint, environment, on);
  const problems = [...pairProblems, ...read.finish()];
  // Standard variables are often set for other programs; they matter only when we send.
  const counts = (problem: OptionProblem) => tracing.kind === 'on' || !problem.at.file.startsWith('$');
  const withoutEffect = WITHOUT_EFFECT.flatMap(option => {
    const written = options.get(option);
    if (written === undefined) return [];
    return [
      { at: written.at, section: 'tracing', option, reason: 'has no effect in this release; remove it' },
    ];
  });
  return { tracing, problems: problems.filter(counts), withoutEffect };
}

function switchedOn(
  enabled: 'auto' | 'true' | 'false',
  endpoint: string | undefined,
  environment: Environment,
  on: TracingOn,
): TracingSettings {
  switch (enabled) {
    case 'true':
      return on;
    case 'false':
      return { kind: 'off', why: '[tracing] enabled is false' };
    case 'auto':
      if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true') {
        return { kind: 'off', why: 'environment variable OTEL_SDK_DISABLED is true' };
      }
      if (environment.OTEL_TRACES_EXPORTER === 'none') {
        return { kind: 'off', why: 'environment variable OTEL_TRACES_EXPORTER is none' };
      }
      return endpoint === undefined ? { kind: 'off', why: '[tracing] endpoint is not set' } : on;
  }
}

function readEndpoint(read: OptionReader): string | undefined {
  const endpoint = read.string('endpoint');
  if (endpoint === undefined) return undefined;
  if (/^https?:\/\//.test(endpoint)) return read.url('endpoint', ['http', 'https']);
  if (!/^(\[[0-9a-f:.]+\]|[\w.-]+):\d{1,5}$/i.test(endpoint)) {
    read.refuse('endpoint', `"${endpoint}" is neither host:port nor a URL such as http://collector:4317`);
  }
  return endpoint;
}

function checkTls(endpoint: string, insecure: boolean, read: OptionReader): void {
  if (read.has('certificate_file')) {
    read.refuse('certificate_file', 'goes with protocol http/protobuf; with grpc write tls_ca');
  }
  const files = ['tls_ca', 'tls_cert', 'tls_key'].filter(option => read.has(option));
  const [first] = files;
  if (insecure && first !== undefined)
    read.refuse('insecure', `true means no TLS, but ${first} is set; drop one of them`);
  if (insecure && endpoint.startsWith('https://')) {
    read.refuse('insecure', 'true means no TLS, but endpoint starts with https://; drop one of them');
  }
  if (first !== undefined && endpoint.startsWith('http://')) {
    read.refuse(first, 'needs TLS, but endpoint starts with http://; write https:// there');
  }
  if (read.has('tls_cert') && !read.has('tls_key')) read.refuse('tls_cert', 'needs tls_key as well');
  if (read.has('tls_key') && !read.has('tls_cert')) read.refuse('tls_key', 'needs tls_cert as well');
}

function readUiUrl(read: OptionReader): string {
  const url = read.url('ui_url', ['http', 'https']);
  if (url === undefined) return DEFAULT_UI_URL;
  if (!url.includes('{trace_id}')) read.refuse('ui_url', 'lacks {trace_id}, so it could link to no trace');
  return url;
}

function withoutUndefined(tls: {
  ca: string | undefined;
  cert: string | undefined;
  key: string | undefined;
}) {
  return {
    ...(tls.ca === undefined ? {} : { ca: tls.ca }),
    ...(tls.cert === undefined ? {} : { cert: tls.cert }),
    ...(tls.key === undefined ? {} : { key: tls.key }),
  };
}
