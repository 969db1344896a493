/** A search field above a list that is loaded as a whole: hides the rows without the text. Kept in the address as `?q=`. */
import { element } from './dom.ts';

/** One for the life of a view: its field stays the same when the list is drawn anew. */
export class ListSearch {
  readonly root = element('div', { class: 'list-search', role: 'search' });
  readonly #input: HTMLInputElement;
  readonly #said = element('span', { class: 'quiet', role: 'status' });
  #rows: readonly HTMLElement[] = [];

  /** @param what is listed, in the plural. */
  constructor(what: string) {
    this.#input = element('input', {
      type: 'search',
      id: 'list-search',
      placeholder: `Search the ${what}`,
      'aria-label': `Search the ${what}`,
      autocomplete: 'off',
      spellcheck: 'false',
    });
    this.#input.value = new URLSearchParams(location.search).get('q') ?? '';
    this.#input.addEventListener('input', () => this.#typed());
    this.root.append(this.#input, this.#said);
  }

  /** The list that was just drawn. @returns the same. */
  over(list: HTMLElement, rows: string): HTMLElement {
    this.#rows = [...list.querySelectorAll<HTMLElement>(rows)];
    this.#apply();
    return list;
  }

  #typed(): void {
    const wanted = this.#input.value.trim();
    const query = wanted === '' ? '' : `?${new URLSearchParams({ q: wanted })}`;
    window.history.replaceState(null, '', `${location.pathname}${query}`);
    this.#apply();
  }

  #apply(): void {
    const wanted = this.#input.value.trim().toLowerCase();
    let shown = 0;
    for (const row of this.#rows) {
      row.hidden = !(row.textContent ?? '').toLowerCase().includes(wanted);
      if (!row.hidden) shown++;
    }
    const text = this.#rows.length > 0 && shown === 0 ? 'Nothing fits.' : '';
    if (this.#said.textContent !== text) this.#said.textContent = text;
  }
}
