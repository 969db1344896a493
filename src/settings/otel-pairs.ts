/**
 * Lists of pairs that only the environment can give: `a=1,b=2`, percent-encoded, as the OpenTelemetry specification has them.
 *
 *     OTEL_EXPORTER_OTLP_HEADERS='authorization=Bearer%20hunter2,x-scope=a%2Cb'
 */
import type { OptionProblem } from '../lib/option-reader.ts';
import type { Environment } from './interpolate.ts';
import { firstSet } from './otel-variable.ts';

/** Keys and values are decoded. Values of headers are secrets: no problem repeats one. */
export interface EnvironmentPairs {
  readonly headers: ReadonlyMap<string, string>;
  readonly resourceAttributes: ReadonlyMap<string, string>;
  readonly problems: readonly OptionProblem[];
}

const HEADERS = ['OTEL_EXPORTER_OTLP_TRACES_HEADERS', 'OTEL_EXPORTER_OTLP_HEADERS'];
const RESOURCE_ATTRIBUTES = ['OTEL_RESOURCE_ATTRIBUTES'];

/**
 * The variable for traces replaces the general one whole: their lists are not merged. A list that cannot be read gives a problem
 * and no pairs.
 */
export function pairsFromEnvironment(environment: Environment): EnvironmentPairs {
  const problems: OptionProblem[] = [];
  const read = (names: readonly string[], problemIn: (pairs: Pairs) => string | undefined): Pairs => {
    const found = firstSet(names, environment);
    if (found === undefined) return new Map();
    const pairs = parsePairs(found.value);
    const reason = pairs === undefined ? 'is not a list such as key=value,key=value' : problemIn(pairs);
    if (reason !== undefined) problems.push({ at: found.at, section: 'tracing', reason });
    return pairs ?? new Map();
  };
  const headers = read(HEADERS, problemInHeaders);
  return { headers, resourceAttributes: read(RESOURCE_ATTRIBUTES, () => undefined), problems };
}

type Pairs = ReadonlyMap<string, string>;

/** Undefined when `text` is not such a list. */
function parsePairs(text: string): Pairs | undefined {
  const pairs = new Map<string, string>();
  for (const part of text.split(',').map(piece => piece.trim())) {
    if (part === '') continue;
    const [, key, value] = /^([^=\s]+)\s*=\s*(.*)$/.exec(part) ?? [];
    if (key === undefined || value === undefined) return undefined;
    try {
      pairs.set(decodeURIComponent(key), decodeURIComponent(value));
    } catch (error) {
      // A percent sign that encodes nothing.
      if (!(error instanceof URIError)) throw error;
      return undefined;
    }
  }
  return pairs;
}

/** Headers that describe a request are set by the sender. */
const OURS = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'host',
  'te',
  'transfer-encoding',
  'upgrade',
]);

/** The value is a secret: never repeated. */
function problemInHeaders(headers: Pairs): string | undefined {
  for (const [name, value] of headers) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || name.toLowerCase().endsWith('-bin'))
      return `"${name}" is not the name of a header that can be sent`;
    if (OURS.has(name.toLowerCase())) return `"${name}" is not for others to set`;
    if (!/^[\t\x20-\x7e]*$/.test(value))
      return `the value of "${name}" holds characters that no header may hold`;
  }
  return undefined;
}
