/** `ExportTraceServiceRequest` as bytes: the same for both protocols, and the same each time. */
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { SpanRecord } from '../../model/span.ts';
import type { Installation } from '../resource.ts';
import { readableSpans } from './readable-spans.ts';

/** @param own resource of our own spans; spans of others have theirs. */
export function encodeRequest(spans: readonly SpanRecord[], own: Installation): Uint8Array {
  const bytes = ProtobufTraceSerializer.serializeRequest(readableSpans(spans, own));
  if (bytes === undefined) throw new Error('the serializer made nothing of these spans');
  return bytes;
}
