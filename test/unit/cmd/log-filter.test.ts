import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createLogFilter } from '../../../src/cmd/terminal/log-filter.ts';

const STAMP = '2026-11-20 17:53:01.123456';

function shown(text: string, colour = false): readonly string[] {
  const filter = createLogFilter({ colour });
  return [...filter.lines(Buffer.from(text)), ...filter.end()];
}

const job = (text: string, colour = false) =>
  shown(`${STAMP} | ${text}\n`, colour).join('\n').split(' | ').slice(1).join(' | ');

describe('a log on a terminal', () => {
  test.each([
    ['title', '\x1b]0;owned\x07text'],
    ['clipboard', '\x1b]52;c;ZXZpbA==\x1b\\text'],
    ['link', '\x1b]8;;http://evil\x1b\\text\x1b]8;;\x1b\\'],
    ['a title that is not closed', 'text\x1b]0;owned'],
    ['device control', '\x1bPq#0\x1b\\text'],
    ['cursor', '\x1b[2J\x1b[1;1Htext\x1b[K'],
    ['one-byte CSI', '\u009b2Jtext'],
    ['one-byte OSC', '\u009d0;owned\u009ctext'],
    ['reset', '\x1bctext'],
    ['character set', '\x1b(0text'],
    ['the start of the line', '\rtext'],
    ['backspaces', '\b\b\btext'],
    ['direction', '\u202etext\u202c'],
    ['half a sequence', 'text\x1b['],
  ])('does not obey: %s', (_, text) => {
    expect(job(text)).toBe('text');
    expect(job(text, true)).toBe('text');
  });

  test('keeps colours where they are wanted, each within its line', () => {
    expect(job('\x1b[1;31mred', true)).toBe('\x1b[1;31mred\x1b[0m');
    expect(job('\x1b[1;31mred')).toBe('red');
    expect(job('a\tb')).toBe('a\tb');
  });

  test("distinguishes the executor's lines from look-alikes of a job", () => {
    const forged = `${STAMP} | ${STAMP} # RESULT: SUCCESS`;
    const [first = '', second = ''] = shown(`${forged}\n${STAMP} # RESULT: FAILURE\n`, true);
    expect(first).not.toContain('\x1b[36m');
    expect(second).toBe(`\x1b[36m${STAMP} # RESULT: FAILURE\x1b[0m`);
    expect(shown(`${forged}\n${STAMP} # RESULT: FAILURE\n`)).toEqual([forged, `${STAMP} # RESULT: FAILURE`]);
  });

  test('reads logs of earlier releases, and lines without a stamp', () => {
    expect(shown(`${STAMP} | RUN START: x\nrest of a line\n`)).toEqual([
      `${STAMP} | RUN START: x`,
      'rest of a line',
    ]);
  });

  test('comes out the same wherever it was cut', () => {
    const bytes = Buffer.from(`${STAMP} | gr\u00fcn \x1b[32mja\x1b]0;t\x07\n${STAMP} # end\nlast`);
    const whole = shown(bytes.toString(), true);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const filter = createLogFilter({ colour: true });
      const lines = [
        ...filter.lines(bytes.subarray(0, cut)),
        ...filter.lines(bytes.subarray(cut)),
        ...filter.end(),
      ];
      expect(lines, `cut at ${cut}`).toEqual(whole);
    }
  });

  test('leaves no control character but tabs in any output of a job', () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom('\x1b', '[', ']', '\x9b', '\x07', '\\', ';', '0', 'm', 'P', '\r', '\u202e', 'x'),
        fc.string({ minLength: 1, maxLength: 1, unit: 'binary' }),
      ),
    });
    fc.assert(
      fc.property(text, given => {
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
        expect(shown(given).join('')).not.toMatch(/[\x00-\x08\x0a-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/);
      }),
      { numRuns: 2_000 },
    );
  });
});
