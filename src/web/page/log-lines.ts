/** A log in lines, each with its writer: see src/lib/log-line.ts. */
import { parseLogLine } from '../../lib/log-line.ts';
import { type Piece, piecesOf } from './ansi.ts';

/** Longer than any line the executor writes: a line without a newline by then is shown as it is. */
const LONGEST = 65_536;

interface DrawnLine {
  /** Written by the executor, not by the job. */
  readonly executor: boolean;
  readonly pieces: readonly Piece[];
}

/** Takes a log piece by piece; a line that is not complete yet is kept for the next piece. */
export class LogLines {
  #rest = '';
  /** The job's colours continue from line to line. */
  #classes = '';

  /** @param complete the log ends with `text`: a rest without a newline is a line, too. */
  add(text: string, complete: boolean): readonly DrawnLine[] {
    const whole = this.#rest + text;
    const newline = whole.lastIndexOf('\n') + 1;
    const end = complete || (newline === 0 && whole.length > LONGEST) ? whole.length : newline;
    this.#rest = whole.slice(end);
    return whole
      .slice(0, end)
      .split(/(?<=\n)/)
      .filter(line => line !== '')
      .map(line => this.#line(line));
  }

  #line(line: string): DrawnLine {
    const newline = line.endsWith('\n') ? [{ text: '\n', classes: '' }] : [];
    const text = newline.length === 0 ? line : line.slice(0, -1);
    const executor = parseLogLine(text).writer === 'executor';
    const { pieces, classes } = piecesOf(text, executor ? '' : this.#classes);
    if (!executor) this.#classes = classes;
    return { executor, pieces: [...pieces, ...newline] };
  }
}
