/** Spans as they arrived, looked at from different sides. */
import type { CheckedSpan } from '../fake/check-traces.ts';

export function byTrace<Span extends CheckedSpan>(
  spans: readonly Span[],
): ReadonlyMap<string, readonly Span[]> {
  return Map.groupBy(spans, ({ traceId }) => traceId);
}

export function kindOf(span: CheckedSpan): string {
  return String(span.attributes['gatehouse.span.type']);
}

/** Kinds of the spans right below one, in order of time: they arrive by who made them. */
export function kindsBelow(span: CheckedSpan | undefined, spans: readonly CheckedSpan[]): readonly string[] {
  return spans
    .filter(each => each.traceId === span?.traceId && each.parentSpanId === span.spanId)
    .toSorted((a, b) => Number(a.start - b.start) || Number(a.end - b.end))
    .map(kindOf);
}

/** The last link of each relation. */
export function relationsOf({ links }: CheckedSpan): ReadonlyMap<unknown, CheckedSpan['links'][number]> {
  return new Map(links.map(link => [link.attributes['gatehouse.link.relation'], link]));
}

/** Where a link leads, if that span arrived. */
export function linked<Span extends CheckedSpan>(
  span: CheckedSpan | undefined,
  relation: string,
  spans: readonly Span[],
): Span | undefined {
  const link = span === undefined ? undefined : relationsOf(span).get(relation);
  return spans.find(each => each.spanId === link?.spanId && each.traceId === link.traceId);
}
