import { expect, test } from 'vitest';
import { createEventLines } from '../../../../../drivers/gerrit/intake/lines.ts';

const pieces = (text: string, size: number) => {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  );
};

test.each([1, 2, 3, 7, 100])('lines in pieces of %i bytes are joined', size => {
  const splitter = createEventLines(100);
  const lines = pieces('{"a":"ä€😀"}\n\n{"b":1}\r\nrest', size).flatMap(piece => splitter.push(piece).lines);
  expect(lines).toEqual(['{"a":"ä€😀"}', '{"b":1}']);
  expect(splitter.push(Buffer.from('\n')).lines).toEqual(['rest']);
});

test('a line over the limit is given up, and the next one is read', () => {
  const splitter = createEventLines(10);
  const results = pieces(`${'x'.repeat(10)}\n${'y'.repeat(11)}\n${'z'.repeat(50)}\nok\n`, 4).map(
    splitter.push,
  );
  expect(results.flatMap(({ lines }) => lines)).toEqual(['x'.repeat(10), 'ok']);
  expect(results.reduce((sum, { tooLong }) => sum + tooLong, 0)).toBe(2);
});
