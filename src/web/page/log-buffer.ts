/**
 * A log in memory: its bytes as they came, and where its lines begin. A line is decoded only when it is looked at, so that 100 MB and a
 * million lines take little more than their bytes. Pure.
 *
 *     const log = new LogBuffer();
 *     log.add(bytes, false);            // pieces of any length, in order
 *     log.lines                         // 2: whole ones
 *     log.line(0)                       // { time: '2026-11-20 …', writer: 'job', text: '…' }
 */
import { type LogLine, parseLogLine } from '../../lib/log-line.ts';
import { piecesOf } from './ansi.ts';
import { LogSections } from './log-sections.ts';

/** Whole lines that came together. */
interface Block {
  readonly bytes: Uint8Array;
  /** Number of its first line in the log, from 0. */
  readonly first: number;
  /** Where each line begins, and the end. */
  readonly starts: Uint32Array;
}

const NEWLINE = 10;
const ESCAPE = 27;
/** Longer than any line the executor writes: a line without a newline by then is shown as it is. */
const LONGEST = 65_536;
/** Lines between two of which the colours in force are kept. */
const CHECKPOINT = 256;

export class LogBuffer {
  readonly sections = new LogSections();
  readonly #blocks: Block[] = [];
  /** Colours in force at each {@link CHECKPOINT}. */
  readonly #colours: string[] = [];
  readonly #decoder = new TextDecoder();
  #rest: Uint8Array<ArrayBuffer> = new Uint8Array();
  #classes = '';
  /** Where colours were asked for last, and which they were. */
  #asked = { number: 0, classes: '' };
  #lines = 0;
  #bytes = 0;

  /** Whole ones. */
  get lines(): number {
    return this.#lines;
  }

  /** All that were added. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The log as it was written. */
  parts(): readonly Uint8Array<ArrayBuffer>[] {
    return [...this.#blocks.map(block => block.bytes as Uint8Array<ArrayBuffer>), this.#rest];
  }

  /** @param complete the log ends with `bytes`: a rest without a newline is a line, too. */
  add(bytes: Uint8Array, complete: boolean): void {
    this.#bytes += bytes.length;
    const whole = new Uint8Array(this.#rest.length + bytes.length);
    whole.set(this.#rest);
    whole.set(bytes, this.#rest.length);
    const newline = whole.lastIndexOf(NEWLINE) + 1;
    const end = complete || (newline === 0 && whole.length > LONGEST) ? whole.length : newline;
    this.#rest = whole.slice(end);
    if (end > 0) this.#index(end === whole.length ? whole : whole.slice(0, end));
  }

  #index(bytes: Uint8Array): void {
    const starts = [0];
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) starts.push(at + 1);
    if (starts.at(-1) !== bytes.length) starts.push(bytes.length);
    const block: Block = { bytes, first: this.#lines, starts: Uint32Array.from(starts) };
    this.#blocks.push(block);
    const hasColours = bytes.includes(ESCAPE);
    const texts = hasColours ? this.#textsOf(block) : [];
    for (let place = 0; place < starts.length - 1; place++) {
      const [from = 0, to = 0] = [starts[place], starts[place + 1]];
      if (this.#lines % CHECKPOINT === 0) this.#colours.push(this.#classes);
      if (hasColours) this.#classes = classesAfter(texts[place] ?? '', this.#classes);
      if (this.sections.mayMark(bytes, from))
        this.sections.mark(this.#lines, parseLogLine(this.#decoded(bytes, from, to)));
      this.#lines++;
    }
    this.sections.grow(this.#lines);
  }

  /** @param number from 0, of a line that is there. */
  line(number: number): LogLine {
    return parseLogLine(this.#raw(number));
  }

  /** All lines as they are written, in groups that were decoded together: for searches. */
  *groups(): Generator<{ readonly first: number; readonly texts: readonly string[] }> {
    for (const block of this.#blocks) yield { first: block.first, texts: this.#textsOf(block) };
  }

  #textsOf({ bytes, starts }: Block): readonly string[] {
    return this.#decoder.decode(bytes).split('\n', starts.length - 1);
  }

  /** Colours in force where a line begins. */
  classesAt(number: number): string {
    const checkpoint = Math.floor(number / CHECKPOINT) * CHECKPOINT;
    // Rows are drawn one after the other: each goes on where the one before it was.
    const goesOn = this.#asked.number >= checkpoint && this.#asked.number <= number;
    let { number: at, classes } = goesOn
      ? this.#asked
      : { number: checkpoint, classes: this.#colours[checkpoint / CHECKPOINT] ?? '' };
    for (; at < number; at++) classes = classesAfter(this.#raw(at), classes);
    this.#asked = { number, classes };
    return classes;
  }

  #raw(number: number): string {
    const block = this.#blockOf(number);
    if (block === undefined) return '';
    const place = number - block.first;
    return this.#decoded(block.bytes, block.starts[place] ?? 0, block.starts[place + 1] ?? 0);
  }

  #decoded(bytes: Uint8Array, from: number, to: number): string {
    return this.#decoder.decode(bytes.subarray(from, bytes[to - 1] === NEWLINE ? to - 1 : to));
  }

  #blockOf(number: number): Block | undefined {
    let [low, high] = [0, this.#blocks.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((this.#blocks[middle]?.first ?? 0) <= number) low = middle;
      else high = middle - 1;
    }
    return this.#blocks[low];
  }
}

/** A line of the executor neither has colours nor ends those of the job. */
function classesAfter(line: string, classes: string): string {
  const last = line.lastIndexOf('\x1b[');
  if (last < 0 || parseLogLine(line).writer === 'executor') return classes;
  // Most coloured lines end without colours.
  if (line.startsWith('\x1b[0m', last) || line.startsWith('\x1b[m', last)) return '';
  return piecesOf(line, classes).classes;
}
