/**
 * `ExportTraceServiceRequest` in protobuf, span by span. Field numbers are those of opentelemetry-proto 1.x; unknown fields are
 * passed over, as protobuf asks.
 */
import type { Attributes } from '../../model/span.ts';
import { utf8, type WireField, wireFields } from '../otlp/wire.ts';
import type { RequestLimits } from './request-limits.ts';
import {
  type AttributeCollector,
  attributeCollector,
  type ToldEvent,
  type ToldLink,
  type ToldSpan,
  type ToldSpanOf,
  type ToldValue,
} from './told-span.ts';

/** @throws RangeError when the bytes are not such a message. */
export function* protobufSpans(body: Uint8Array, limits: RequestLimits): Generator<ToldSpanOf, void> {
  for (const resourceSpans of messages(body, 1)) {
    const resource = resourceOf(resourceSpans, limits);
    for (const scopeSpans of messages(resourceSpans, 2)) {
      const scope = scopeOf(scopeSpans);
      for (const span of messages(scopeSpans, 2)) yield { resource, scope, span: spanOf(span, limits) };
    }
  }
}

function resourceOf(resourceSpans: Uint8Array, limits: RequestLimits): Attributes {
  const attributes = attributeCollector(limits);
  for (const resource of messages(resourceSpans, 1))
    for (const keyValue of messages(resource, 1)) addKeyValue(attributes, keyValue);
  return attributes.done().values;
}

function scopeOf(scopeSpans: Uint8Array): string {
  let name = '';
  for (const scope of messages(scopeSpans, 1)) for (const text of messages(scope, 1)) name = utf8(text);
  return name;
}

function spanOf(bytes: Uint8Array, limits: RequestLimits): ToldSpan {
  const attributes = attributeCollector(limits);
  const events: ToldEvent[] = [];
  const links: ToldLink[] = [];
  const dropped = { attributes: 0, events: 0, links: 0 };
  const span = { traceId: '', spanId: '', parentSpanId: '', traceState: '', name: '', kind: 0 };
  const window = { start: 0n, end: 0n };
  let status = { code: 0, message: '' };
  for (const field of wireFields(bytes)) {
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
        addKeyValue(attributes, bytesOf(field));
        break;
      case 10:
        dropped.attributes += Number(field.value);
        break;
      case 11:
        if (events.length < limits.events) events.push(eventOf(bytesOf(field), limits));
        else dropped.events += 1;
        break;
      case 12:
        dropped.events += Number(field.value);
        break;
      case 13:
        if (links.length < limits.links) links.push(linkOf(bytesOf(field), limits));
        else dropped.links += 1;
        break;
      case 14:
        dropped.links += Number(field.value);
        break;
      case 15:
        status = statusOf(bytesOf(field));
        break;
    }
  }
  return { ...span, ...window, attributes: attributes.done(), events, links, status, dropped };
}

function eventOf(bytes: Uint8Array, limits: RequestLimits): ToldEvent {
  const attributes = attributeCollector(limits);
  let at = 0n;
  let name = '';
  for (const field of wireFields(bytes)) {
    if (field.number === 1) at = field.value;
    else if (field.number === 2) name = text(field);
    else if (field.number === 3) addKeyValue(attributes, bytesOf(field));
  }
  return { at, name, attributes: attributes.done() };
}

function linkOf(bytes: Uint8Array, limits: RequestLimits): ToldLink {
  const attributes = attributeCollector(limits);
  let traceId = '';
  let spanId = '';
  for (const field of wireFields(bytes)) {
    if (field.number === 1) traceId = hex(field);
    else if (field.number === 2) spanId = hex(field);
    else if (field.number === 4) addKeyValue(attributes, bytesOf(field));
  }
  return { traceId, spanId, attributes: attributes.done() };
}

function statusOf(bytes: Uint8Array): ToldSpan['status'] {
  let code = 0;
  let message = '';
  for (const field of wireFields(bytes)) {
    if (field.number === 2) message = text(field);
    else if (field.number === 3) code = Number(field.value);
  }
  return { code, message };
}

function addKeyValue(attributes: AttributeCollector, bytes: Uint8Array): void {
  let key = '';
  let value: ToldValue;
  for (const field of wireFields(bytes)) {
    if (field.number === 1) key = text(field);
    else if (field.number === 2) value = anyValue(bytesOf(field));
  }
  attributes.add(key, value);
}

function anyValue(bytes: Uint8Array): ToldValue {
  let value: ToldValue;
  // A oneof: the last one counts.
  for (const field of wireFields(bytes)) value = field.number === 5 ? listOf(field) : scalar(field);
  return value;
}

function listOf(field: WireField): readonly ToldValue[] {
  const values: ToldValue[] = [];
  for (const each of messages(bytesOf(field), 1)) {
    let value: ToldValue;
    // A list in a list is carried no further: no depth to fear.
    for (const inner of wireFields(each)) value = scalar(inner);
    values.push(value);
  }
  return values;
}

function scalar(field: WireField): Exclude<ToldValue, readonly ToldValue[]> {
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

function* messages(bytes: Uint8Array, number: number): Generator<Uint8Array, void> {
  for (const field of wireFields(bytes)) if (field.number === number) yield bytesOf(field);
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
