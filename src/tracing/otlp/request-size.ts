/** Keeps requests below the size that collectors accept: gRPC servers refuse messages over 4 MiB by default. */
import type { Attributes, SpanRecord } from '../../model/span.ts';

/** Maximum estimated bytes of a request; leaves room for the resource and for errors of the estimate. */
const REQUEST_BYTES = 3_500_000;
/** Maximum number of spans per request, so that it does not delay the next ones. */
const REQUEST_SPANS = 4096;

/** An upper bound of a span's size on the wire. */
export function estimatedBytes(span: SpanRecord): number {
  let bytes = 128 + textBytes(span.name) + attributeBytes(span.attributes);
  for (const link of span.links) bytes += 64 + attributeBytes(link.attributes);
  for (const event of span.events) bytes += 32 + textBytes(event.name) + attributeBytes(event.attributes);
  if (span.status.code === 'error') bytes += textBytes(span.status.message);
  if (span.traceState !== undefined) bytes += textBytes(span.traceState);
  // As if no other span of the request shared them.
  if (span.resource !== undefined) bytes += attributeBytes(span.resource);
  if (span.scope !== undefined) bytes += textBytes(span.scope);
  return bytes;
}

function attributeBytes(attributes: Attributes): number {
  let bytes = 0;
  for (const name in attributes) {
    const value = attributes[name];
    bytes += 24 + textBytes(name);
    if (typeof value === 'string') bytes += textBytes(value);
    else if (typeof value === 'object') for (const each of value) bytes += 12 + textBytes(String(each));
  }
  return bytes;
}

/** UTF-8 needs at most three bytes per UTF-16 unit; only long texts are counted exactly. */
function textBytes(text: string): number {
  return text.length < 64 ? text.length * 3 : Buffer.byteLength(text);
}

/** Every given span is in exactly one of the two. */
export interface PackedSpans {
  readonly requests: readonly (readonly SpanRecord[])[];
  /** Each too large for a request of its own. */
  readonly tooLarge: readonly SpanRecord[];
}

/** Packs spans into requests in order; neighbours stay together. */
export function packSpans(
  spans: Iterable<SpanRecord>,
  maxBytes = REQUEST_BYTES,
  maxSpans = REQUEST_SPANS,
): PackedSpans {
  const requests: SpanRecord[][] = [];
  const tooLarge: SpanRecord[] = [];
  let current: SpanRecord[] = [];
  let bytes = 0;
  for (const span of spans) {
    const size = estimatedBytes(span);
    if (size > maxBytes) {
      tooLarge.push(span);
      continue;
    }
    if (bytes + size > maxBytes || current.length >= maxSpans) {
      requests.push(current);
      current = [];
      bytes = 0;
    }
    current.push(span);
    bytes += size;
  }
  if (current.length > 0) requests.push(current);
  return { requests, tooLarge };
}
