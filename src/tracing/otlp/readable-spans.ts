/** Records in the shape that the OpenTelemetry packages take, with their resources. */
import { resourceFromAttributes } from '@opentelemetry/resources';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { Attributes, SpanRecord } from '../../model/span.ts';
import { type Installation, resources } from '../resource.ts';
import { otelAttributes, readableSpan, type SpanEnvelope } from './readable-span.ts';

/** @param own resource of our own spans; spans of others have theirs. */
export function readableSpans(spans: readonly SpanRecord[], own: Installation): ReadableSpan[] {
  const envelopeOf = envelopes(own);
  return spans.map(span => readableSpan(span, envelopeOf(span)));
}

/** The serializer groups by identity: equal resources must be one object. */
function envelopes(own: Installation): (span: SpanRecord) => SpanEnvelope {
  const ownResource = resources(own);
  const ownScope = { name: 'gatehouse', version: own.serviceVersion };
  const known = new Map<Attributes, SpanEnvelope>();
  const resourcesOfOthers = new Map<string, SpanEnvelope['resource']>();
  const scopes = new Map<string, SpanEnvelope['scope']>();
  const ofOthers = (resource: Attributes) =>
    interned(resourcesOfOthers, JSON.stringify(resource), () =>
      resourceFromAttributes(otelAttributes(resource)),
    );
  return span => {
    const { resource, scope = '' } = span;
    if (resource !== undefined)
      return { resource: ofOthers(resource), scope: interned(scopes, scope, () => ({ name: scope })) };
    const attributes = ownResource(span);
    return interned(known, attributes, () => ({
      resource: resourceFromAttributes(otelAttributes(attributes)),
      scope: ownScope,
    }));
  };
}

function interned<K, T>(known: Map<K, T>, key: K, make: () => T): T {
  const found = known.get(key) ?? make();
  known.set(key, found);
  return found;
}
