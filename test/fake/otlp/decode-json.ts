/** `ExportTraceServiceRequest` in OTLP's JSON: ids in hex, enums as numbers, 64-bit integers as strings. */
import type { SinkAttributes, SinkSpan, SinkValue } from './sink-span.ts';

type Json = { readonly [name: string]: unknown };

export function decodeJsonRequest(data: Uint8Array): readonly SinkSpan[] {
  const request = object(JSON.parse(Buffer.from(data).toString('utf8')));
  return objects(request.resourceSpans).flatMap(resourceSpans => {
    const resource = attributesOf(object(resourceSpans.resource));
    return objects(resourceSpans.scopeSpans).flatMap(scopeSpans => {
      const scope = text(object(scopeSpans.scope).name);
      return objects(scopeSpans.spans).map(span => decodeSpan(span, resource, scope));
    });
  });
}

function decodeSpan(span: Json, resource: SinkAttributes, scope: string): SinkSpan {
  const status = object(span.status);
  return {
    traceId: text(span.traceId),
    spanId: text(span.spanId),
    parentSpanId: text(span.parentSpanId) || null,
    name: text(span.name),
    kind: number(span.kind),
    start: integer(span.startTimeUnixNano),
    end: integer(span.endTimeUnixNano),
    attributes: attributesOf(span),
    events: objects(span.events).map(event => ({
      at: integer(event.timeUnixNano),
      name: text(event.name),
      attributes: attributesOf(event),
    })),
    links: objects(span.links).map(link => ({
      traceId: text(link.traceId),
      spanId: text(link.spanId),
      attributes: attributesOf(link),
    })),
    status: { code: number(status.code), message: text(status.message) },
    flags: number(span.flags),
    traceState: text(span.traceState),
    dropped:
      number(span.droppedAttributesCount) + number(span.droppedEventsCount) + number(span.droppedLinksCount),
    resource,
    scope,
  };
}

function attributesOf(owner: Json): SinkAttributes {
  return Object.fromEntries(
    objects(owner.attributes).map(pair => [text(pair.key), anyValue(object(pair.value))]),
  );
}

function anyValue(value: Json): SinkValue {
  const [[kind, content] = []] = Object.entries(value);
  switch (kind) {
    case 'stringValue':
      return text(content);
    case 'boolValue':
      return content === true;
    case 'intValue':
      return Number(content);
    case 'doubleValue':
      return number(content);
    case 'arrayValue':
      return objects(object(content).values).map(anyValue);
    default:
      throw new Error(`an attribute has no plain value (${kind ?? 'none'})`);
  }
}

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function number(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function integer(value: unknown): bigint {
  return typeof value === 'string' || typeof value === 'number' ? BigInt(value) : 0n;
}
