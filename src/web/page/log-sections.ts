/**
 * The parts of a log that can be folded: the phases that the executor marks, and the tasks and plays of Ansible in them. Pure.
 *
 *     2026-11-20 17:53:01.123456 # RUN START: [untrusted : …]        a phase, up to before its END
 *     2026-11-20 17:53:01.123456 | TASK [build] *****                a step, up to the next one
 */
import type { LogLine } from '../../lib/log-line.ts';

/** Lines `from` to `to`, from 0, both included; the first one names it. */
export interface Section {
  readonly from: number;
  readonly to: number;
}

/** Length of the stamp before the writer, and with it. */
const BEFORE_WRITER = 27;
const STAMP = 29;
const [HASH, T, P] = [0x23, 0x54, 0x50];

/** Of a log that is read line by line. */
export class LogSections {
  /** Those that have ended, by their first line. */
  readonly #closed = new Map<number, Section>();
  #phase: number | undefined;
  #step: number | undefined;
  #lines = 0;

  /** In the order of their ends; one that has not ended yet reaches to the end of the log. */
  all(): readonly Section[] {
    const open = [this.#step, this.#phase].flatMap(from => (from === undefined ? [] : [this.#open(from)]));
    return [...this.#closed.values(), ...open].filter(({ from, to }) => to > from);
  }

  /** The section that a line begins. */
  beginningAt(line: number): Section | undefined {
    const isOpen = line === this.#phase || line === this.#step;
    const found = isOpen ? this.#open(line) : this.#closed.get(line);
    return found !== undefined && found.to > found.from ? found : undefined;
  }

  #open(from: number): Section {
    return { from, to: this.#lines - 1 };
  }

  /** A cheap test of the bytes of a line: only few lines are decoded. @param from where it begins. */
  mayMark(bytes: Uint8Array, from: number): boolean {
    const first = bytes[from + STAMP];
    return bytes[from + BEFORE_WRITER] === HASH || first === T || first === P;
  }

  /** @param number of the line. */
  mark(number: number, { writer, text, time }: LogLine): void {
    if (time === null) return;
    if (writer === 'job') {
      if (!/^(?:TASK|PLAY) \[/.test(text)) return;
      this.#endStep(number - 1);
      this.#step = number;
    } else if (/^[A-Z-]+ START: /.test(text)) {
      this.#endStep(number - 1);
      this.#endPhase(number - 1);
      this.#phase = number;
    } else if (/^[A-Z-]+ END: /.test(text)) {
      // The line with the outcome stays in sight.
      this.#endStep(number - 1);
      this.#endPhase(number - 1);
    }
  }

  /** @param lines that there are now. */
  grow(lines: number): void {
    this.#lines = lines;
  }

  #endStep(to: number): void {
    if (this.#step !== undefined) this.#closed.set(this.#step, { from: this.#step, to });
    this.#step = undefined;
  }

  #endPhase(to: number): void {
    if (this.#phase !== undefined) this.#closed.set(this.#phase, { from: this.#phase, to });
    this.#phase = undefined;
  }
}
