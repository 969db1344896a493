/**
 * A log in lines, each with who wrote it: behind its time a line of the executor has `#`, one of the job `|`; see src/lib/log-line.ts.
 */
import { type Piece, pieces } from './ansi.ts';

const OF_EXECUTOR = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6} # /;
/** A line longer than the executor writes any is not waited for. */
const LONGEST = 65_536;

interface LogLine {
  /** Written by the executor, not by the job. */
  readonly executor: boolean;
  readonly pieces: readonly Piece[];
}

export class LogLines {
  #rest = '';
  /** The job's colours go on from line to line. */
  #classes = '';

  /**
   * @param complete no more comes: what has no newline yet is a line, too.
   */
  add(text: string, complete: boolean): readonly LogLine[] {
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

  #line(line: string): LogLine {
    const newline = line.endsWith('\n') ? '\n' : '';
    const text = line.slice(0, line.length - newline.length);
    const executor = OF_EXECUTOR.test(text);
    // A sequence that is not closed ends with its line.
    const state = { classes: executor ? '' : this.#classes, rest: '' };
    const found = pieces(text, state);
    if (!executor) this.#classes = state.classes;
    if (newline !== '') found.push({ text: newline, classes: '' });
    return { executor, pieces: found };
  }
}
