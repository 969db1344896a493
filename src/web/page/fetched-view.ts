/** A view of one document that is fetched: loads it, draws it, and loads it again while it may have changed, and after an act. */
import { ACTED } from './act-dialog.ts';
import { errorTextOf } from './address.ts';
import { type Child, element, show } from './dom.ts';
import type { Changed, View } from './messages.ts';

/** @template Shown what is fetched. */
interface FetchedPage<Shown> {
  /** For the title of the document. */
  readonly title: string;
  /** Undefined: there is none (404). */
  readonly load: () => Promise<Shown | undefined>;
  readonly draw: (shown: Shown) => readonly Child[];
  /** What is said in place of a document that does not exist. */
  readonly missing?: string;
  /** Whether the document may be another one after a message of the live stream. Default: never. */
  readonly concerns?: (changed: Changed) => boolean;
  /** Milliseconds after which it is loaded again in any case, while the page is seen. Absent: never. */
  readonly everyMs?: number;
}

/** Milliseconds between two loads, so that a busy tenant does not make every reader load all the time. */
const EVERY_MS = 2000;
const RETRY_MS = 5000;

/** Keeps showing the last document while the next one cannot be loaded. */
export class FetchedView<Shown> implements View {
  readonly title: string;
  readonly #root: Element;
  readonly #page: FetchedPage<Shown>;
  #timer: number | undefined;
  #interval: number | undefined;
  #isLoading = false;
  #isShown = false;
  readonly #closing = new AbortController();

  constructor(root: Element, page: FetchedPage<Shown>) {
    this.#root = root;
    this.#page = page;
    this.title = page.title;
    show(root, element('p', { class: 'quiet' }, 'Loading …'));
    void this.#load();
    document.addEventListener(ACTED, () => void this.#loadTwice(), { signal: this.#closing.signal });
    if (page.everyMs !== undefined)
      this.#interval = window.setInterval(() => {
        if (!document.hidden) this.#loadIn(0);
      }, page.everyMs);
  }

  update(changed: Changed): void {
    if (this.#page.concerns?.(changed) === true) this.#loadIn(this.#isShown ? EVERY_MS : 0);
  }

  tick(): void {}

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#timer);
    clearInterval(this.#interval);
  }

  /** What the service has taken it may do shortly. */
  async #loadTwice(): Promise<void> {
    await this.#load();
    if (!this.#closing.signal.aborted) this.#loadIn(EVERY_MS);
  }

  #loadIn(ms: number): void {
    this.#timer ??= window.setTimeout(() => {
      this.#timer = undefined;
      void this.#load();
    }, ms);
  }

  async #load(): Promise<void> {
    if (this.#isLoading) return this.#loadIn(EVERY_MS);
    this.#isLoading = true;
    try {
      const found = await this.#page.load();
      if (this.#closing.signal.aborted) return;
      if (found !== undefined) show(this.#root, ...this.#page.draw(found));
      else show(this.#root, nothingHere(this.#page.missing ?? 'There is no such page.'));
      this.#isShown = found !== undefined;
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      const text = `This page cannot be loaded (${errorTextOf(error)}); trying again …`;
      if (!this.#isShown) show(this.#root, element('p', { class: 'quiet', role: 'status' }, text));
      this.#loadIn(RETRY_MS);
    } finally {
      this.#isLoading = false;
    }
  }
}

/** @param what a sentence, e.g. `There is no such build.` */
export function nothingHere(what: string, ...more: readonly Child[]): HTMLElement {
  return element('div', { class: 'empty' }, element('h1', {}, 'Not found'), element('p', {}, what, ...more));
}
