/**
 * What OpenTelemetry's conventions for CI/CD demand of a span, written down again apart from the code that makes spans; one sentence
 * per problem.
 */
import type { SinkSpan, SinkValue } from '../fake/otlp-sink.ts';
import {
  ABOUT_ITEMS,
  ATTRIBUTES_OF,
  CLIENTS,
  CONSUMERS,
  ITEM_ATTRIBUTES,
  PRODUCERS,
  SERVERS,
} from './demanded-attributes.ts';
import { kindOf } from './spans-by.ts';

const INTERNAL = 1;
const SERVER = 2;
const CLIENT = 3;
const PRODUCER = 4;
const CONSUMER = 5;
const ERROR = 2;
/** Only people set it. */
const OK = 1;
const RESULTS = new Set(['success', 'failure', 'error', 'timeout', 'skip', 'cancellation']);
const FAILED = new Set(['failure', 'error', 'timeout']);
const RESULT_NAMES = ['cicd.pipeline.result', 'cicd.pipeline.task.run.result'];
/** Longer texts are no facts any more. */
const LONGEST = 1024;
const MOST = 128;

/** Violations among the spans that a story left at the collector; empty: none. */
export function semanticProblems(spans: readonly SinkSpan[]): readonly string[] {
  return spans.flatMap(span =>
    [...kindProblems(span), ...resultProblems(span), ...lacking(span), ...valueProblems(span)].map(
      problem => `${span.name} ${problem}`,
    ),
  );
}

function kindProblems(span: SinkSpan): readonly string[] {
  const kind = kindOf(span);
  // What a job made itself is of the kind it says.
  if (kind === 'JobSpan') return [];
  const isServer = SERVERS.has(kind) || kind.endsWith('Event');
  const demanded = CLIENTS.has(kind)
    ? CLIENT
    : PRODUCERS.has(kind)
      ? PRODUCER
      : CONSUMERS.has(kind)
        ? CONSUMER
        : isServer
          ? SERVER
          : INTERNAL;
  return span.kind === demanded ? [] : [`is of kind ${span.kind}, not ${demanded}`];
}

function resultProblems({ attributes, status }: SinkSpan): readonly string[] {
  const problems = RESULT_NAMES.flatMap(name => {
    const result = attributes[name];
    if (result === undefined) return [];
    if (typeof result !== 'string' || !RESULTS.has(result)) return [`has ${name} ${String(result)}`];
    return FAILED.has(result) === (status.code === ERROR)
      ? []
      : [`has ${name} ${result} and status ${status.code}`];
  });
  const error = attributes['error.type'];
  if ((error !== undefined) !== (status.code === ERROR))
    problems.push(`has status ${status.code} and error.type ${String(error)}`);
  if (status.code === OK) problems.push('has status Ok');
  return problems;
}

function lacking(span: SinkSpan): readonly string[] {
  const { attributes } = span;
  const demanded = [
    ...(attributes['gatehouse.item.id'] === undefined || ABOUT_ITEMS.has(kindOf(span))
      ? []
      : ITEM_ATTRIBUTES),
    ...(ATTRIBUTES_OF.get(kindOf(span))?.(attributes) ?? []),
  ];
  return demanded.filter(name => attributes[name] === undefined).map(name => `lacks ${name}`);
}

function valueProblems(span: SinkSpan): readonly string[] {
  const all = [span.resource, ...[span, ...span.events, ...span.links].map(({ attributes }) => attributes)];
  const problems = all.flatMap(attributes =>
    Object.entries(attributes).flatMap(([name, value]) =>
      isWireValue(value) ? [] : [`has ${name} ${JSON.stringify(value)}`],
    ),
  );
  const most = Math.max(...all.map(attributes => Object.keys(attributes).length));
  if (most > MOST) problems.push(`has ${most} attributes`);
  if (span.dropped !== 0) problems.push(`says that ${span.dropped} things were dropped`);
  return problems;
}

/** A text, a truth, a number, or several of one of these; what else there may be in OTLP the collector has refused already. */
function isWireValue(value: SinkValue): boolean {
  if (!Array.isArray(value)) return isScalar(value);
  return value.length > 0 && value.every(each => isScalar(each) && typeof each === typeof value[0]);
}

function isScalar(value: SinkValue): boolean {
  if (typeof value === 'string') return value.length <= LONGEST;
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}
