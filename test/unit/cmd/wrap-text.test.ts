import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wrapPieces, wrapWords } from '../../../src/cmd/terminal/wrap-text.ts';
import { painter } from '../../../src/lib/ansi.ts';
import { brokenTo, cutTo, padded, widthOf } from '../../../src/lib/text-width.ts';

const paint = painter(true);

describe('painted text', () => {
  test('is as wide as what is seen of it', () => {
    expect(widthOf(`${paint('ab', 'red', 'bold')}c`)).toBe(3);
  });

  test('that fits is left alone', () => {
    expect(cutTo(paint('abc', 'red'), 3)).toBe(paint('abc', 'red'));
  });

  test('that is cut ends in … and in no colour', () => {
    expect(cutTo(`ab${paint('cdef', 'red')}`, 4)).toBe('ab\u001b[31mc…\u001b[0m');
    expect(cutTo(`${paint('ab', 'red')}cd`, 3)).toBe(`${paint('ab', 'red')}…`);
    expect(cutTo(`${paint('ab', 'red')}cd`, 2)).toBe('\u001b[31ma…\u001b[0m');
  });

  test('never looks wider than asked for, and leaks no colour', () => {
    const piece = fc
      .tuple(fc.string({ unit: 'grapheme-ascii', maxLength: 8 }), fc.boolean())
      .map(([text, red]) => (red ? paint(text, 'red') : text));
    fc.assert(
      fc.property(fc.array(piece), fc.integer({ min: 1, max: 30 }), (pieces, width) => {
        const cut = cutTo(pieces.join(''), width);
        expect(widthOf(cut)).toBeLessThanOrEqual(width);
        expect(cut.lastIndexOf('\u001b[31m')).toBeLessThanOrEqual(cut.lastIndexOf('\u001b[0m'));
      }),
    );
  });

  test('broken in pieces keeps all of its text and its colours', () => {
    expect(brokenTo(paint('abcd', 'red'), 2)).toEqual([paint('ab', 'red'), paint('cd', 'red')]);
    const text = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 9 }), (whole, width) => {
        const pieces = brokenTo(whole, width);
        expect(pieces.join('')).toBe(whole);
        for (const piece of pieces) expect(widthOf(piece)).toBeLessThanOrEqual(width);
      }),
    );
  });

  test('is filled, not cut, by padding', () => {
    expect(padded(paint('ab', 'red'), 4)).toBe(`${paint('ab', 'red')}  `);
    expect(padded('abcd', 2)).toBe('abcd');
  });

  test('breaks between pieces only', () => {
    expect(wrapPieces(['one two', 'three', 'four'], '  ', '   ', 16)).toEqual([
      '  one two',
      '  three   four',
    ]);
    expect(wrapPieces([], '  ', ' ', 10)).toEqual([]);
    expect(wrapPieces(['much longer than that'], '', ' ', 9)).toEqual(['much', 'longer', 'than that']);
    expect(wrapPieces(['abcdefghijklmnop'], '  ', ' ', 10)).toEqual(['  abcdefgh', '  ijklmnop']);
    expect(wrapPieces(['http://gate.example.org/'], '', ' ', 10)).toEqual(['http://gate.example.org/']);
  });

  test('breaks sentences below their first word', () => {
    expect(wrapWords('one two three', '- ', 9)).toEqual(['- one two', '  three']);
    expect(wrapWords('one', paint('- ', 'dim'), 9)).toEqual([`${paint('- ', 'dim')}one`]);
  });
});
