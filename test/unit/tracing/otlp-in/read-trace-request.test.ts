import { gzipSync } from 'node:zlib';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { resourceFromAttributes } from '@opentelemetry/resources';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseNanoseconds } from '../../../../src/lib/clock.ts';
import type { SpanId, TraceId } from '../../../../src/lib/ids.ts';
import type { SpanRecord } from '../../../../src/model/span.ts';
import { readableSpan } from '../../../../src/tracing/otlp/readable-span.ts';
import { type ReadSpans, readTraceRequest } from '../../../../src/tracing/otlp-in/read-trace-request.ts';
import { REQUEST_LIMITS } from '../../../../src/tracing/otlp-in/request-limits.ts';

const SPAN: SpanRecord = {
  traceId: '5b8efff798038103d269b633813fc60c' as TraceId,
  spanId: 'eee19b7ec3c1b174' as SpanId,
  parent: 'eee19b7ec3c1b173' as SpanId,
  name: 'compile',
  kind: 'client',
  start: parseNanoseconds('1795000000123456789'),
  end: parseNanoseconds('1795000001000000001'),
  attributes: { text: 'ä', whole: -7, real: 0.5, yes: true, list: ['a', 'b'], numbers: [1, 2] },
  events: [{ at: parseNanoseconds('1795000000500000000'), name: 'warned', attributes: { line: 3 } }],
  links: [
    {
      traceId: '5b8efff798038103d269b633813fc60d' as TraceId,
      spanId: 'eee19b7ec3c1b175' as SpanId,
      attributes: { why: 'because' },
    },
  ],
  status: { code: 'error', message: 'exit 2' },
};
const RESOURCE = { 'service.name': 'unit-tests' };

/** As OpenTelemetry's own serializers write it. */
function encoded(type: 'protobuf' | 'json', ...spans: readonly SpanRecord[]): Uint8Array {
  const envelope = { resource: resourceFromAttributes(RESOURCE), scope: { name: 'tool', version: '1' } };
  const serializer = type === 'json' ? JsonTraceSerializer : ProtobufTraceSerializer;
  return serializer.serializeRequest(spans.map(span => readableSpan(span, envelope)))!;
}

const TYPES = { protobuf: 'application/x-protobuf', json: 'application/json; charset=utf-8' } as const;

function read(type: 'protobuf' | 'json', body: Uint8Array, encoding?: string): Promise<ReadSpans> {
  return readTraceRequest({ body, contentType: TYPES[type], contentEncoding: encoding });
}

function json(...spans: readonly object[]): Promise<ReadSpans> {
  return read('json', Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] })));
}

const GOOD = {
  traceId: SPAN.traceId,
  spanId: SPAN.spanId,
  name: 'compile',
  startTimeUnixNano: SPAN.start,
  endTimeUnixNano: SPAN.end,
};

/** The one span of an answer. */
function only(answer: ReadSpans): SpanRecord {
  if (answer.kind !== 'spans' || answer.spans.length !== 1) throw new Error(JSON.stringify(answer));
  return answer.spans[0]!.span;
}

describe.each(['protobuf', 'json'] as const)('a request in %s', type => {
  test('comes out as it went in, with resource and scope', async () => {
    const expected = { ...SPAN, resource: RESOURCE, scope: 'tool' };
    expect(only(await read(type, encoded(type, SPAN)))).toEqual(expected);
    expect(only(await read(type, gzipSync(encoded(type, SPAN)), 'gzip'))).toEqual(expected);
  });

  test('keeps a success status and the counts of dropped parts', async () => {
    const span = {
      ...SPAN,
      status: { code: 'ok' },
      dropped: { attributes: 1, events: 2, links: 3 },
    } as const;
    expect(only(await read(type, encoded(type, span)))).toMatchObject({
      status: span.status,
      dropped: span.dropped,
    });
  });

  test('may hold many spans, and none', async () => {
    const answer = await read(type, encoded(type, SPAN, { ...SPAN, spanId: '1234567812345678' as SpanId }));
    expect(answer).toMatchObject({ kind: 'spans', encoding: type, rejected: 0, reason: undefined });
    expect(answer.kind === 'spans' && answer.spans).toHaveLength(2);
    expect(await read(type, type === 'json' ? Buffer.from('{}') : Buffer.alloc(0))).toMatchObject({
      spans: [],
    });
  });

  test('is refused when it is cut anywhere', async () => {
    const body = encoded(type, SPAN);
    for (let length = 1; length < body.length; length += 7) {
      const answer = await read(type, body.subarray(0, length));
      expect(answer).toMatchObject({ kind: 'refused', status: 400 });
    }
  });

  test('never makes the reader throw, for any bytes', async () => {
    const body = encoded(type, SPAN);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ at: fc.nat(body.length - 1), byte: fc.nat(255) }), { maxLength: 8 }),
        async changes => {
          const broken = Buffer.from(body);
          for (const { at, byte } of changes) broken[at] = byte;
          expect(['spans', 'refused']).toContain((await read(type, broken)).kind);
        },
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async bytes => {
        expect(['spans', 'refused']).toContain((await read(type, bytes)).kind);
      }),
    );
  });

  test('is refused when it is not gzip although it says so, when it is packed otherwise, or unpacks to too much', async () => {
    expect(await read(type, encoded(type, SPAN), 'gzip')).toMatchObject({ kind: 'refused', status: 400 });
    expect(await read(type, encoded(type, SPAN), 'br')).toMatchObject({ kind: 'refused', status: 415 });
    const bomb = gzipSync(Buffer.alloc(100_000_000));
    expect(await read(type, bomb, 'gzip')).toMatchObject({ kind: 'refused', status: 413 });
    const large = Buffer.alloc(REQUEST_LIMITS.bodyBytes + 1);
    expect(await read(type, large)).toMatchObject({ kind: 'refused', status: 413 });
  });
});

describe('a span', () => {
  test('without a sound identity or time is rejected with the reason', async () => {
    const bad: readonly (readonly [string, object])[] = [
      ['trace id', { traceId: '0'.repeat(32) }],
      ['trace id', { traceId: 'abc' }],
      ['span id', { spanId: '0'.repeat(16) }],
      ['span id', { spanId: undefined }],
      ['parent span id', { parentSpanId: 'zz' }],
      ['its own parent', { parentSpanId: GOOD.spanId }],
      ['time', { startTimeUnixNano: '0' }],
      ['time', { startTimeUnixNano: '1795000000', endTimeUnixNano: '1795000001' }],
      ['time', { endTimeUnixNano: undefined }],
      ['time', { endTimeUnixNano: '18446744073709551615' }],
      ['end before', { endTimeUnixNano: '1795000000123456788' }],
      ['larger', { attributes: attributes(100, 'x'.repeat(4000)) }],
    ];
    for (const [reason, change] of bad) {
      const answer = await json(GOOD, { ...GOOD, ...change });
      expect(answer).toMatchObject({ kind: 'spans', rejected: 1, reason: expect.stringContaining(reason) });
      expect(answer.kind === 'spans' && answer.spans).toHaveLength(1);
    }
  });

  test('without a parent is a root, also when its parent is all zero', async () => {
    expect(only(await json(GOOD)).parent).toBeNull();
    expect(only(await json({ ...GOOD, parentSpanId: '0000000000000000' })).parent).toBeNull();
  });

  test('loses, and counts, what cannot be carried', async () => {
    const values = [
      { bytesValue: 'AAAA' },
      { kvlistValue: { values: [] } },
      {},
      { arrayValue: { values: [{ stringValue: 'a' }, { intValue: '1' }] } },
      { arrayValue: { values: [{ arrayValue: { values: [] } }] } },
      { doubleValue: 'NaN' },
    ];
    const span = only(
      await json({
        ...GOOD,
        attributes: values.map((value, index) => ({ key: `k${index}`, value })),
        events: [{ name: 'without a time' }],
        links: [{ traceId: 'x', spanId: 'y' }],
        droppedAttributesCount: 4,
      }),
    );
    expect(span).toMatchObject({ attributes: {}, events: [], links: [] });
    expect(span.dropped).toEqual({ attributes: 10, events: 1, links: 1 });
  });

  test('has at most so many attributes, events and links, and no longer texts', async () => {
    const many = Array.from({ length: 300 }, () => ({ timeUnixNano: GOOD.startTimeUnixNano, name: 'e' }));
    const links = Array.from({ length: 300 }, () => ({ traceId: GOOD.traceId, spanId: GOOD.spanId }));
    const span = only(await json({ ...GOOD, attributes: attributes(300, 'v'), events: many, links }));
    expect(Object.keys(span.attributes)).toHaveLength(REQUEST_LIMITS.attributes);
    expect([span.events.length, span.links.length]).toEqual([REQUEST_LIMITS.events, REQUEST_LIMITS.links]);
    expect(span.dropped).toEqual({ attributes: 172, events: 172, links: 172 });
    const long = only(
      await json({ ...GOOD, name: 'n'.repeat(9999), attributes: attributes(1, 'v'.repeat(9999)) }),
    );
    expect(long.name).toHaveLength(REQUEST_LIMITS.nameLength);
    expect(long.attributes.k0).toHaveLength(REQUEST_LIMITS.textLength);
  });

  test('keeps all digits of a large number, no password of a URL, and any name for an attribute', async () => {
    const span = only(
      await json({
        ...GOOD,
        attributes: [
          { key: 'big', value: { intValue: '9007199254740993' } },
          { key: 'url', value: { stringValue: 'https://me:secret@example.org/' } },
          { key: '__proto__', value: { boolValue: true } },
        ],
      }),
    );
    expect(span.attributes.big).toBe('9007199254740993');
    expect(JSON.stringify(span)).not.toContain('secret');
    expect(Object.keys(span.attributes)).toEqual(['big', 'url', '__proto__']);
  });

  test('keeps its trace state when it is one', async () => {
    expect(only(await json({ ...GOOD, traceState: 'a=b' })).traceState).toBe('a=b');
    expect(only(await json({ ...GOOD, traceState: 'a=\n' })).traceState).toBeUndefined();
    expect(only(await json({ ...GOOD, status: { code: 1 } })).status).toEqual({ code: 'ok' });
  });
});

test('JSON of the wrong shape, too deep, or not JSON is refused with the place', async () => {
  const refused = async (text: string) => {
    const answer = await read('json', Buffer.from(text));
    return answer.kind === 'refused' ? answer.reason : answer.kind;
  };
  expect(await refused('{"resourceSpans":{}}')).toBe('resourceSpans is not a list');
  expect(await refused('{"resourceSpans":[1]}')).toBe('an element of resourceSpans is not an object');
  expect(await refused('[')).toBe('the body is not JSON');
  expect(await refused(`${'['.repeat(40)}`)).toBe('nested deeper than 32');
  expect(await refused('{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":1}]}]}]}')).toBe(
    'name is not a text',
  );
});

test('another content type is refused', async () => {
  const answer = await readTraceRequest({
    body: encoded('json', SPAN),
    contentType: 'text/plain',
    contentEncoding: undefined,
  });
  expect(answer).toMatchObject({ kind: 'refused', status: 415 });
});

test('of more spans than a request may hold the rest is rejected', async () => {
  const limits = { ...REQUEST_LIMITS, spans: 2 };
  const body = Buffer.from(
    JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [GOOD, GOOD, GOOD, GOOD] }] }] }),
  );
  const answer = await readTraceRequest({ body, contentType: TYPES.json, contentEncoding: '' }, limits);
  expect(answer).toMatchObject({ rejected: 2, reason: 'more than 2 spans in one request' });
});

describe('what a request may cost', () => {
  const small = (index: number) => ({ ...GOOD, spanId: String(index).padStart(16, 'a') });
  const resource = { attributes: attributes(15, 'x'.repeat(4000)) };
  const oneResource = (spans: readonly object[]) => ({
    resourceSpans: [{ resource, scopeSpans: [{ spans }] }],
  });

  test('is bounded where many spans share a large resource: each counts with it, as it will be stored', async () => {
    const body = gzipSync(JSON.stringify(oneResource(Array.from({ length: 10_000 }, (_, at) => small(at)))));
    expect(body.length).toBeLessThan(60_000);
    const answer = await read('json', body, 'gzip');
    if (answer.kind === 'refused') throw new Error(answer.reason);
    const stored = answer.spans.map(({ span }) => JSON.stringify(span).length);
    expect(answer.spans.findIndex(({ bytes }, at) => bytes !== stored[at]! + 1)).toBe(-1);
    expect(stored.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(REQUEST_LIMITS.storedBytes);
    expect(answer.spans.length).toBeGreaterThan(100);
    expect(answer.rejected).toBe(10_000 - answer.spans.length);
    expect(answer.reason).toContain('counting their resource with each');
  });

  test('is refused when it holds more fields than we look at, however small the body is', async () => {
    const empty = Buffer.alloc(2_000_000 * 2);
    for (let at = 0; at < empty.length; at += 2) empty[at] = 0x12;
    const length = (bytes: number) => [
      (bytes & 0x7f) | 0x80,
      ((bytes >> 7) & 0x7f) | 0x80,
      ((bytes >> 14) & 0x7f) | 0x80,
      bytes >> 21,
    ];
    const scopes = Buffer.concat([Buffer.from([0x12, ...length(empty.length)]), empty]);
    const spans = Buffer.concat([Buffer.from([0x0a, ...length(scopes.length)]), scopes]);
    const packed = gzipSync(spans);
    expect(packed.length).toBeLessThan(5000);
    expect(await read('protobuf', packed, 'gzip')).toMatchObject({
      kind: 'refused',
      status: 400,
      reason: 'more than 300000 fields',
    });
    const text = `{"resourceSpans":[{"scopeSpans":[{"spans":[${'{},'.repeat(1_300_000)}{}]}]}]}`;
    expect(await read('json', gzipSync(text), 'gzip')).toMatchObject({
      kind: 'refused',
      status: 400,
      reason: 'more than 300000 values',
    });
  });

  test('leaves spans beyond the number unread, good and bad ones counted alike', async () => {
    const limits = { ...REQUEST_LIMITS, spans: 2 };
    const spans = [{}, GOOD, small(1), { name: 7 }];
    const body = Buffer.from(JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans }] }] }));
    const answer = await readTraceRequest({ body, contentType: TYPES.json, contentEncoding: '' }, limits);
    expect(answer).toMatchObject({ kind: 'spans', rejected: 3, spans: [{ span: { spanId: GOOD.spanId } }] });
  });

  test('is what the SDK fills it with: 512 spans of 128 attributes', async () => {
    const full = Object.fromEntries(Array.from({ length: 128 }, (_, at) => [`key${at}`, at]));
    const spans = Array.from({ length: 512 }, (_, at) => ({
      ...SPAN,
      spanId: String(at + 1).padStart(16, '0') as SpanId,
      attributes: full,
    }));
    for (const type of ['protobuf', 'json'] as const)
      expect(await read(type, gzipSync(encoded(type, ...spans)), 'gzip')).toMatchObject({ rejected: 0 });
  });

  test('counts what was left away in 32 bits, and cuts the names of events', async () => {
    const span = only(
      await json({
        ...GOOD,
        droppedAttributesCount: 9e15,
        events: [{ timeUnixNano: GOOD.startTimeUnixNano, name: 'e'.repeat(5000) }],
      }),
    );
    expect(span.dropped?.attributes).toBe(2 ** 32 - 1);
    expect(span.events[0]?.name).toHaveLength(REQUEST_LIMITS.nameLength);
  });
});

function attributes(count: number, text: string): readonly object[] {
  return Array.from({ length: count }, (_, index) => ({ key: `k${index}`, value: { stringValue: text } }));
}
