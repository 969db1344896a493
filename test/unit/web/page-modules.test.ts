/** The parts of the page that need no browser. Loaded apart: the browser's types are not ours. */
import { describe, expect, test } from 'vitest';

const load = (name: string) => import(new URL(`../../../src/web/page/${name}`, import.meta.url).href);

describe('terminal output', () => {
  test.each([
    ['plain\n', ['plain\n|']],
    ['\x1b[31mred\x1b[0m off', ['red|c1', ' off|']],
    ['\x1b[1;92mbold green\x1b[22m green\x1b[39m', ['bold green|bold c2', ' green|c2']],
    ['\x1b[31m\x1b[32mgreen', ['green|c2']],
    ['a\x1b[2J\x1b[Hb', ['a|', 'b|']],
    ['a\x1b]0;title\x07b\x1b]8;;http://evil\x1b\\c', ['a|', 'b|', 'c|']],
    ['a\x07\x08b', ['a|', 'b|']],
    ['50%\r100%', ['50%|', '100%|']],
    ['<b>&amp;', ['<b>&amp;|']],
    ['a\u009b31mb', ['a|', 'b|']],
    ['a\x1bP1;2qsecret\x1b\\b', ['a|', 'b|']],
    ['a\u202eb', ['a|', 'b|']],
    ['\x1b[38;5;9mred\x1b[38;2;1;31;3mother', ['red|c1', 'other|fg-011f03']],
    ['\x1b[38;5;208morange\x1b[39m\x1b[48;5;244mgrey', ['orange|fg-ff8700', 'grey|bg-808080']],
    ['\x1b[3;4;7mall\x1b[23;24mone\x1b[27mnone', ['all|italic reverse underline', 'one|reverse', 'none|']],
    ['\x1b[48;5;1mplain\x1b[49m', ['plain|b1']],
    ['a\x1b]0;never ends', ['a|']],
  ])('%j', async (text, expected) => {
    const { piecesOf } = await load('ansi.ts');
    const found: { text: string; classes: string }[] = piecesOf(text, '').pieces;
    expect(found.map(piece => `${piece.text}|${piece.classes}`)).toEqual(expected);
  });
});

describe('times', () => {
  test.each([
    [0, '0 ms'],
    [420.4, '420 ms'],
    [2_400, '2.4 s'],
    [9_960, '10 s'],
    [59_400, '59 s'],
    [125_000, '2m 05s'],
    [3_840_000, '1h 04m'],
    [180_000_000, '2d 2h'],
    [-5, '0 ms'],
  ])('%d ms reads %s', async (ms, text) => {
    expect((await load('format.ts')).duration(ms)).toBe(text);
  });

  test('a running clock shows whole seconds', async () => {
    const { elapsed } = await load('format.ts');
    expect([elapsed(-10), elapsed(400), elapsed(2_400), elapsed(61_000)]).toEqual([
      '0 s',
      '0 s',
      '2 s',
      '1m 01s',
    ]);
  });

  test.each([1, 90, 6_000, 90_000, 4_000_000, 400_000_000])(
    'an axis of %d ms has a few round marks',
    async end => {
      const ticks: number[] = (await load('ticks.ts')).ticksFor(end);
      expect(ticks.length).toBeLessThanOrEqual(6);
      expect(ticks.every(tick => tick > 0 && tick < end)).toBe(true);
      if (end > 1) expect(ticks.length).toBeGreaterThanOrEqual(1);
    },
  );
});
