/**
 * The standard OpenTelemetry variables as `[tracing]` options, so that both go through the same checks.
 *
 * An empty variable counts as unset, as the OpenTelemetry specification wants.
 */
import type { OptionProblem, OptionValue } from '../lib/option-reader.ts';
import type { Environment } from './interpolate.ts';

/** Option → variables that may set it, the most specific first. */
const VARIABLES: Readonly<Record<string, readonly string[]>> = {
  endpoint: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  protocol: ['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL'],
  insecure: ['OTEL_EXPORTER_OTLP_TRACES_INSECURE', 'OTEL_EXPORTER_OTLP_INSECURE'],
  timeout: ['OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT'],
  compression: ['OTEL_EXPORTER_OTLP_TRACES_COMPRESSION', 'OTEL_EXPORTER_OTLP_COMPRESSION'],
  tls_ca: ['OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE', 'OTEL_EXPORTER_OTLP_CERTIFICATE'],
  tls_cert: ['OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE', 'OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE'],
  tls_key: ['OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY', 'OTEL_EXPORTER_OTLP_CLIENT_KEY'],
  service_name: ['OTEL_SERVICE_NAME'],
};

/** Lists of pairs that only the environment can give. */
const HEADERS = ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS'];
const RESOURCE_ATTRIBUTES = ['OTEL_RESOURCE_ATTRIBUTES'];

/** Samplers we can honour, as sample_ratio; the ratio ones take theirs from OTEL_TRACES_SAMPLER_ARG. */
const SAMPLERS: ReadonlyMap<string, string | undefined> = new Map([
  ['always_on', '1'],
  ['parentbased_always_on', '1'],
  ['always_off', '0'],
  ['parentbased_always_off', '0'],
  ['traceidratio', undefined],
  ['parentbased_traceidratio', undefined],
]);

export function tracingFromEnvironment(environment: Environment): ReadonlyMap<string, OptionValue> {
  const options = new Map<string, OptionValue>();
  for (const [option, names] of Object.entries(VARIABLES)) {
    const found = firstSet(names, environment);
    if (found !== undefined) options.set(option, found);
  }
  const sampler = environment.OTEL_TRACES_SAMPLER?.trim();
  if (sampler && SAMPLERS.has(sampler))
    options.set('sample_ratio', sampleRatio(sampler, environment.OTEL_TRACES_SAMPLER_ARG?.trim()));
  return options;
}

function sampleRatio(sampler: string, argument: string | undefined): OptionValue {
  const fixed = SAMPLERS.get(sampler);
  if (fixed !== undefined) return fromVariable('OTEL_TRACES_SAMPLER', fixed);
  return fromVariable('OTEL_TRACES_SAMPLER_ARG', argument || '1');
}

function fromVariable(name: string, value: string): OptionValue {
  return { value: value.trim(), at: { file: `$${name}`, line: 0 } };
}

function firstSet(names: readonly string[], environment: Environment): OptionValue | undefined {
  const name = names.find(candidate => environment[candidate]?.trim());
  return name === undefined ? undefined : fromVariable(name, environment[name] ?? '');
}

export interface EnvironmentPairs {
  readonly headers: ReadonlyMap<string, string>;
  readonly resourceAttributes: ReadonlyMap<string, string>;
  readonly problems: readonly OptionProblem[];
}

/** What the options cannot carry: lists of pairs, and choices that only exist in the environment. */
export function pairsFromEnvironment(environment: Environment): EnvironmentPairs {
  const problems: OptionProblem[] = [];
  const read = (names: readonly string[]) => {
    const found = firstSet(names, environment);
    const pairs = parseKeyValues(found?.value ?? '');
    if (found !== undefined && pairs === undefined) {
      problems.push({
        at: found.at,
        section: 'tracing',
        reason: 'is not a list such as key=value,key=value',
      });
    }
    return pairs ?? new Map<string, string>();
  };
  refuseOthers('OTEL_TRACES_SAMPLER', [...SAMPLERS.keys()], environment, problems);
  refuseOthers('OTEL_TRACES_EXPORTER', ['otlp', 'none'], environment, problems);
  return { headers: read(HEADERS), resourceAttributes: read(RESOURCE_ATTRIBUTES), problems };
}

function refuseOthers(
  name: string,
  choices: readonly string[],
  environment: Environment,
  problems: OptionProblem[],
): void {
  const given = environment[name]?.trim();
  if (!given || choices.includes(given)) return;
  const reason = `"${given}" is not supported; one of ${choices.join(', ')}`;
  problems.push({ at: { file: `$${name}`, line: 0 }, section: 'tracing', reason });
}

/** `a=1,b=2` with percent-encoded values (W3C Baggage style); undefined when `text` is no such list. */
function parseKeyValues(text: string): ReadonlyMap<string, string> | undefined {
  const pairs = new Map<string, string>();
  for (const part of text.split(',').map(piece => piece.trim())) {
    if (part === '') continue;
    const [, key, value] = /^([^=\s]+)\s*=\s*(.*)$/.exec(part) ?? [];
    if (key === undefined || value === undefined) return undefined;
    try {
      pairs.set(key, decodeURIComponent(value));
    } catch {
      return undefined;
    }
  }
  return pairs;
}
