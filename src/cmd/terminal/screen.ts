/**
 * A region at the bottom of a terminal that is redrawn in place; on anything else, plain lines.
 *
 * A frame never exceeds the terminal: lines are cut to its width, and a last line counts the lines that do not fit, because a
 * frame that scrolls cannot be redrawn.
 */
import { cutTo } from '../../lib/text-width.ts';
import type { TextStream } from './io.ts';
import { hasColour } from './style.ts';

/** On a stream that is not `live`, frames are not drawn at all and lines are written as they are. */
export interface Screen {
  /** The stream is a terminal. */
  readonly live: boolean;
  /** Columns; follows the terminal's size. */
  readonly width: number;
  readonly colour: boolean;
  /** Writes above the frame. */
  line(text: string): void;
  /** Replaces the frame. */
  frame(lines: readonly string[]): void;
  /** Keeps the frame and continues below it. */
  keep(): void;
}

const UNKNOWN_WIDTH = 100;
const UNKNOWN_HEIGHT = 24;

/** Expects to be the only writer to the stream while a frame is shown. */
export function createScreen(out: TextStream): Screen {
  const live = out.isTTY === true;
  let drawn: readonly string[] = [];
  const clear = () => (drawn.length === 0 ? '' : `\u001b[${drawn.length}A\u001b[J`);
  return {
    live,
    get width() {
      return out.columns ?? UNKNOWN_WIDTH;
    },
    colour: live && hasColour(out, process.env),
    line(text) {
      out.write(live ? `${clear()}${text}\n${drawn.map(each => `${each}\n`).join('')}` : `${text}\n`);
    },
    frame(lines) {
      if (!live) return;
      const before = clear();
      drawn = fitting(lines, out.columns ?? UNKNOWN_WIDTH, (out.rows ?? UNKNOWN_HEIGHT) - 1);
      out.write(`${before}${drawn.map(each => `${each}\n`).join('')}`);
    },
    keep() {
      drawn = [];
    },
  };
}

function fitting(lines: readonly string[], width: number, height: number): readonly string[] {
  const cut = lines.map(line => cutTo(line, width));
  if (cut.length <= height) return cut;
  const shown = cut.slice(0, Math.max(0, height - 1));
  return [...shown, `… ${cut.length - shown.length} more lines; make the window higher`];
}
