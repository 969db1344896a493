/** Which lines of a log are shown in which row, where some sections are folded. Pure. */
import type { Section } from './log-sections.ts';

/** Of one state of a log and its folds. */
export class LogRows {
  /** Lines that are hidden, in order and apart: the first line of a folded section is not. */
  readonly #hidden: readonly Section[];
  readonly #lines: number;

  /** @param folded in any order; they may lie within each other. */
  constructor(lines: number, folded: readonly Section[]) {
    const hidden: { from: number; to: number }[] = [];
    for (const { from, to } of folded.toSorted((a, b) => a.from - b.from)) {
      const last = hidden.at(-1);
      if (last === undefined || from + 1 > last.to + 1) hidden.push({ from: from + 1, to });
      else last.to = Math.max(last.to, to);
    }
    this.#hidden = hidden;
    this.#lines = lines;
  }

  get count(): number {
    return this.#hidden.reduce((left, { from, to }) => left - (to - from + 1), this.#lines);
  }

  /** @param row from 0. */
  lineOf(row: number): number {
    let line = row;
    for (const { from, to } of this.#hidden) {
      if (line < from) break;
      line += to - from + 1;
    }
    return line;
  }

  /** Of a hidden line: the row that stands for it. */
  rowOf(line: number): number {
    let row = line;
    for (const { from, to } of this.#hidden) {
      if (line < from) break;
      row -= Math.min(line, to) - from + 1;
    }
    return row;
  }
}
