/** Records in the shape the OpenTelemetry packages take, each with who made it. */
import { type Resource, resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { SpanRecord } from '../../model/span.ts';
import { otelAttributes, readableSpan, type SpanEnvelope } from './readable-span.ts';

/** @param own of the spans we made; those of others bring who made them along. */
export function readableSpans(spans: readonly SpanRecord[], own: SpanEnvelope): ReadableSpan[] {
  const envelopeOf = envelopes(own);
  return spans.map(span => readableSpan(span, envelopeOf(span)));
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
