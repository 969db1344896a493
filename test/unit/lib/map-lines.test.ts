import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mapLines } from '../../../src/lib/map-lines.ts';

const mapped = (from: string, to: string) => Object.fromEntries(mapLines(from.split(' '), to.split(' ')));

describe('lines of one text in another', () => {
  test.each([
    ['a b c d', 'x a b d', { 1: 2, 2: 3, 4: 4 }],
    ['a b c', 'a b c', { 1: 1, 2: 2, 3: 3 }],
    ['a x b', 'p q r', {}],
    ['} a } b }', '} new } a } b }', { 1: 1, 2: 4, 3: 5, 4: 6, 5: 7 }],
    ['a b', 'b a', { 2: 1 }],
  ])('%s in %s', (from, to, expected) => {
    const found = mapped(from, to);
    // Of what changed places either may be found.
    if (from === 'a b') expect(Object.keys(found)).toHaveLength(1);
    else expect(found).toEqual(expected);
  });

  test('are the same lines, in the same order, each once', () => {
    const lines = fc.array(fc.constantFrom('a', 'b', 'c', '}', ''), { maxLength: 40 });
    fc.assert(
      fc.property(lines, lines, (from, to) => {
        const found = [...mapLines(from, to)].toSorted(([a], [b]) => a - b);
        for (const [index, [a, b]] of found.entries()) {
          expect(to[b - 1]).toBe(from[a - 1]);
          expect(b).toBeGreaterThan(found[index - 1]?.[1] ?? 0);
        }
      }),
    );
  });

  test('take time in proportion to the texts, also where each line is found after another only', () => {
    // 1 2 1 3 2 4 3 …: of each part one line alone occurs once.
    const nested = Array.from(
      { length: 40_000 },
      (_, index) => `${index % 2 === 0 ? index / 2 : (index + 3) / 2}`,
    );
    const other = nested.flatMap((line, index) => [line, `other ${index}`]);
    const found = mapLines(['first', ...nested], ['another', ...other]);
    expect(found.size).toBeLessThan(nested.length);
  }, 10_000);

  test('of a text with lines put in before it are all found', () => {
    const text = Array.from({ length: 5_000 }, (_, index) => `line ${index % 700}`);
    const found = mapLines(text, ['new', ...text]);
    expect([...found].every(([from, to]) => to === from + 1) && found.size === text.length).toBe(true);
  });
});
