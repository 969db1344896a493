/**
 * What Jaeger would say about spans, by its own rules (`internal/jptrace/sanitizer` and `querysvc/v2/adjuster` of Jaeger 2.13), and
 * what its search would find. `npm run test:jaeger` asks a real one.
 */
import type { SinkSpan } from '../fake/otlp-sink.ts';

/** One sentence for each warning it would attach, each orphan it would count, each span it would show twice. */
export function jaegerWarnings(spans: readonly SinkSpan[]): readonly string[] {
  return [...Map.groupBy(spans, span => span.traceId).values()].flatMap(warningsOfTrace);
}

function warningsOfTrace(trace: readonly SinkSpan[]): readonly string[] {
  const warnings: string[] = [];
  const byId = new Map<string, SinkSpan>();
  for (const span of trace) {
    if (span.start >= span.end) warnings.push(`${span.name}: Negative duration detected`);
    const before = byId.get(span.spanId);
    if (before !== undefined && textOf(before) !== textOf(span))
      warnings.push(`${span.name}: duplicate span IDs`);
    byId.set(span.spanId, span);
  }
  for (const span of byId.values()) {
    if (span.parentSpanId === null) continue;
    const parent = byId.get(span.parentSpanId);
    if (parent === undefined) warnings.push(`${span.name}: parent span ID is not in the trace`);
    else if (isMoved(span, parent)) warnings.push(`${span.name}: timestamps were adjusted`);
  }
  return warnings;
}

/** A child with the same host name as its parent keeps its times in any case; our spans have no host name that would hide errors. */
function isMoved(span: SinkSpan, parent: SinkSpan): boolean {
  if (span.end - span.start > parent.end - parent.start) return span.start < parent.start;
  return span.start < parent.start || span.end > parent.end;
}

function textOf(span: SinkSpan): string {
  return JSON.stringify(span, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
}

/** Trace ids the search of that address finds: each span is looked at alone, by its own start. */
export function searched(address: string, spans: readonly SinkSpan[]): ReadonlySet<string> {
  const question = new URL(address).searchParams;
  const tags: { readonly [name: string]: string } = JSON.parse(question.get('tags') ?? '{}');
  const micros = (name: string) => BigInt(question.get(name) ?? '') * 1000n;
  const found = spans.filter(
    span =>
      span.resource['service.name'] === question.get('service') &&
      span.start >= micros('start') &&
      span.start <= micros('end') &&
      Object.entries(tags).every(([name, value]) => String(span.attributes[name]) === value),
  );
  return new Set(found.map(span => span.traceId));
}
