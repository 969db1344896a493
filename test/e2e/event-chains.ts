/** From an item's trace back to the event that caused it: item → tenant event → connection event, or item → timer or zuul event or an operator's request, by links alone. */
import type { CheckedSpan } from '../fake/check-traces.ts';

/** One sentence per item whose chain is broken; empty when all lead back to where they came from. */
export function brokenChains(spans: readonly CheckedSpan[]): readonly string[] {
  const byId = new Map(spans.map(span => [`${span.traceId}/${span.spanId}`, span]));
  const followed = (span: CheckedSpan) => {
    const link = span.links.find(each => each.attributes['gatehouse.link.relation'] === 'follows');
    return link === undefined ? undefined : byId.get(`${link.traceId}/${link.spanId}`);
  };
  return spans.flatMap(item => {
    if (item.attributes['gatehouse.span.type'] !== 'QueueItem') return [];
    const tenant = followed(item);
    // A timer's event goes to its pipeline directly, and so do one of the connection zuul and a request to enqueue.
    if (['TimerEvent', 'ZuulEvent', 'ManagementEvent enqueue'].some(name => tenant?.name.startsWith(name)))
      return tenant !== undefined && item.start < tenant.start
        ? [`${item.name} began before the event that caused it`]
        : [];
    if (tenant?.attributes['gatehouse.span.type'] !== 'TenantEvent')
      return [`${item.name} leads to ${tenant?.name ?? 'no span'}, not to a tenant event`];
    const event = followed(tenant);
    if (event === undefined || event.parentSpanId !== null || !event.name.includes('Event'))
      return [`${tenant.name} leads to ${event?.name ?? 'no span'}, not to the event`];
    if (item.start < tenant.start || tenant.start < event.start)
      return [`${item.name} began before the event that caused it`];
    return [];
  });
}

/** Roots of item traces by trace id. */
export function itemRoots(spans: readonly CheckedSpan[]): ReadonlyMap<string, readonly CheckedSpan[]> {
  return Map.groupBy(
    spans.filter(span => span.attributes['gatehouse.span.type'] === 'QueueItem'),
    span => span.traceId,
  );
}

/** Spans of items that have not left: their root has not ended. */
export function unfinished<Span extends CheckedSpan>(spans: readonly Span[]): readonly Span[] {
  const rooted = new Set(spans.filter(span => span.parentSpanId === null).map(span => span.traceId));
  return spans.filter(span => !rooted.has(span.traceId));
}
