/** The lines of a log on the page: only those in sight are elements. Decision 0304 says why no library does it. */
import { type Piece, piecesOf } from './ansi.ts';
import { element } from './dom.ts';
import type { LogBuffer } from './log-buffer.ts';
import { LogRows } from './log-rows.ts';
import type { Section } from './log-sections.ts';

/** Pixels of a row, as `.log-line` of the stylesheet has them. */
const ROW = 20;
/** Rows drawn above and below those in sight. */
const AROUND = 15;
/** Pixels: browsers draw no element that is much higher. Of longer logs a pixel of the scroll bar is several of the text. */
const HIGHEST = 10_000_000;

/** Lines from 0, both included. */
export interface Selection {
  readonly from: number;
  readonly to: number;
}

interface ListOptions {
  /** A line number was clicked. @param extend with the shift key. */
  readonly onNumber: (line: number, extend: boolean) => void;
  readonly onFold: (section: Section) => void;
}

export class LogList {
  readonly root = element('div', { class: 'log-output', tabindex: 0, role: 'group', 'aria-label': 'Log' });
  readonly #space = element('div', { class: 'log-space' });
  readonly #window = element('div', { class: 'log-window' });
  readonly #log: LogBuffer;
  readonly #options: ListOptions;
  /** Elements of lines in sight. */
  readonly #drawn = new Map<number, HTMLElement>();
  readonly #folded = new Map<number, Section>();
  #rows = new LogRows(0, []);
  #selection: Selection | undefined;
  #found = new Set<number>();
  #hasTimes = false;

  constructor(log: LogBuffer, options: ListOptions) {
    this.#log = log;
    this.#options = options;
    this.#space.append(this.#window);
    this.root.append(this.#space);
    this.root.addEventListener('scroll', () => this.#draw(), { passive: true });
  }

  /** The log has grown. */
  grow(): void {
    // A section that has not ended grows with it.
    for (const from of this.#folded.keys()) {
      const section = this.#log.sections.beginningAt(from);
      if (section !== undefined) this.#folded.set(from, section);
    }
    this.#rows = new LogRows(this.#log.lines, [...this.#folded.values()]);
    this.#space.style.height = `${Math.min(HIGHEST, this.#rows.count * ROW)}px`;
    this.#draw();
  }

  toEnd(): void {
    this.root.scrollTop = this.root.scrollHeight;
    this.#draw();
  }

  toStart(): void {
    this.root.scrollTop = 0;
    this.#draw();
  }

  get isAtEnd(): boolean {
    return this.root.scrollTop + this.root.clientHeight >= this.root.scrollHeight - 2 * ROW;
  }

  /** Unfolds what hides the line, and scrolls to it unless it is in sight. */
  reveal(line: number): void {
    for (const [from, section] of this.#folded)
      if (line > section.from && line <= section.to) this.#folded.delete(from);
    this.grow();
    const row = this.#rows.rowOf(line);
    const first = this.#first();
    const seen = Math.floor(this.root.clientHeight / ROW);
    if (row >= first + 1 && row < first + seen - 1) return;
    const wanted = Math.max(0, row - Math.floor(seen / 3));
    this.root.scrollTop = wanted * ROW * this.#scale();
    this.#draw();
  }

  select(selection: Selection | undefined): void {
    this.#selection = selection;
    this.#redraw();
  }

  showFound(lines: readonly number[]): void {
    this.#found = new Set(lines);
    this.#redraw();
  }

  showTimes(hasTimes: boolean): void {
    this.#hasTimes = hasTimes;
    this.#redraw();
  }

  isFolded(section: Section): boolean {
    return this.#folded.has(section.from);
  }

  fold(sections: readonly Section[], isFolded: boolean): void {
    for (const section of sections) {
      if (isFolded) this.#folded.set(section.from, section);
      else this.#folded.delete(section.from);
    }
    this.#clear();
    this.grow();
  }

  /** Pixels of the scroll bar for each pixel of text. */
  #scale(): number {
    const [full, seen] = [this.#rows.count * ROW, this.root.clientHeight];
    return full <= HIGHEST ? 1 : (HIGHEST - seen) / (full - seen);
  }

  /** The first row in sight, with a fraction. */
  #first(): number {
    return this.root.scrollTop / this.#scale() / ROW;
  }

  #redraw(): void {
    this.#clear();
    this.#draw();
  }

  #clear(): void {
    for (const row of this.#drawn.values()) row.remove();
    this.#drawn.clear();
  }

  #draw(): void {
    const exact = this.#first();
    const first = Math.max(0, Math.floor(exact) - AROUND);
    const last = Math.min(this.#rows.count, Math.ceil(exact + this.root.clientHeight / ROW) + AROUND) - 1;
    this.#window.style.transform = `translateY(${this.root.scrollTop - (exact - first) * ROW}px)`;
    const wanted = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) =>
      this.#rows.lineOf(first + at),
    );
    const kept = new Set(wanted);
    for (const [line, row] of this.#drawn)
      if (!kept.has(line)) {
        row.remove();
        this.#drawn.delete(line);
      }
    let next = this.#window.firstElementChild;
    for (const line of wanted) {
      const known = this.#drawn.get(line);
      if (known !== undefined && known === next) {
        next = next.nextElementSibling;
        continue;
      }
      const row = known ?? this.#row(line);
      this.#drawn.set(line, row);
      this.#window.insertBefore(row, next);
    }
  }

  #row(line: number): HTMLElement {
    const { time, writer, text } = this.#log.line(line);
    const isExecutor = writer === 'executor';
    const shown = lastWritten(text);
    const classes = isExecutor ? '' : this.#log.classesAt(line);
    const start = shown.before === '' ? classes : piecesOf(shown.before, classes).classes;
    const isSelected =
      this.#selection !== undefined && line >= this.#selection.from && line <= this.#selection.to;
    const kinds = [
      'log-line',
      isExecutor && 'of-executor',
      isSelected && 'is-selected',
      this.#found.has(line) && 'is-found',
    ];
    return element(
      'div',
      { class: kinds.filter(kind => kind !== false).join(' '), 'data-line': line + 1 },
      this.#number(line),
      this.#foldButton(line),
      this.#hasTimes && element('span', { class: 'log-time' }, time === null ? '' : time.slice(11, 23)),
      element('span', { class: 'log-text' }, piecesOf(shown.text, start).pieces.map(drawnPiece)),
    );
  }

  #number(line: number): HTMLElement {
    const link = element('a', {
      class: 'log-number',
      href: `#L${line + 1}`,
      'data-number': line + 1,
      'aria-label': `Line ${line + 1}`,
      tabindex: -1,
    });
    link.addEventListener('click', event => {
      if (event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.#options.onNumber(line, event.shiftKey);
    });
    return link;
  }

  #foldButton(line: number): HTMLElement | false {
    const section = this.#log.sections.beginningAt(line);
    if (section === undefined) return false;
    const isFolded = this.isFolded(section);
    const button = element('button', {
      type: 'button',
      class: 'log-fold',
      tabindex: -1,
      'data-mark': isFolded ? '▸' : '▾',
      'aria-expanded': String(!isFolded),
      'aria-label': `${isFolded ? 'Unfold' : 'Fold'} lines ${section.from + 1} to ${section.to + 1}`,
    });
    button.addEventListener('click', () => this.#options.onFold(section));
    return button;
  }
}

/** A carriage return begins the line anew: what is seen of a progress bar is its last state. */
function lastWritten(text: string): { readonly before: string; readonly text: string } {
  const end = /\r*$/.exec(text)?.index ?? text.length;
  const begin = text.lastIndexOf('\r', end - 1) + 1;
  return end === 0 || begin === 0
    ? { before: '', text: text.slice(0, end) }
    : { before: text.slice(0, begin), text: text.slice(begin, end) };
}

function drawnPiece({ text, classes }: Piece): Node {
  if (classes === '') return document.createTextNode(text);
  const made = element('span', { class: classes }, text);
  for (const [, layer, colour] of classes.matchAll(/\b(fg|bg)-([0-9a-f]{6})/g))
    made.style.setProperty(layer === 'fg' ? 'color' : 'background-color', `#${colour}`);
  return made;
}
