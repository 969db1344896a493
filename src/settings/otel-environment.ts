/**
 * The standard OpenTelemetry variables as `[tracing]` options, so that both go through the same checks.
 *
 * An empty variable counts as unset, as the OpenTelemetry specification wants.
 */
import { resolve } from 'node:path';
import type { OptionProblem, OptionValue } from '../lib/option-reader.ts';
import type { Environment } from './interpolate.ts';
import { firstSet, fromVariable, variableProblem } from './otel-variable.ts';

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

/** Supported samplers, as sample_ratio; the ratio ones take theirs from OTEL_TRACES_SAMPLER_ARG. */
const SAMPLERS: ReadonlyMap<string, string | undefined> = new Map([
  ['always_on', '1'],
  ['parentbased_always_on', '1'],
  ['always_off', '0'],
  ['parentbased_always_off', '0'],
  ['traceidratio', undefined],
  ['parentbased_traceidratio', undefined],
]);

/** What the environment adds to `[tracing]`; an option of the file wins over one from here. */
export interface OtelOptions {
  /** By the name of the option in `[tracing]`, in the form a file would have: a path is absolute, a sampler is a ratio. */
  readonly options: ReadonlyMap<string, OptionValue>;
  /** Variables that have no effect here or an unusable value: warnings, as the specification requires. */
  readonly ignored: readonly OptionProblem[];
  /** Unsupported choices. */
  readonly problems: readonly OptionProblem[];
}

/** Of several variables for one option the first that is set counts, even if its value is unusable. Never throws. */
export function tracingFromEnvironment(environment: Environment): OtelOptions {
  const options = new Map<string, OptionValue>();
  const ignored: OptionProblem[] = [...withoutEffect(environment)];
  for (const [option, names] of Object.entries(VARIABLES)) {
    const found = firstSet(names, environment);
    if (found === undefined) continue;
    const read = READ[option]?.(found.value) ?? { value: found.value };
    if ('unusable' in read) ignored.push({ at: found.at, section: 'tracing', option, reason: read.unusable });
    else options.set(option, { ...found, value: read.value });
  }
  const ratio = sampleRatio(environment, ignored);
  if (ratio !== undefined) options.set('sample_ratio', ratio);
  const problems = [
    ...refuseOthers('OTEL_TRACES_SAMPLER', [...SAMPLERS.keys()], environment),
    ...refuseOthers('OTEL_TRACES_EXPORTER', ['otlp', 'none'], environment),
  ];
  return { options, ignored, problems };
}

type Read = { readonly value: string } | { readonly unusable: string };

/** Variables that are read differently from the options of a file. */
const READ: Readonly<Record<string, (text: string) => Read>> = {
  protocol: text => ({ value: text.toLowerCase() }),
  compression(text) {
    const value = text.toLowerCase();
    return value === 'gzip' || value === 'none' ? { value } : notUsable(text, 'gzip or none');
  },
  timeout: text =>
    /^\d{1,6}$/.test(text) && Number(text) >= 1 && Number(text) <= MOST_TIMEOUT_MS
      ? { value: text }
      : notUsable(text, 'a number of milliseconds'),
  // Anything but true is false.
  insecure(text) {
    const value = text.toLowerCase();
    return value === 'true' || value === 'false' ? { value } : notUsable(text, 'true or false');
  },
  tls_ca: fromWorkingDirectory,
  tls_cert: fromWorkingDirectory,
  tls_key: fromWorkingDirectory,
};

const MOST_TIMEOUT_MS = 600_000;

function notUsable(text: string, wanted: string): Read {
  return { unusable: `"${text}" is not ${wanted}; it is ignored` };
}

/** A path in a file counts from that file; one in the environment from the working directory. */
function fromWorkingDirectory(text: string): Read {
  return { value: resolve(text) };
}

/** Variables that other programs follow and we do not, with the reason. */
const NOT_OURS: readonly (readonly [RegExp, string])[] = [
  [/^OTEL_BSP_/, 'has no effect: spans are not batched in memory but wait in the outbox'],
  [
    /^OTEL_(SPAN|LINK|EVENT|ATTRIBUTE)_.*LIMIT$/,
    'has no effect: the number of attributes is known and small',
  ],
  [/^OTEL_PROPAGATORS$/, 'has no effect: contexts travel as tracecontext and baggage'],
];
/** Values that match the behaviour anyway. */
const AS_IT_IS: ReadonlySet<string> = new Set(['tracecontext,baggage', 'baggage,tracecontext']);

function withoutEffect(environment: Environment): readonly OptionProblem[] {
  return Object.keys(environment)
    .filter(name => environment[name]?.trim() && !AS_IT_IS.has(environment[name]))
    .toSorted()
    .flatMap(name => {
      const reason = NOT_OURS.find(([pattern]) => pattern.test(name))?.[1];
      return reason === undefined ? [] : [variableProblem(name, reason)];
    });
}

function sampleRatio(environment: Environment, ignored: OptionProblem[]): OptionValue | undefined {
  const sampler = environment.OTEL_TRACES_SAMPLER?.trim() ?? '';
  if (!SAMPLERS.has(sampler)) return undefined;
  const fixed = SAMPLERS.get(sampler);
  if (fixed !== undefined) return fromVariable('OTEL_TRACES_SAMPLER', fixed);
  const argument = environment.OTEL_TRACES_SAMPLER_ARG?.trim() || '1';
  if (/^(0?\.\d{1,15}|[01](\.0{0,15})?)$/.test(argument))
    return fromVariable('OTEL_TRACES_SAMPLER_ARG', argument);
  const reason = `"${argument}" is not a number from 0 to 1; it is ignored`;
  ignored.push(variableProblem('OTEL_TRACES_SAMPLER_ARG', reason));
  return undefined;
}

/** Choices that only exist in the environment. */
function refuseOthers(
  name: string,
  choices: readonly string[],
  environment: Environment,
): readonly OptionProblem[] {
  const given = environment[name]?.trim();
  if (!given || choices.includes(given)) return [];
  return [variableProblem(name, `"${given}" is not supported; one of ${choices.join(', ')}`)];
}
