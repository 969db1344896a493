/**
 * Spans as OTLP/JSON: the API shows the spans that a collector would get. An open span has no `endTimeUnixNano` and the attribute
 * `gatehouse.open`.
 */
import type { Attributes, AttributeValue, SpanRecord } from '../model/span.ts';
import { type Installation, resources } from '../tracing/resource.ts';

const KINDS = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const;

/** @param service `service.name` of all spans. */
export function otlpJson(spans: readonly SpanRecord[], version: string, service: string) {
  const resource = { 'service.name': service, 'service.version': version };
  return { resourceSpans: [resourceSpans(resource, { name: service, version }, spans)] };
}

/** Spans of our own, by the process that made them. */
export function ownOtlpJson(spans: readonly SpanRecord[], installation: Installation) {
  const scope = { name: 'gatehouse', version: installation.serviceVersion };
  const groups = Map.groupBy(spans, resources(installation));
  return { resourceSpans: [...groups].map(([resource, own]) => resourceSpans(resource, scope, own)) };
}

function resourceSpans(
  resource: Attributes,
  scope: { readonly name: string; readonly version: string },
  spans: readonly SpanRecord[],
) {
  return {
    resource: { attributes: attributesJson(resource) },
    scopeSpans: [{ scope, spans: spans.map(spanJson) }],
  };
}

function spanJson(span: SpanRecord) {
  const open = span.end === null ? { 'gatehouse.open': true } : {};
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.parent === null ? {} : { parentSpanId: span.parent }),
    name: span.name,
    kind: KINDS[span.kind],
    startTimeUnixNano: span.start,
    ...(span.end === null ? {} : { endTimeUnixNano: span.end }),
    attributes: attributesJson({ ...span.attributes, ...open }),
    events: span.events.map(event => ({
      timeUnixNano: event.at,
      name: event.name,
      attributes: attributesJson(event.attributes),
    })),
    links: span.links.map(link => ({
      traceId: link.traceId,
      spanId: link.spanId,
      attributes: attributesJson(link.attributes),
    })),
    status: span.status.code === 'error' ? { code: 2, message: span.status.message } : { code: 0 },
  };
}

function attributesJson(attributes: Attributes) {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: valueJson(value) }));
}

function valueJson(value: AttributeValue): object {
  switch (typeof value) {
    case 'string':
      return { stringValue: value };
    case 'boolean':
      return { boolValue: value };
    case 'number':
      // OTLP/JSON writes 64-bit integers as text.
      return Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value };
    default:
      return { arrayValue: { values: value.map(valueJson) } };
  }
}
