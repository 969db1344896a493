/** Parses the W3C `traceparent` of a request header or of a command's environment. */
import type { SpanId, TraceId } from '../lib/ids.ts';
import type { SpanReference } from '../model/span.ts';

/** The sender's claim, well-formed but not authenticated: the caller of {@link parseTraceparent} decides whether to trust it. */
export interface TraceContext {
  readonly span: SpanReference;
  /** The caller records its own spans. */
  readonly sampled: boolean;
}

/** Of unknown versions the first four fields count, as the recommendation says; `ff` is not a version. */
const TRACEPARENT =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const LONGEST = 200;

/** @returns undefined for a malformed header, which is to be ignored. */
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
