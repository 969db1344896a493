import { expect, test } from 'vitest';
import { recordCodec } from '../../../src/model/codec/record.ts';
import { list, text } from '../../../src/model/codec/schema.ts';
import { outboxRows } from '../../../src/store/outbox-rows.ts';
import { at } from '../../fake/queue-item.ts';

const codec = recordCodec('texts', 1, list(text));
const texts = (count: number, bytes: number) =>
  Array.from({ length: count }, (_, index) => `${index} `.padEnd(bytes, 'x'));

function decoded(values: readonly string[]) {
  return outboxRows('/outbox', values, codec, at(0)).map(row => {
    if (row.kind !== 'create') throw new Error(`a row is a ${row.kind}`);
    return { bytes: row.data.byteLength, values: codec.decode(row.data) };
  });
}

test('nothing makes no row, and a little makes one', () => {
  expect(decoded([])).toEqual([]);
  expect(decoded(['a', 'b']).map(row => row.values)).toEqual([['a', 'b']]);
});

test('many values make several rows, in order, none lost and none too large', () => {
  for (const values of [texts(1000, 100), texts(150, 10_000), texts(3, 390_000)]) {
    const rows = decoded(values);
    expect(rows.flatMap(row => row.values)).toEqual(values);
    expect(Math.max(...rows.map(row => row.bytes))).toBeLessThanOrEqual(400_000);
  }
});

test('a single large value is a row of its own', () => {
  expect(decoded(['small', 'x'.repeat(600_000)]).map(row => row.values.length)).toEqual([1, 1]);
});
