/** A {@link SpanRecord} in the shape that the OpenTelemetry exporter takes. No SDK span exists for it. */

import type { Attributes as OtelAttributes, AttributeValue as OtelValue } from '@opentelemetry/api';
import {
  createTraceState,
  type HrTime,
  type Link,
  type SpanContext,
  SpanKind,
  type SpanStatus,
  SpanStatusCode,
  TraceFlags,
} from '@opentelemetry/api';
import type { Resource } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Attributes, AttributeValue, SpanRecord } from '../../model/span.ts';

/** What surrounds a span in a request. The serializer groups by identity of `resource`: spans of one process must share the object. */
export interface SpanEnvelope {
  readonly resource: Resource;
  readonly scope: { readonly name: string; readonly version?: string };
}

const KINDS: { readonly [kind in SpanRecord['kind']]: SpanKind } = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/** @param span an ended span; an open one would get no duration. */
export function readableSpan(span: SpanRecord, envelope: SpanEnvelope): ReadableSpan {
  const bare = contextOf(span.traceId, span.spanId);
  const context =
    span.traceState === undefined ? bare : { ...bare, traceState: createTraceState(span.traceState) };
  const startTime = hrTime(span.start);
  const endTime = hrTime(span.end ?? span.start);
  const root: Writable<ReadableSpan> = {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => context,
    startTime,
    endTime,
    duration: difference(startTime, endTime),
    status: span.status.code === 'error' ? failed(span.status.message) : STATUS[span.status.code],
    attributes: otelAttributes(span.attributes),
    links: span.links.length === 0 ? NO_LINKS : span.links.map(linkOf),
    events: span.events.length === 0 ? NO_EVENTS : span.events.map(eventOf),
    ended: true,
    resource: envelope.resource,
    instrumentationScope: envelope.scope,
    droppedAttributesCount: span.dropped?.attributes ?? 0,
    droppedEventsCount: span.dropped?.events ?? 0,
    droppedLinksCount: span.dropped?.links ?? 0,
  };
  // Assigned, not spread into the literal, which would double the cost.
  if (span.parent !== null) root.parentSpanContext = contextOf(span.traceId, span.parent);
  return root;
}

type Writable<T> = { -readonly [key in keyof T]: T[key] };

const STATUS: { readonly [code in 'unset' | 'ok']: SpanStatus } = {
  unset: { code: SpanStatusCode.UNSET },
  ok: { code: SpanStatusCode.OK },
};
const NO_LINKS: Link[] = [];
const NO_EVENTS: ReadableSpan['events'] = [];

function failed(message: string): SpanStatus {
  return { code: SpanStatusCode.ERROR, message };
}

function eventOf({ name, at, attributes }: SpanRecord['events'][number]): ReadableSpan['events'][number] {
  return { name, time: hrTime(at), attributes: otelAttributes(attributes) };
}

/** `[seconds, nanoseconds]`, all nine digits. */
function hrTime(time: Nanoseconds): HrTime {
  return [Number(time.slice(0, -9)), Number(time.slice(-9))];
}

function difference([startSeconds, startNanos]: HrTime, [endSeconds, endNanos]: HrTime): HrTime {
  const nanos = endNanos - startNanos;
  return nanos < 0 ? [endSeconds - startSeconds - 1, nanos + 1e9] : [endSeconds - startSeconds, nanos];
}

function contextOf(traceId: string, spanId: string): SpanContext {
  return { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: false };
}

function linkOf(link: SpanRecord['links'][number]): Link {
  return { context: contextOf(link.traceId, link.spanId), attributes: otelAttributes(link.attributes) };
}

/** Attributes for the packages, which only read them. Copied when there are lists, see {@link otelValue}. */
export function otelAttributes(attributes: Attributes): OtelAttributes {
  if (!hasLists(attributes)) return attributes as OtelAttributes;
  const copy: OtelAttributes = {};
  for (const [name, value] of Object.entries(attributes)) copy[name] = otelValue(value);
  return copy;
}

function hasLists(attributes: Attributes): boolean {
  for (const name in attributes) if (typeof attributes[name] === 'object') return true;
  return false;
}

/** Lists are copied by type: the SDK's type is mutable and has lists of one type only. */
function otelValue(value: AttributeValue): OtelValue {
  if (typeof value !== 'object') return value;
  const texts = value.filter(each => typeof each === 'string');
  const numbers = value.filter(each => typeof each === 'number');
  return texts.length > 0
    ? texts
    : numbers.length > 0
      ? numbers
      : value.filter(each => typeof each === 'boolean');
}
