/**
 * `ExportTraceServiceRequest` in JSON, span by span, as the OTLP specification has it: lowerCamelCase names, ids in hexadecimal,
 * 64-bit integers as text or number, enumerations as numbers, unknown members ignored.
 */
import { jsonOutgrows } from '../../lib/json-depth.ts';
import {
  attributeCollector,
  type ReceivedAttributes,
  type ReceivedEvent,
  type ReceivedLink,
  type ReceivedSpan,
  type ReceivedValue,
  type SharedResource,
  type SpanInRequest,
  sharedResource,
} from './received-span.ts';
import type { RequestLimits } from './request-limits.ts';

/** A list among the attributes of an event of a span needs 17. */
const MAX_DEPTH = 32;

interface JsonObject {
  readonly [name: string]: unknown;
}

/** @throws RangeError when the bytes are not such a document. */
export function* jsonSpans(body: Uint8Array, limits: RequestLimits): Generator<SpanInRequest, void> {
  for (const resourceSpans of objectsAt(parsed(body, limits), 'resourceSpans')) {
    const resource = resourceOf(resourceSpans, limits);
    for (const scopeSpans of objectsAt(resourceSpans, 'scopeSpans')) {
      const scope = textAt(objectAt(scopeSpans, 'scope'), 'name');
      for (const span of objectsAt(scopeSpans, 'spans'))
        yield { resource, scope, span: () => spanOf(span, limits) };
    }
  }
}

/** Checks the bytes before parsing: the parser takes seconds for 4 MB of `{},{},…`. */
function parsed(body: Uint8Array, { elements }: RequestLimits): JsonObject {
  switch (jsonOutgrows(body, { depth: MAX_DEPTH, elements })) {
    case 'depth':
      throw new RangeError(`nested deeper than ${MAX_DEPTH}`);
    case 'elements':
      throw new RangeError(`more than ${elements} values`);
    case undefined:
      break;
  }
  try {
    return asObject(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)), 'the body');
  } catch (error) {
    // From the parser (SyntaxError) or the decoder (TypeError).
    throw error instanceof RangeError ? error : new RangeError('the body is not JSON', { cause: error });
  }
}

function resourceOf(resourceSpans: JsonObject, limits: RequestLimits): SharedResource {
  return sharedResource(attributesAt(objectAt(resourceSpans, 'resource'), limits).values);
}

function spanOf(span: JsonObject, limits: RequestLimits): ReceivedSpan {
  const events = objectsAt(span, 'events');
  const links = objectsAt(span, 'links');
  const status = objectAt(span, 'status');
  return {
    traceId: textAt(span, 'traceId').toLowerCase(),
    spanId: textAt(span, 'spanId').toLowerCase(),
    parentSpanId: textAt(span, 'parentSpanId').toLowerCase(),
    traceState: textAt(span, 'traceState'),
    name: textAt(span, 'name'),
    kind: countAt(span, 'kind'),
    start: integerAt(span, 'startTimeUnixNano'),
    end: integerAt(span, 'endTimeUnixNano'),
    attributes: attributesAt(span, limits),
    events: events.slice(0, limits.events).map(event => eventOf(event, limits)),
    links: links.slice(0, limits.links).map(link => linkOf(link, limits)),
    status: { code: countAt(status, 'code'), message: textAt(status, 'message') },
    dropped: {
      attributes: countAt(span, 'droppedAttributesCount'),
      events: countAt(span, 'droppedEventsCount') + Math.max(0, events.length - limits.events),
      links: countAt(span, 'droppedLinksCount') + Math.max(0, links.length - limits.links),
    },
  };
}

function eventOf(event: JsonObject, limits: RequestLimits): ReceivedEvent {
  const attributes = attributesAt(event, limits);
  return { at: integerAt(event, 'timeUnixNano'), name: textAt(event, 'name'), attributes };
}

function linkOf(link: JsonObject, limits: RequestLimits): ReceivedLink {
  return {
    traceId: textAt(link, 'traceId').toLowerCase(),
    spanId: textAt(link, 'spanId').toLowerCase(),
    attributes: attributesAt(link, limits),
  };
}

function attributesAt(object: JsonObject, limits: RequestLimits): ReceivedAttributes {
  const attributes = attributeCollector(limits);
  for (const attribute of objectsAt(object, 'attributes'))
    attributes.add(textAt(attribute, 'key'), anyValue(objectAt(attribute, 'value'), true));
  return attributes.done();
}

function anyValue(value: JsonObject, listsToo: boolean): ReceivedValue {
  if (given(value.stringValue)) return textAt(value, 'stringValue');
  if (given(value.boolValue)) return typeof value.boolValue === 'boolean' ? value.boolValue : undefined;
  if (given(value.intValue)) return integerAt(value, 'intValue');
  if (given(value.doubleValue)) return Number(value.doubleValue);
  // Nested lists are not kept.
  if (given(value.arrayValue) && listsToo)
    return objectsAt(objectAt(value, 'arrayValue'), 'values').map(each => anyValue(each, false));
  return undefined;
}

/** In protobuf's JSON, null means the default. */
function given(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function asObject(value: unknown, what: string): JsonObject {
  if (!given(value)) return {};
  if (typeof value !== 'object' || Array.isArray(value)) throw new RangeError(`${what} is not an object`);
  return value as JsonObject;
}

function objectAt(object: JsonObject, name: string): JsonObject {
  return asObject(object[name], name);
}

function objectsAt(object: JsonObject, name: string): readonly JsonObject[] {
  const value = object[name];
  if (!given(value)) return [];
  if (!Array.isArray(value)) throw new RangeError(`${name} is not a list`);
  return value.map(each => asObject(each, `an element of ${name}`));
}

function textAt(object: JsonObject, name: string): string {
  const value = object[name];
  if (!given(value)) return '';
  if (typeof value !== 'string') throw new RangeError(`${name} is not a text`);
  return value;
}

function integerAt(object: JsonObject, name: string): bigint {
  const value = object[name];
  if (!given(value)) return 0n;
  if (typeof value === 'string' && /^-?\d{1,20}$/.test(value)) return BigInt(value);
  if (typeof value === 'number' && Number.isInteger(value)) return BigInt(value);
  throw new RangeError(`${name} is not an integer`);
}

/** A count or an enumeration; 0 for anything but a positive integer. */
function countAt(object: JsonObject, name: string): number {
  const value = object[name];
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : 0;
}
