/**
 * A span as data. `src/tracing/spans/` makes them from records; the outbox, the API and the exporter all carry this shape.
 * An open span (`end` null) is shown, never exported.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { SpanId, TraceId } from '../lib/ids.ts';

/** A value that OTLP can carry. */
export type AttributeValue =
  | string
  | number
  | boolean
  | readonly string[]
  | readonly number[]
  | readonly boolean[];
/** Attributes by name, e.g. `gatehouse.tenant`. */
export type Attributes = { readonly [name: string]: AttributeValue };

/** A reference to another span that is not the parent. */
export interface SpanLink {
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  /** `gatehouse.link.relation` and what else is known. */
  readonly attributes: Attributes;
}

/** A span by its ids, for links. */
export interface SpanReference {
  readonly traceId: TraceId;
  readonly spanId: SpanId;
}

/** One span, with the ids and times that are exported. */
export interface SpanRecord {
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  /** null: a root. */
  readonly parent: SpanId | null;
  /** Kind and subject, e.g. `Build unit-tests`. */
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'producer' | 'consumer';
  readonly start: Nanoseconds;
  readonly end: Nanoseconds | null;
  readonly attributes: Attributes;
  readonly events: readonly {
    readonly at: Nanoseconds;
    readonly name: string;
    readonly attributes: Attributes;
  }[];
  readonly links: readonly SpanLink[];
  /** W3C trace state; absent: none. Only spans that we received have one. */
  readonly traceState?: string;
  /** The resource of a job's or a command's own telemetry; absent: Gatehouse made the span. */
  readonly resource?: Attributes;
  /** Name of its instrumentation scope, likewise. */
  readonly scope?: string;
  /** How much was dropped by its maker or by our limits; absent: nothing. */
  readonly dropped?: { readonly attributes: number; readonly events: number; readonly links: number };
  /** Error exactly when the result is a failure, an error or a timeout; `ok` only on spans of others that carry it. */
  readonly status: { readonly code: 'unset' | 'ok' } | { readonly code: 'error'; readonly message: string };
}
