/** OTLP JSON, as `/api/tenant/<t>/item/<uuid>/trace` answers, back into span records. */
import { parseNanoseconds } from '../../lib/clock.ts';
import type { SpanId, TraceId } from '../../lib/ids.ts';
import type { Attributes, AttributeValue, SpanRecord } from '../../model/span.ts';

interface OtlpValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values?: readonly OtlpValue[] };
}

type OtlpAttributes = readonly { readonly key: string; readonly value: OtlpValue }[] | undefined;

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind?: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano?: string;
  readonly attributes?: OtlpAttributes;
  readonly events?: readonly {
    readonly timeUnixNano: string;
    readonly name: string;
    readonly attributes?: OtlpAttributes;
  }[];
  readonly links?: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes?: OtlpAttributes;
  }[];
  readonly status?: { readonly code?: number; readonly message?: string };
}

/** The part of OTLP JSON that is read here; 64-bit numbers are strings, as OTLP has them. */
export interface OtlpTraceDocument {
  readonly resourceSpans: readonly {
    readonly scopeSpans: readonly { readonly spans: readonly OtlpSpan[] }[];
  }[];
}

const KINDS = ['internal', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

/**
 * In the order of the document, resources left out. A span without an end is open.
 *
 * @throws RangeError for a time that is no number of nanoseconds.
 */
export function spansFromOtlp(trace: OtlpTraceDocument): readonly SpanRecord[] {
  return trace.resourceSpans.flatMap(resource =>
    resource.scopeSpans.flatMap(scope => scope.spans.map(spanRecord)),
  );
}

function spanRecord(span: OtlpSpan): SpanRecord {
  return {
    traceId: span.traceId as TraceId,
    spanId: span.spanId as SpanId,
    parent:
      span.parentSpanId === undefined || span.parentSpanId === '' ? null : (span.parentSpanId as SpanId),
    name: span.name,
    kind: KINDS[span.kind ?? 0] ?? 'internal',
    start: parseNanoseconds(span.startTimeUnixNano),
    end: span.endTimeUnixNano === undefined ? null : parseNanoseconds(span.endTimeUnixNano),
    attributes: attributesOf(span.attributes),
    events: (span.events ?? []).map(event => ({
      at: parseNanoseconds(event.timeUnixNano),
      name: event.name,
      attributes: attributesOf(event.attributes),
    })),
    links: (span.links ?? []).map(link => ({
      traceId: link.traceId as TraceId,
      spanId: link.spanId as SpanId,
      attributes: attributesOf(link.attributes),
    })),
    status:
      span.status?.code === 2 ? { code: 'error', message: span.status.message ?? '' } : { code: 'unset' },
  };
}

function attributesOf(attributes: OtlpAttributes): Attributes {
  return Object.fromEntries((attributes ?? []).map(({ key, value }) => [key, attributeValue(value)]));
}

function attributeValue(value: OtlpValue): AttributeValue {
  if (value.arrayValue !== undefined)
    return (value.arrayValue.values ?? []).map(each => String(attributeValue(each)));
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? '';
}
