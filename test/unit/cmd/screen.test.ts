import { describe, expect, test } from 'vitest';
import { createScreen } from '../../../src/cmd/terminal/screen.ts';
import { hasColour, styleOf } from '../../../src/cmd/terminal/style.ts';
import { recordingIo } from './fixture.ts';

describe('the screen', () => {
  test('draws over the last frame, and writes lines above it', () => {
    const io = recordingIo({}, { isTTY: true, columns: 40, rows: 10 });
    const screen = createScreen(io.stdout);
    screen.frame(['one', 'two']);
    screen.frame(['three']);
    screen.line('above');
    screen.keep();
    screen.frame(['four']);
    expect(io.out()).toBe('one\ntwo\n\u001b[2A\u001b[Jthree\n\u001b[1A\u001b[Jabove\nthree\nfour\n');
  });

  test('keeps a frame within the terminal', () => {
    const io = recordingIo({}, { isTTY: true, columns: 6, rows: 4 });
    createScreen(io.stdout).frame(['abcdefgh', 'b', 'c', 'd', 'e']);
    expect(io.out().split('\n')[0]).toBe('abcde…');
    expect(io.out().trimEnd().split('\n')).toHaveLength(3);
    expect(io.out()).toContain('… 3 m');
  });

  test('on a pipe writes lines and no frames', () => {
    const io = recordingIo();
    const screen = createScreen(io.stdout);
    screen.frame(['one']);
    screen.line('two');
    expect(io.out()).toBe('two\n');
  });
});

describe('the style', () => {
  const terminal = { isTTY: true, columns: 90 };

  test('takes the width of COLUMNS, of the terminal, or 100, within bounds', () => {
    expect(styleOf(recordingIo({ COLUMNS: '120' }, terminal), true).width).toBe(120);
    expect(styleOf(recordingIo({}, terminal), true).width).toBe(90);
    expect(styleOf(recordingIo({ COLUMNS: 'wide' }), true).width).toBe(100);
    expect(styleOf(recordingIo({ COLUMNS: '10' }), true).width).toBe(60);
    expect(styleOf(recordingIo({ COLUMNS: '9999' }), true).width).toBe(220);
  });

  test('has colours on terminals that want them', () => {
    const { stdout } = recordingIo({}, terminal);
    expect(hasColour(stdout, {})).toBe(true);
    expect(hasColour(stdout, { NO_COLOR: '1' })).toBe(false);
    expect(hasColour(stdout, { NO_COLOR: '' })).toBe(true);
    expect(hasColour(stdout, { TERM: 'dumb' })).toBe(false);
    expect(hasColour(recordingIo().stdout, {})).toBe(false);
    expect(hasColour(recordingIo().stdout, { FORCE_COLOR: '1' })).toBe(true);
    expect(styleOf(recordingIo({}, terminal), false).colour).toBe(false);
  });
});
