/** Keys of the board: `j` and `k` go to the next and the previous item that is shown, Enter opens it, as always. */
import type { LineList } from './line-list.ts';

/** Listens until closed. */
export class BoardKeys {
  readonly #shown: Element;
  readonly #lists: readonly LineList[];

  /** @param shown has the items. @param lists those of their lines. */
  constructor(shown: Element, lists: readonly LineList[]) {
    this.#shown = shown;
    this.#lists = lists;
    document.addEventListener('keydown', this.#key);
  }

  close(): void {
    document.removeEventListener('keydown', this.#key);
  }

  readonly #key = (event: KeyboardEvent): void => {
    const step = { j: 1, k: -1 }[event.key];
    const isTyping =
      event.target instanceof Element && event.target.closest('input, select, textarea, dialog') !== null;
    if (step === undefined || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    const items = [...this.#shown.querySelectorAll<HTMLElement>('[data-item]:not([hidden])')];
    const at = items.findIndex(item => item.contains(document.activeElement));
    const next = items[at < 0 ? (step > 0 ? 0 : items.length - 1) : at + step];
    if (next === undefined) return;
    event.preventDefault();
    for (const list of this.#lists) list.focus(next);
    const link = next.querySelector<HTMLElement>('h4 .title');
    if (!next.matches('.line')) link?.focus();
  };
}
