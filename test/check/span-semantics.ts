/**
 * What OpenTelemetry's conventions for CI/CD demand of a span, written down again apart from the code that makes spans; one sentence
 * per problem.
 */
import type { SinkSpan, SinkValue } from '../fake/otlp-sink.ts';
import { kindOf } from './spans-by.ts';

const INTERNAL = 1;
const SERVER = 2;
const ERROR = 2;
const RESULTS = new Set(['success', 'failure', 'error', 'timeout', 'skip', 'cancellation']);
const FAILED = new Set(['failure', 'error', 'timeout']);
/** Longer texts are no facts any more. */
const LONGEST = 1024;
const MOST = 128;

export function kindProblems(span: SinkSpan): readonly string[] {
  const isRun = kindOf(span) === 'QueueItem';
  const problems: string[] = [];
  if (isRun && span.kind !== SERVER) problems.push(`is a run of kind ${span.kind}`);
  if (span.parentSpanId !== null && span.kind !== INTERNAL) problems.push(`is a task of kind ${span.kind}`);
  const { attributes, status } = span;
  for (const name of ['cicd.pipeline.result', 'cicd.pipeline.task.run.result']) {
    const result = attributes[name];
    if (result === undefined) continue;
    if (typeof result !== 'string' || !RESULTS.has(result)) problems.push(`has ${name} ${String(result)}`);
    else if (FAILED.has(result) !== (status.code === ERROR))
      problems.push(`has ${name} ${result} and status ${status.code}`);
  }
  if (isRun && attributes['cicd.pipeline.result'] === undefined) problems.push('is a run without a result');
  if ((attributes['error.type'] !== undefined) !== (status.code === ERROR))
    problems.push(`has status ${status.code} and error.type ${String(attributes['error.type'])}`);
  if (status.code === 1) problems.push('has status Ok, which only people set');
  if (isRun)
    problems.push(
      ...missing(span, [
        'vcs.repository.name',
        'vcs.change.id',
        'vcs.ref.head.name',
        'vcs.ref.head.revision',
        'vcs.ref.head.type',
        'vcs.ref.base.name',
        'vcs.provider.name',
        'cicd.pipeline.action.name',
      ]),
    );
  if (attributes['gatehouse.item.id'] !== undefined && span.traceId === attributes['gatehouse.item.id'])
    problems.push(
      ...missing(span, [
        'gatehouse.tenant',
        'gatehouse.pipeline',
        'gatehouse.event.id',
        'cicd.pipeline.name',
        'cicd.pipeline.run.id',
        'cicd.pipeline.run.url.full',
      ]),
    );
  return problems.map(problem => `${span.name} ${problem}`);
}

function missing({ attributes }: SinkSpan, names: readonly string[]): readonly string[] {
  return names.filter(name => attributes[name] === undefined).map(name => `lacks ${name}`);
}

export function attributeProblems(span: SinkSpan): readonly string[] {
  const all = [span, ...span.events, ...span.links].map(({ attributes }) => attributes);
  const problems = all.flatMap(attributes =>
    Object.entries(attributes).flatMap(([name, value]) =>
      isWireValue(value) ? [] : [`${span.name} has ${name} ${JSON.stringify(value)}`],
    ),
  );
  const most = Math.max(...all.map(attributes => Object.keys(attributes).length));
  if (most > MOST) problems.push(`${span.name} has ${most} attributes`);
  if (span.dropped !== 0) problems.push(`${span.name} says that ${span.dropped} things were dropped`);
  return problems;
}

function isWireValue(value: SinkValue): boolean {
  if (!Array.isArray(value)) return isScalar(value);
  return value.length > 0 && value.every(each => isScalar(each) && typeof each === typeof value[0]);
}

function isScalar(value: SinkValue): boolean {
  if (typeof value === 'string') return value.length <= LONGEST;
  return typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value));
}
