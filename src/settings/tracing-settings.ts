/**
 * `[tracing]`: whether, where to and how spans are exported.
 *
 * Tracing is on when `enabled = true`, or when it is `auto` (the default) and an endpoint is known. The standard
 * `OTEL_*` variables apply where the file has no value; a problem with one is reported as `$NAME: [tracing] option: …`.
 */
import {
  type OptionProblem,
  type OptionReader,
  type OptionSection,
  optionReader,
} from '../lib/option-reader.ts';
import { Secret } from '../lib/secret.ts';
import { type CollectorSettings, readCollector } from './collector-options.ts';
import type { Environment } from './interpolate.ts';
import { type KeepSettings, readKeep } from './keep-option.ts';
import { tracingFromEnvironment } from './otel-environment.ts';
import { pairsFromEnvironment } from './otel-pairs.ts';
import { isFromVariable } from './otel-variable.ts';

/** The only section that a running process adopts anew (`src/cmd/reload.ts`). */
export type TracingSettings = TracingOff | TracingOn;

interface TracingOff {
  readonly kind: 'off';
  /** For `gatehouse config-check` and the log: what has to change to get traces. */
  readonly why: string;
}

/** Complete: an option of the file wins over a variable, and that over the default. */
export interface TracingOn extends CollectorSettings {
  readonly kind: 'on';
  /** Sent with every request, from OTEL_EXPORTER_OTLP_HEADERS. */
  readonly headers: ReadonlyMap<string, Secret>;
  /** Default `gatehouse`. */
  readonly serviceName: string;
  /** `gatehouse-scheduler`, `gatehouse-executor`, ... instead of one name for all. Default false. */
  readonly servicePerComponent: boolean;
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
  /** Items that are kept regardless of the ratio. Default none. */
  readonly keep: KeepSettings;
  /** Seconds an unsent span waits before it is dropped. Default 1 d. */
  readonly outboxMaxAge: number;
  /** Default 256 MiB. */
  readonly outboxMaxBytes: number;
  /** Link to one trace, with `{trace_id}` and perhaps `{span_id}`. Default a local Jaeger. */
  readonly uiUrl: string;
}

const DEFAULT_UI_URL = 'http://localhost:16686/trace/{trace_id}?uiFind={span_id}';

/** Problems and warnings about `OTEL_*` variables are left out while tracing is off: they are often set for other programs. */
export interface ReadTracing {
  readonly tracing: TracingSettings;
  readonly problems: readonly OptionProblem[];
  /** Options that are set and have no effect, for warnings. */
  readonly withoutEffect: readonly OptionProblem[];
}

/**
 * The exporter's variables apply option by option. `OTEL_SDK_DISABLED` and `OTEL_TRACES_EXPORTER` count only while `enabled` is
 * `auto`.
 *
 * @param section as in the file; may be empty.
 */
export function readTracing(section: OptionSection, environment: Environment): ReadTracing {
  const fromEnvironment = tracingFromEnvironment(environment);
  const options = new Map([...fromEnvironment.options, ...section.options]);
  const [insecure, endpoint] = [options.get('insecure'), options.get('endpoint')];
  // The variable is about endpoints without a scheme.
  if (insecure !== undefined && isFromVariable(insecure) && /^https?:/.test(endpoint?.value ?? ''))
    options.delete('insecure');
  const read = optionReader({ ...section, options });

  const enabled = read.oneOf('enabled', ['auto', 'true', 'false'], 'auto');
  const collector = readCollector(read, endpoint);
  const { headers, resourceAttributes, problems: pairProblems } = pairsFromEnvironment(environment);
  const on: TracingOn = {
    kind: 'on',
    ...collector,
    headers: new Map([...headers].map(([name, value]) => [name, new Secret(value)])),
    serviceName: read.string('service_name') ?? resourceAttributes.get('service.name') ?? 'gatehouse',
    servicePerComponent: read.boolean('service_per_component', false),
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

  const tracing = switchedOn(enabled, endpoint !== undefined, environment, on);
  const problems = [...fromEnvironment.problems, ...pairProblems, ...read.finish()];
  // Standard variables are often set for other programs; they matter only when spans are exported.
  const counts = (problem: OptionProblem) => tracing.kind === 'on' || !isFromVariable(problem);
  return {
    tracing,
    problems: problems.filter(counts),
    withoutEffect: fromEnvironment.ignored.filter(counts),
  };
}

function switchedOn(
  enabled: 'auto' | 'true' | 'false',
  hasEndpoint: boolean,
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
      return hasEndpoint ? on : { kind: 'off', why: '[tracing] endpoint is not set' };
  }
}

function readUiUrl(read: OptionReader): string {
  const url = read.url('ui_url', ['http', 'https']);
  if (url === undefined) return DEFAULT_UI_URL;
  if (!url.includes('{trace_id}')) read.refuse('ui_url', 'lacks {trace_id}, so it could link to no trace');
  return url;
}
