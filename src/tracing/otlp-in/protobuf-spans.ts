/**
 * `ExportTraceServiceRequest` in protobuf, span by span. Field numbers are those of opentelemetry-proto 1.x; unknown fields are
 * ignored, as protobuf requires.
 */
import { utf8, type WireField, wireFields } from '../otlp/wire.ts';
import {
  type AttributeCollector,
  attributeCollector,
  type ReceivedEvent,
  type ReceivedLink,
  type ReceivedSpan,
  type ReceivedValue,
  type SharedResource,
  type SpanInRequest,
  sharedResource,
} from './received-span.ts';
import type { RequestLimits } from './request-limits.ts';

/** One request while it is read. */
interface Reading {
  readonly limits: RequestLimits;
  /** How many more fields may be read. */
  fieldsLeft: number;
}

/** @throws RangeError when the bytes are not such a message, or hold more fields than the limits say. */
export function* protobufSpans(body: Uint8Array, limits: RequestLimits): Generator<SpanInRequest, void> {
  const reading: Reading = { limits, fieldsLeft: limits.elements };
  for (const resourceSpans of messages(body, 1, reading)) {
    const resource = resourceOf(resourceSpans, reading);
    for (const scopeSpans of messages(resourceSpans, 2, reading)) {
      const scope = scopeOf(scopeSpans, reading);
      for (const span of messages(scopeSpans, 2, reading))
        yield { resource, scope, span: () => spanOf(span, reading) };
    }
  }
}

/** @throws RangeError as {@link protobufSpans}. */
function* fields(bytes: Uint8Array, reading: Reading): Generator<WireField, void> {
  for (const field of wireFields(bytes)) {
    reading.fieldsLeft -= 1;
    if (reading.fieldsLeft < 0) throw new RangeError(`more than ${reading.limits.elements} fields`);
    yield field;
  }
}

function resourceOf(resourceSpans: Uint8Array, reading: Reading): SharedResource {
  const attributes = attributeCollector(reading.limits);
  for (const resource of messages(resourceSpans, 1, reading))
    for (const keyValue of messages(resource, 1, reading)) addKeyValue(attributes, keyValue, reading);
  return sharedResource(attributes.done().values);
}

function scopeOf(scopeSpans: Uint8Array, reading: Reading): string {
  let name = '';
  for (const scope of messages(scopeSpans, 1, reading))
    for (const text of messages(scope, 1, reading)) name = utf8(text);
  return name;
}

function spanOf(bytes: Uint8Array, reading: Reading): ReceivedSpan {
  const attributes = attributeCollector(reading.limits);
  const events: ReceivedEvent[] = [];
  const links: ReceivedLink[] = [];
  const dropped = { attributes: 0, events: 0, links: 0 };
  const span = { traceId: '', spanId: '', parentSpanId: '', traceState: '', name: '', kind: 0 };
  const window = { start: 0n, end: 0n };
  let status = { code: 0, message: '' };
  for (const field of fields(bytes, reading)) {
    switch (field.number) {
      case 1:
        span.traceId = hex(field);
        break;
      case 2:
        span.spanId = hex(field);
        break;
      case 3:
        span.traceState = text(field);
        break;
      case 4:
        span.parentSpanId = hex(field);
        break;
      case 5:
        span.name = text(field);
        break;
      case 6:
        span.kind = Number(field.value);
        break;
      case 7:
        window.start = field.value;
        break;
      case 8:
        window.end = field.value;
        break;
      case 9:
        addKeyValue(attributes, bytesOf(field), reading);
        break;
      case 10:
        dropped.attributes += Number(field.value);
        break;
      case 11:
        if (events.length < reading.limits.events) events.push(eventOf(bytesOf(field), reading));
        else dropped.events += 1;
        break;
      case 12:
        dropped.events += Number(field.value);
        break;
      case 13:
        if (links.length < reading.limits.links) links.push(linkOf(bytesOf(field), reading));
        else dropped.links += 1;
        break;
      case 14:
        dropped.links += Number(field.value);
        break;
      case 15:
        status = statusOf(bytesOf(field), reading);
        break;
    }
  }
  return { ...span, ...window, attributes: attributes.done(), events, links, status, dropped };
}

function eventOf(bytes: Uint8Array, reading: Reading): ReceivedEvent {
  const attributes = attributeCollector(reading.limits);
  let at = 0n;
  let name = '';
  for (const field of fields(bytes, reading)) {
    if (field.number === 1) at = field.value;
    else if (field.number === 2) name = text(field);
    else if (field.number === 3) addKeyValue(attributes, bytesOf(field), reading);
  }
  return { at, name, attributes: attributes.done() };
}

function linkOf(bytes: Uint8Array, reading: Reading): ReceivedLink {
  const attributes = attributeCollector(reading.limits);
  let traceId = '';
  let spanId = '';
  for (const field of fields(bytes, reading)) {
    if (field.number === 1) traceId = hex(field);
    else if (field.number === 2) spanId = hex(field);
    else if (field.number === 4) addKeyValue(attributes, bytesOf(field), reading);
  }
  return { traceId, spanId, attributes: attributes.done() };
}

function statusOf(bytes: Uint8Array, reading: Reading): ReceivedSpan['status'] {
  let code = 0;
  let message = '';
  for (const field of fields(bytes, reading)) {
    if (field.number === 2) message = text(field);
    else if (field.number === 3) code = Number(field.value);
  }
  return { code, message };
}

function addKeyValue(attributes: AttributeCollector, bytes: Uint8Array, reading: Reading): void {
  let key = '';
  let value: ReceivedValue;
  for (const field of fields(bytes, reading)) {
    if (field.number === 1) key = text(field);
    else if (field.number === 2) value = anyValue(bytesOf(field), reading);
  }
  attributes.add(key, value);
}

function anyValue(bytes: Uint8Array, reading: Reading): ReceivedValue {
  let value: ReceivedValue;
  // A oneof: the last one counts.
  for (const field of fields(bytes, reading))
    value = field.number === 5 ? listOf(field, reading) : scalar(field);
  return value;
}

function listOf(field: WireField, reading: Reading): readonly ReceivedValue[] {
  const values: ReceivedValue[] = [];
  for (const each of messages(bytesOf(field), 1, reading)) {
    let value: ReceivedValue;
    // A list in a list is carried no further: no depth to fear.
    for (const inner of fields(each, reading)) value = scalar(inner);
    values.push(value);
  }
  return values;
}

function scalar(field: WireField): Exclude<ReceivedValue, readonly ReceivedValue[]> {
  switch (field.number) {
    case 1:
      return text(field);
    case 2:
      return field.value !== 0n;
    case 3:
      return BigInt.asIntN(64, field.value);
    case 4:
      return doubleOf(field.value);
    default:
      return undefined;
  }
}

function doubleOf(bits: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt.asUintN(64, bits));
  return view.getFloat64(0);
}

function* messages(bytes: Uint8Array, number: number, reading: Reading): Generator<Uint8Array, void> {
  for (const field of fields(bytes, reading)) if (field.number === number) yield bytesOf(field);
}

function bytesOf(field: WireField): Uint8Array {
  if (field.bytes === undefined) throw new RangeError(`field ${field.number} holds no bytes`);
  return field.bytes;
}

function text(field: WireField): string {
  return utf8(bytesOf(field));
}

function hex(field: WireField): string {
  const { buffer, byteOffset, byteLength } = bytesOf(field);
  return Buffer.from(buffer, byteOffset, byteLength).toString('hex');
}
