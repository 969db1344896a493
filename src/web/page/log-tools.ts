/** What one can do with a log: search it, fold it, jump in it, link to lines of it, take it along. */
import { api } from './address.ts';
import { element } from './dom.ts';
import { count } from './format.ts';
import type { LogBuffer } from './log-buffer.ts';
import { LogList, type Selection } from './log-list.ts';
import { findLines, firstError, MOST_FOUND } from './log-search.ts';
import type { Section } from './log-sections.ts';
import { sessionToken } from './session.ts';

/** Milliseconds after the last key before a search begins. */
const SEARCH_AFTER_MS = 250;

/** The toolbar and the lines of one log. The address has the selected lines: `#L10-L20`. */
export class LogTools {
  readonly root = element('section', { class: 'panel log', 'aria-label': 'Log of the build' });
  readonly #log: LogBuffer;
  readonly #list: LogList;
  readonly #name: string;
  readonly #status = element('span', { class: 'quiet', role: 'status' });
  readonly #found = element('span', { class: 'quiet', role: 'status' });
  readonly #search = element('input', {
    type: 'search',
    id: 'log-search',
    placeholder: 'Search (/)',
    'aria-label': 'Search the log',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  readonly #follow = element('input', { type: 'checkbox', id: 'follow', checked: true });
  readonly #times = element('input', { type: 'checkbox', id: 'times' });
  #selection: Selection | undefined;
  #lines: readonly number[] = [];
  #at = -1;
  #searching = new AbortController();
  #timer: number | undefined;

  constructor(log: LogBuffer, tenant: string, uuid: string) {
    this.#log = log;
    this.#name = `${uuid.slice(0, 8)}.log`;
    this.#list = new LogList(log, {
      onNumber: (line, extend) => this.#choose(line, extend),
      onFold: section => this.#fold([section], !this.#list.isFolded(section)),
    });
    this.#selection = parseLines(location.hash);
    this.#list.select(this.#selection);
    if (this.#selection !== undefined) this.#follow.checked = false;
    const raw = element('a', { href: api(tenant, `build/${uuid}/logs/job-output.txt`) }, 'Raw');
    this.root.append(
      element(
        'div',
        { class: 'log-tools' },
        this.#search,
        this.#button('Next', () => this.#step(1)),
        this.#found,
        element('span', { class: 'grow' }),
        this.#button('First error (e)', () => void this.#toError()),
        this.#button('Fold all', () => this.#fold(this.#log.sections.all(), true)),
        this.#button('Unfold all', () => this.#fold(this.#log.sections.all(), false)),
        element('label', {}, this.#times, ' times'),
        element('label', {}, this.#follow, ' follow'),
        // A link sends no token.
        sessionToken() === undefined && raw,
        this.#button('Download', () => this.#download()),
        this.#status,
      ),
      this.#list.root,
    );
    this.#listen();
  }

  close(): void {
    this.#searching.abort();
    clearTimeout(this.#timer);
    document.removeEventListener('keydown', this.#key);
  }

  /** The log has grown. @param complete it does not grow any more. */
  grow(complete: boolean): void {
    this.#list.grow();
    const wanted = this.#selection?.from;
    if (wanted !== undefined && this.#at < 0 && wanted < this.#log.lines && !this.#isShown) {
      this.#isShown = true;
      this.#list.reveal(wanted);
    }
    if (this.#follow.checked) this.#list.toEnd();
    if (complete) this.#follow.disabled = true;
  }

  #isShown = false;

  say(text: string): void {
    if (this.#status.textContent !== text) this.#status.textContent = text;
  }

  #listen(): void {
    this.#search.addEventListener('input', () => {
      clearTimeout(this.#timer);
      this.#timer = window.setTimeout(() => void this.#find(), SEARCH_AFTER_MS);
    });
    this.#search.addEventListener('keydown', event => {
      if (event.key === 'Enter') this.#step(event.shiftKey ? -1 : 1);
      if (event.key === 'Escape') this.#list.root.focus();
    });
    this.#times.addEventListener('change', () => this.#list.showTimes(this.#times.checked));
    this.#follow.addEventListener('change', () => this.#follow.checked && this.#list.toEnd());
    // Scrolling up is reading.
    this.#list.root.addEventListener('wheel', () => this.#unfollow(), { passive: true });
    this.#list.root.addEventListener('touchmove', () => this.#unfollow(), { passive: true });
    document.addEventListener('keydown', this.#key);
  }

  #unfollow(): void {
    if (!this.#list.isAtEnd) this.#follow.checked = false;
  }

  readonly #key = (event: KeyboardEvent): void => {
    const isTyping =
      event.target instanceof Element && event.target.closest('input, select, textarea') !== null;
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const acts: { readonly [key: string]: () => void } = {
      '/': () => this.#search.focus(),
      n: () => this.#step(1),
      N: () => this.#step(-1),
      e: () => void this.#toError(),
      g: () => this.#jump(() => this.#list.toStart()),
      G: () => this.#jump(() => this.#list.toEnd()),
    };
    const act = acts[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };

  #jump(to: () => void): void {
    this.#follow.checked = false;
    to();
  }

  #choose(line: number, extend: boolean): void {
    const anchor = this.#selection;
    const range =
      extend && anchor !== undefined
        ? { from: Math.min(anchor.from, line), to: Math.max(anchor.to, line) }
        : { from: line, to: line };
    this.#selection = range;
    this.#follow.checked = false;
    const hash = range.from === range.to ? `#L${line + 1}` : `#L${range.from + 1}-L${range.to + 1}`;
    window.history.replaceState(null, '', hash);
    this.#list.select(range);
  }

  #fold(sections: readonly Section[], isFolded: boolean): void {
    this.#follow.checked = false;
    this.#list.fold(sections, isFolded);
  }

  async #find(): Promise<readonly number[]> {
    this.#searching.abort();
    this.#searching = new AbortController();
    const wanted = this.#search.value;
    this.#at = -1;
    this.#found.textContent = wanted === '' ? '' : 'searching …';
    const lines = wanted === '' ? [] : await findLines(this.#log, wanted, this.#searching.signal);
    if (lines === undefined) return [];
    this.#lines = lines;
    this.#list.showFound(lines);
    if (wanted !== '') this.#showPlace();
    if (lines.length > 0) this.#step(1);
    return lines;
  }

  #step(by: number): void {
    if (this.#lines.length === 0) return;
    this.#at = (this.#at + by + this.#lines.length) % this.#lines.length;
    this.#showPlace();
    this.#choose(this.#lines[this.#at] ?? 0, false);
    this.#list.reveal(this.#lines[this.#at] ?? 0);
  }

  #showPlace(): void {
    const { length } = this.#lines;
    const all = length === MOST_FOUND ? `the first ${MOST_FOUND} lines` : count(length, 'line');
    this.#found.textContent = length === 0 ? 'not found' : `${this.#at + 1} of ${all}`;
  }

  async #toError(): Promise<void> {
    this.#searching.abort();
    this.#searching = new AbortController();
    const line = await firstError(this.#log, this.#searching.signal);
    if (line === undefined) {
      this.#found.textContent = 'no line looks like an error';
      return;
    }
    this.#found.textContent = '';
    this.#choose(line, false);
    this.#list.reveal(line);
  }

  /** What has been read: a link would send no token. */
  #download(): void {
    const address = URL.createObjectURL(new Blob([...this.#log.parts()], { type: 'text/plain' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = this.#name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }

  #button(text: string, act: () => void): HTMLElement {
    const made = element('button', { type: 'button' }, text);
    made.addEventListener('click', act);
    return made;
  }
}

/** `#L10` and `#L10-L20`, from 1. Undefined: neither. */
function parseLines(hash: string): Selection | undefined {
  const [, from, to] = /^#L(\d{1,9})(?:-L?(\d{1,9}))?$/.exec(hash) ?? [];
  if (from === undefined || Number(from) === 0) return undefined;
  const [first, last] = [Number(from), Number(to ?? from)].toSorted((a, b) => a - b);
  return { from: (first ?? 1) - 1, to: (last ?? 1) - 1 };
}
