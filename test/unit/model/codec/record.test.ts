import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { randomIds } from '../../../../src/lib/ids.ts';
import {
  isBrokenRecord,
  isNewerRecord,
  recordCodec,
  upgradeFrom,
} from '../../../../src/model/codec/record.ts';
import * as records from '../../../../src/model/codec/records.ts';
import { list as listOf, object, text, whole } from '../../../../src/model/codec/schema.ts';
import { newerRecord } from '../../../fake/newer-record.ts';

interface Text {
  readonly text: string;
  readonly length: number;
}

const first = recordCodec('text', 1, text);
const third = recordCodec('text', 3, object<Text>({ text, length: whole }), [
  upgradeFrom<string>(text => ({ text })),
  upgradeFrom<{ readonly text: string }>(({ text }) => ({ text, length: text.length })),
]);

function bytesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function refusal(decode: () => unknown): Error {
  try {
    decode();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('it was not refused');
}

describe('a record', () => {
  test('comes back as it was written', () => {
    const value = { text: 'Grüße\n"', length: 8 };
    expect(third.decode(third.encode(value))).toEqual(value);
  });

  test('of every earlier version is brought up to date, step by step', () => {
    expect(third.decode(first.encode('hello'))).toEqual({ text: 'hello', length: 5 });
    expect(third.decode(bytesOf('{"k":"text","v":2,"d":{"text":"hi"}}'))).toEqual({ text: 'hi', length: 2 });
  });

  test('of a later version is refused as newer, with both versions in the message', () => {
    const error = refusal(() => first.decode(third.encode({ text: '', length: 0 })));
    expect(isNewerRecord(error)).toBe(true);
    expect(isBrokenRecord(error)).toBe(false);
    expect(error.message).toContain('version 3');
    expect(error.message).toContain('up to 1');
  });

  test.each([
    ['nothing at all', ''],
    ['half of it', '{"k":"text","v":1,"d":"hel'],
    ['another kind', '{"k":"change","v":1,"d":{}}'],
    ['no kind', '{"v":1,"d":{}}'],
    ['no version', '{"k":"text","d":{}}'],
    ['a version that is no number', '{"k":"text","v":"2","d":{}}'],
    ['a version between two', '{"k":"text","v":1.5,"d":{}}'],
    ['a version before the first', '{"k":"text","v":0,"d":{}}'],
    ['no data', '{"k":"text","v":1}'],
    ['data of another form', '{"k":"text","v":3,"d":{"text":"hi","length":"2"}}'],
    ['a bare value', '7'],
    ['null', 'null'],
    ['an older form that is not what it says', '{"k":"text","v":2,"d":null}'],
  ])('that holds %s is refused as broken', (_, text) => {
    const error = refusal(() => third.decode(bytesOf(text)));
    expect(isBrokenRecord(error)).toBe(true);
    expect(error.message).toContain('text record');
  });

  test('of any random bytes is refused as broken', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
        expect(isBrokenRecord(refusal(() => third.decode(bytes)))).toBe(true);
      }),
    );
  });

  test('cut short anywhere is refused as broken', () => {
    const whole = third.encode({ text: 'hello', length: 5 });
    for (let end = 0; end < whole.length; end++)
      expect(isBrokenRecord(refusal(() => third.decode(whole.subarray(0, end))))).toBe(true);
  });
});

describe('a kind that is stored packed', () => {
  const list = [
    'one change and another',
    ...Array.from({ length: 200 }, (_, n) => `one change and another ${n}, ä`),
  ];
  const plain = recordCodec('texts', 1, listOf(text));
  const small = recordCodec('texts', 2, listOf(text), [value => value], 'packed');

  test('takes a fraction of the bytes and comes back as it was', () => {
    const bytes = small.encode(list);
    expect(bytes.byteLength).toBeLessThan(plain.encode(list).byteLength / 4);
    expect(small.decode(bytes)).toEqual(list);
  });

  test('stays as it is where there is little of it', () => {
    expect(new TextDecoder().decode(small.encode(['a']))).toBe('{"k":"texts","v":2,"d":["a"]}');
  });

  test('reads what earlier releases wrote, and is left to upgraded processes by them', () => {
    expect(small.decode(plain.encode(list))).toEqual(list);
    expect(isNewerRecord(refusal(() => plain.decode(small.encode(list))))).toBe(true);
  });

  test.each([
    ['was changed on the disk', (packed: string) => packed.replace('"z":"', '"z":"AAAA')],
    ['is not text', (packed: string) => packed.replace(/"z":".*"/, '"z":7')],
    ['lacks its end', (packed: string) => packed.replace(/.{40}"}$/, '"}')],
    [
      'holds data of another form',
      () => new TextDecoder().decode(third.encode({ text: 'x'.repeat(9000), length: 9 })),
    ],
  ])('is broken when it %s', (_, damage) => {
    const bytes = bytesOf(damage(new TextDecoder().decode(small.encode(list))));
    expect(isBrokenRecord(refusal(() => small.decode(bytes)))).toBe(true);
  });
});

test('a codec without the step from some earlier version cannot be made', () => {
  expect(() => recordCodec('text', 2, text)).toThrow(RangeError);
});

describe.each(Object.values(records).map(codec => [codec.kind, codec] as const))('%s', (_, codec) => {
  test('is refused as newer when it is of the next version', () => {
    expect(isNewerRecord(refusal(() => codec.decode(newerRecord(codec))))).toBe(true);
  });
});

test('every kind of record has a name of its own', () => {
  const kinds = Object.values(records).map(codec => codec.kind);
  expect(new Set(kinds).size).toBe(kinds.length);
});

test('a component of 0.1.0 takes work', () => {
  const old = '{"k":"component","v":1,"d":{"host":"ci1","version":"0.1.0","labels":["linux"]}}';
  expect(records.componentCodec.decode(bytesOf(old))).toEqual({
    host: 'ci1',
    version: '0.1.0',
    labels: ['linux'],
    pid: 0,
    state: 'running',
    startedAt: '0',
    address: null,
  });
});

test.each([
  [true, 'as-tested'],
  [false, []],
])('a report that 0.3.0 carried out and that merged: %s is read as such', (merged, landed) => {
  const [uuid, item, report] = [randomIds().uuid(), randomIds().uuid(), randomIds().uuid()];
  const event = { kind: 'report-result', uuid, item, report, at: '1', parts: [] };
  const outcome = { kind: 'done', merged };
  const old = JSON.stringify({ k: 'pipeline-event', v: 2, d: { ...event, outcome } });
  expect(records.pipelineEventCodec.decode(bytesOf(old))).toEqual({
    ...event,
    outcome: { kind: 'done', landed },
  });
});
