/** The bytes of each span in export requests, and those of the resource and scope it came with: what a backend would store. */
import { utf8, type WireField, wireFields } from '../../src/tracing/otlp/wire.ts';

export interface RawSpan {
  /** Trace id and span id, in hexadecimal. */
  readonly key: string;
  readonly traceId: string;
  readonly name: string;
  /** Hexadecimal: `ResourceSpans.resource`, `ScopeSpans.scope` and the span itself. */
  readonly resource: string;
  readonly scope: string;
  readonly span: string;
}

/** @param bodies `ExportTraceServiceRequest`s, without their compression. */
export function rawSpans(bodies: Iterable<Uint8Array>): readonly RawSpan[] {
  const found: RawSpan[] = [];
  for (const body of bodies) {
    for (const resourceSpans of parts(body, 1)) {
      const resource = hex(parts(resourceSpans, 1)[0]);
      for (const scopeSpans of parts(resourceSpans, 2)) {
        const scope = hex(parts(scopeSpans, 1)[0]);
        for (const span of parts(scopeSpans, 2)) {
          const traceId = hex(parts(span, 1)[0]);
          const key = `${traceId} ${hex(parts(span, 2)[0])}`;
          const name = utf8(parts(span, 5)[0] ?? new Uint8Array());
          found.push({ key, traceId, name, resource, scope, span: hex(span) });
        }
      }
    }
  }
  return found;
}

function parts(message: Uint8Array, number: number): readonly Uint8Array[] {
  return [...wireFields(message)]
    .filter((field: WireField) => field.number === number)
    .flatMap(field => (field.bytes === undefined ? [] : [field.bytes]));
}

function hex(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('hex');
}
