/**
 * A span that is not made yet: its key and end are known, the rest is computed on demand.
 *
 * A reset of twenty items checks thousands of spans for the few hundred that just ended; only those are made.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { SpanId, TraceId } from '../../lib/ids.ts';
import { clampInto, lasting, type TimeWindow } from '../../lib/time-window.ts';
import type { Attributes, SpanLink, SpanRecord } from '../../model/span.ts';
import type { SpanKind } from '../allowed-attributes.ts';
import { type AttributeInput, attributesOf } from '../attribute-values.ts';
import { ATTRIBUTE } from '../attributes.ts';
import { errorTypeOf, statusOf } from '../status.ts';
import { wireKindOf } from '../wire-kind.ts';
import { zuulAttributes } from '../zuul-attributes.ts';
import { zuulNameOf } from '../zuul-names.ts';
import type { SpanStyle } from './span-options.ts';

/** What decides whether a span has just ended, without the cost of making it. */
export interface SpanPlan {
  /** Unique within the trace and the same for every version of the record; cheaper than the span id. */
  readonly key: string;
  /** null: still open. */
  readonly end: Nanoseconds | null;
  /** An equal record at each call. */
  make(): SpanRecord;
}

/** A span as a parent. */
export interface ParentSpan extends TimeWindow {
  /** Derived on demand: a plan that is not made needs no id. */
  readonly id: () => SpanId;
}

/** What a span's author decides; {@link spanOf} derives the rest: the name, the wire kind, the status, the time inside the parent. */
export interface SpanDraft {
  readonly traceId: TraceId;
  readonly style: SpanStyle;
  readonly kind: SpanKind;
  /** Displayed and searched instead of `kind`; default `kind`. */
  readonly label?: string;
  /** The part of the name after the kind, of low cardinality: a pipeline or a job, never a change, a commit or an id. */
  readonly subject?: string;
  /** Of an event's trace, e.g. `github`. */
  readonly driver?: string;
  readonly id: SpanId;
  /** null: a root. */
  readonly parent: ParentSpan | null;
  /** By the clock that recorded it; {@link spanOf} moves both ends into the parent. */
  readonly start: Nanoseconds;
  readonly end: Nanoseconds | null;
  /** Decides the status; one of Zuul's results. */
  readonly result?: string | undefined;
  /** The reason of a failure in one line, for the status. */
  readonly detail?: string | undefined;
  /** Attributes shared by spans of the trace, made once by `attributesOf`. */
  readonly common: Attributes;
  /** Facts of this span alone; those not allowed for its kind are dropped. */
  readonly own?: AttributeInput;
  /** Zuul's attributes with values that ours do not have, for `names = zuul`. */
  readonly zuul?: () => Attributes;
  readonly events?: SpanRecord['events'];
  readonly links?: readonly SpanLink[];
}

/** The only place a {@link SpanRecord} is made: clamped into its parent, named, allow-listed, with the status its result gives. */
export function spanOf(draft: SpanDraft): SpanRecord {
  const { kind, result } = draft;
  const label = draft.label ?? kind;
  const window =
    draft.parent === null
      ? lasting({ start: draft.start, end: draft.end, adjusted: 0 })
      : clampInto(draft.parent, draft.start, draft.end);
  const wireKind = wireKindOf(kind, draft.parent === null);
  const derived = {
    spanType: label,
    result,
    errorType: errorTypeOf(result),
    clockAdjusted: window.adjusted === 0 ? undefined : window.adjusted,
  };
  const plain = attributesOf(kind, derived, draft.common, draft.own);
  const ours = wireKind === 'client' ? { ...plain, ...serverAttributes(kind, plain, draft.style) } : plain;
  return {
    traceId: draft.traceId,
    spanId: draft.id,
    parent: draft.parent?.id() ?? null,
    name: nameOf(draft, label),
    kind: wireKind,
    start: window.start,
    end: window.end,
    attributes: withZuuls(draft, ours),
    events: draft.events ?? [],
    links: draft.links ?? [],
    status: statusOf(result, draft.detail),
  };
}

function nameOf({ kind, style, subject, driver }: SpanDraft, label: string): string {
  if (style.names === 'zuul') return zuulNameOf(kind, label, driver);
  return subject === undefined ? label : `${label} ${subject}`;
}

function serverAttributes(kind: SpanKind, ours: Attributes, { servers }: SpanStyle): Attributes {
  const connection = ours[ATTRIBUTE.connection];
  const server = typeof connection === 'string' ? servers?.get(connection) : undefined;
  return attributesOf(kind, { serverAddress: server?.address, serverPort: server?.port });
}

function withZuuls({ kind, style, zuul }: SpanDraft, ours: Attributes): Attributes {
  return style.names === 'zuul' ? { ...ours, ...zuulAttributes(kind, ours), ...zuul?.() } : ours;
}

/** Computes a derived id at most once. */
export function once<T>(compute: () => T): () => T {
  let value: { readonly it: T } | undefined;
  return () => {
    value ??= { it: compute() };
    return value.it;
  };
}
