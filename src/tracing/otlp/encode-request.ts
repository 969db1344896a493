/** `ExportTraceServiceRequest` as bytes: the same for both protocols, and the same each time. */
import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { SpanRecord } from '../../model/span.ts';
import { otelAttributes, readableSpan, type SpanEnvelope } from './readable-span.ts';

/** @param own of the spans we made; those of others bring who made them along. */
export function encodeRequest(spans: readonly SpanRecord[], own: SpanEnvelope): Uint8Array {
  const envelopeOf = envelopes(own);
  const readable = spans.map(span => readableSpan(span, envelopeOf(span)));
  const bytes = ProtobufTraceSerializer.serializeRequest(readable);
  if (bytes === undefined) throw new Error('the serializer made nothing of these spans');
  return bytes;
}

/** The serializer groups by identity: who is the same must be the same object. */
function envelopes(own: SpanEnvelope): (span: SpanRecord) => SpanEnvelope {
  const resources = new Map<string, Resource>();
  const scopes = new Map<string, SpanEnvelope['scope']>();
  return span => {
    if (span.resource === undefined && span.scope === undefined) return own;
    const { resource, scope = '' } = span;
    return {
      resource:
        resource === undefined
          ? own.resource
          : interned(resources, JSON.stringify(resource), () =>
              resourceFromAttributes(otelAttributes(resource)),
            ),
      scope: interned(scopes, scope, () => ({ name: scope })),
    };
  };
}

function interned<T>(known: Map<string, T>, key: string, make: () => T): T {
  const found = known.get(key) ?? make();
  known.set(key, found);
  return found;
}
