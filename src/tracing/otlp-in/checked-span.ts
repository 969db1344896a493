/** Turns a received span into a record that can be exported: strict where a backend would fail or be misled, lenient elsewhere. */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { SpanId, TraceId } from '../../lib/ids.ts';
import type { SpanLink, SpanRecord } from '../../model/span.ts';
import { cutText, jsonBytes, type ReceivedSpan, type SpanInRequest } from './received-span.ts';
import type { RequestLimits } from './request-limits.ts';

/** A span and its stored size, resource included. */
export interface WeighedSpan {
  readonly span: SpanRecord;
  readonly bytes: number;
}

/** `reason` goes back to the client in the partial success: a noun phrase without any text of the client. */
export type CheckedSpan =
  | ({ readonly kind: 'good' } & WeighedSpan)
  | { readonly kind: 'rejected'; readonly reason: string };

/** 2000-01-01 and 2200-01-01: a time outside comes from a wrong clock or is in another unit. */
const EARLIEST = 946_684_800_000_000_000n;
const LATEST = 7_258_118_400_000_000_000n;
/** W3C: at most 32 members in 512 characters, printable. */
const TRACE_STATE = /^[ -~]{1,512}$/;
const KINDS = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;
const NO_PARENT = /^0*$/;

/** @throws RangeError when the span is malformed. */
export function checkedSpan(received: SpanInRequest, limits: RequestLimits): CheckedSpan {
  const span = received.span();
  const [traceId, spanId] = [traceIdIn(span.traceId), spanIdIn(span.spanId)];
  if (traceId === undefined) return rejected('a trace id that is not 16 bytes, or all zero');
  if (spanId === undefined) return rejected('a span id that is not 8 bytes, or all zero');
  const parent = NO_PARENT.test(span.parentSpanId) ? null : spanIdIn(span.parentSpanId);
  if (parent === undefined) return rejected('a parent span id that is not 8 bytes');
  if (parent === spanId) return rejected('a span that is its own parent');
  if (!isPlausible(span.start) || !isPlausible(span.end)) return rejected('a time that cannot be right');
  if (span.end < span.start) return rejected('an end before the start');
  const { events, links, dropped } = partsOf(span);
  const own: SpanRecord = {
    ...{ traceId, spanId, parent },
    name: cutText(span.name, limits.nameLength) || 'unnamed',
    kind: KINDS[span.kind] ?? 'internal',
    ...{ start: nanoseconds(span.start), end: nanoseconds(span.end) },
    attributes: span.attributes.values,
    events: events.map(event => ({ ...event, name: cutText(event.name, limits.nameLength) })),
    links,
    ...(TRACE_STATE.test(span.traceState) ? { traceState: span.traceState } : {}),
    scope: cutText(received.scope, limits.nameLength),
    ...(dropped.attributes + dropped.events + dropped.links > 0 ? { dropped } : {}),
    status: statusOf(span.status, limits),
  };
  const bytes = jsonBytes(own) + received.resource.bytes;
  return bytes > limits.spanBytes
    ? rejected(`a span larger than ${limits.spanBytes} bytes`)
    : { kind: 'good', span: { ...own, resource: received.resource.attributes }, bytes };
}

function rejected(reason: string): CheckedSpan {
  return { kind: 'rejected', reason };
}

/** Events without a plausible time and links without a target are dropped and counted. */
function partsOf(span: ReceivedSpan): Required<Pick<SpanRecord, 'events' | 'links' | 'dropped'>> {
  const events = span.events.filter(({ at }) => isPlausible(at));
  const links = span.links.flatMap<SpanLink>(link => {
    const [traceId, spanId] = [traceIdIn(link.traceId), spanIdIn(link.spanId)];
    return traceId === undefined || spanId === undefined
      ? []
      : [{ traceId, spanId, attributes: link.attributes.values }];
  });
  return {
    events: events.map(({ at, name, attributes }) => ({
      at: nanoseconds(at),
      name,
      attributes: attributes.values,
    })),
    links,
    dropped: {
      attributes: counted(span.dropped.attributes + span.attributes.dropped),
      events: counted(span.dropped.events + span.events.length - events.length),
      links: counted(span.dropped.links + span.links.length - links.length),
    },
  };
}

/** OTLP counts in 32 bits; received counts may be any number. */
function counted(count: number): number {
  return Math.min(count, 2 ** 32 - 1);
}

function statusOf({ code, message }: ReceivedSpan['status'], limits: RequestLimits): SpanRecord['status'] {
  if (code === 2) return { code: 'error', message: cutText(message, limits.textLength) };
  return { code: code === 1 ? 'ok' : 'unset' };
}

function traceIdIn(text: string): TraceId | undefined {
  return /^[0-9a-f]{32}$/.test(text) && !/^0+$/.test(text) ? (text as TraceId) : undefined;
}

function spanIdIn(text: string): SpanId | undefined {
  return /^[0-9a-f]{16}$/.test(text) && !/^0+$/.test(text) ? (text as SpanId) : undefined;
}

function isPlausible(time: bigint): boolean {
  return time >= EARLIEST && time < LATEST;
}

function nanoseconds(time: bigint): Nanoseconds {
  return time.toString() as Nanoseconds;
}
