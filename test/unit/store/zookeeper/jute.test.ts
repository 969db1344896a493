import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JuteReader, JuteWriter } from '../../../../src/store/zookeeper/jute.ts';

describe('jute', () => {
  test('what is written is read again, with any initial capacity of the writer', () => {
    const int = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
    const long = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const text = fc.string({ unit: 'binary' }).filter(value => value.isWellFormed());
    fc.assert(
      fc.property(
        fc.tuple(
          fc.integer({ min: 0, max: 64 }),
          int,
          long,
          fc.boolean(),
          text,
          fc.uint8Array(),
          fc.array(text),
        ),
        ([capacity, number, big, flag, words, bytes, list]) => {
          const written = new JuteWriter(capacity)
            .int(number)
            .long(big)
            .bool(flag)
            .string(words)
            .bytes(bytes);
          const reader = new JuteReader(written.strings(list).finish());
          expect([reader.int(), reader.long(), reader.bool(), reader.string()]).toEqual([
            number,
            big,
            flag,
            words,
          ]);
          expect([...reader.bytes()]).toEqual([...bytes]);
          expect(reader.strings()).toEqual(list);
          expect(reader.atEnd).toBe(true);
        },
      ),
    );
  });

  test('bytes that are handed out share no memory with the frame', () => {
    const frame = new JuteWriter(16).bytes(Uint8Array.of(1, 2, 3)).finish();
    const bytes = new JuteReader(frame).bytes();
    frame.fill(0);
    expect([...bytes]).toEqual([1, 2, 3]);
  });

  test('null reads as no bytes and no text', () => {
    const frame = new JuteWriter(8).int(-1).int(-1).finish();
    const reader = new JuteReader(frame);
    expect(reader.bytes().byteLength).toBe(0);
    expect(reader.string()).toBe('');
  });

  test.each([
    ['an integer', (reader: JuteReader) => reader.int()],
    ['a long', (reader: JuteReader) => reader.long()],
    ['bytes', (reader: JuteReader) => reader.bytes()],
    ['a text', (reader: JuteReader) => reader.string()],
  ])('%s that ends behind the frame is an error', (_, read) => {
    expect(() => read(new JuteReader(Buffer.of(0, 0, 0)))).toThrow(RangeError);
    expect(() => {
      const reader = new JuteReader(Buffer.of(0, 0, 0, 9, 1));
      read(reader);
      read(reader);
    }).toThrow(RangeError);
  });
});
