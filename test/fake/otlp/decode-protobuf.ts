/** `ExportTraceServiceRequest` in protobuf, read by the sink's own rules: what must not be on the wire throws. */
import { gunzipSync } from 'node:zlib';
import { utf8, type WireField, wireFields } from '../../../src/tracing/otlp/wire.ts';
import type { SinkAttributes, SinkSpan, SinkValue } from './sink-span.ts';

/** Gzipped or plain. */
export function decodeExportRequest(data: Uint8Array): readonly SinkSpan[] {
  const bytes = data[0] === 0x1f && data[1] === 0x8b ? gunzipSync(data) : data;
  return children(message(bytes), 1)
    .map(message)
    .flatMap(resourceSpans => {
      const resource = attributesIn(message(children(resourceSpans, 1)[0]), 1);
      return children(resourceSpans, 2)
        .map(message)
        .flatMap(scopeSpans => {
          const scope = text(message(children(scopeSpans, 1)[0]), 1);
          return children(scopeSpans, 2).map(span => decodeSpan(span, resource, scope));
        });
    });
}

function decodeSpan(bytes: Uint8Array, resource: SinkAttributes, scope: string): SinkSpan {
  const span = message(bytes);
  const parent = hex(children(span, 4)[0]);
  const state = message(children(span, 15)[0]);
  return {
    traceId: hex(children(span, 1)[0]),
    spanId: hex(children(span, 2)[0]),
    parentSpanId: parent === '' ? null : parent,
    name: text(span, 5),
    kind: Number(number(span, 6)),
    start: number(span, 7),
    end: number(span, 8),
    attributes: attributesIn(span, 9),
    events: children(span, 11)
      .map(message)
      .map(event => ({
        at: number(event, 1),
        name: text(event, 2),
        attributes: attributesIn(event, 3),
      })),
    links: children(span, 13)
      .map(message)
      .map(link => ({
        traceId: hex(children(link, 1)[0]),
        spanId: hex(children(link, 2)[0]),
        attributes: attributesIn(link, 4),
      })),
    status: { code: Number(number(state, 3)), message: text(state, 2) },
    flags: Number(number(span, 16)),
    traceState: text(span, 3),
    dropped: [10, 12, 14].reduce((sum, field) => sum + Number(number(span, field)), 0),
    resource,
    scope,
  };
}

const NOTHING = new Uint8Array();

type Message = ReadonlyMap<number, readonly WireField[]>;

function message(bytes: Uint8Array | undefined): Message {
  const fields = new Map<number, WireField[]>();
  for (const field of wireFields(bytes ?? NOTHING)) {
    const same = fields.get(field.number);
    if (same === undefined) fields.set(field.number, [field]);
    else same.push(field);
  }
  return fields;
}

function children(parent: Message, wanted: number): readonly Uint8Array[] {
  return (parent.get(wanted) ?? []).flatMap(field => (field.bytes === undefined ? [] : [field.bytes]));
}

function number(parent: Message, wanted: number): bigint {
  return parent.get(wanted)?.[0]?.value ?? 0n;
}

function text(parent: Message, wanted: number): string {
  const bytes = children(parent, wanted)[0];
  return bytes === undefined ? '' : utf8(bytes);
}

function hex(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : Buffer.from(bytes).toString('hex');
}

function attributesIn(parent: Message, wanted: number): SinkAttributes {
  const attributes: { [name: string]: SinkValue } = {};
  for (const pair of parent.get(wanted) ?? []) {
    let [name, value]: [string, Uint8Array | undefined] = ['', undefined];
    for (const { number: field, bytes } of wireFields(pair.bytes ?? NOTHING)) {
      if (field === 1 && bytes !== undefined) name = utf8(bytes);
      if (field === 2) value = bytes;
    }
    attributes[name] = anyValue(value);
  }
  return attributes;
}

/** AnyValue; one of a kind that must not be sent throws, so that a null or an object on the wire fails the test. */
function anyValue(any: Uint8Array | undefined): SinkValue {
  const field = wireFields(any ?? NOTHING).next().value;
  switch (field?.number) {
    case 1:
      return field.bytes === undefined ? '' : utf8(field.bytes);
    case 2:
      return field.value === 1n;
    case 3:
      return Number(BigInt.asIntN(64, field.value));
    case 4:
      return new Float64Array(BigUint64Array.of(field.value).buffer)[0] ?? Number.NaN;
    case 5:
      return field.bytes === undefined ? [] : children(message(field.bytes), 1).map(anyValue);
    default:
      throw new Error(`an attribute has no plain value (AnyValue field ${field?.number ?? 'missing'})`);
  }
}
