/** Reading of the W3C `traceparent`, as others send it: in a header, or in the environment of a command. */
import type { SpanId, TraceId } from '../lib/ids.ts';
import type { SpanReference } from '../model/event.ts';

export interface TraceContext {
  readonly span: SpanReference;
  /** The caller records its own spans. */
  readonly sampled: boolean;
}

/** Of a version we do not know the first four fields count, as the recommendation says; `ff` is no version. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const LONGEST = 200;

/** Undefined: it is none, and is to be ignored. */
export function parseTraceparent(text: string | undefined): TraceContext | undefined {
  if (text === undefined || text.length > LONGEST) return undefined;
  const [, version, traceId, spanId, flags, more] = TRACEPARENT.exec(text.trim()) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined;
  if (version === '00' && more !== undefined) return undefined;
  return {
    span: { traceId: traceId as TraceId, spanId: spanId as SpanId },
    sampled: (Number.parseInt(flags, 16) & 1) === 1,
  };
}
