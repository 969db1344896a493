/** The search of the board: shows only items that fit a text, and leads to the page of an item, buildset or build by its uuid. */
import type { LiveItem } from '../../api/live-item.ts';
import { rowOfState } from '../../model/item-states.ts';
import { api, errorTextOf, fetchJson, goTo, pages } from './address.ts';
import { element } from './dom.ts';

/** Kept in the address as `?q=`. `/` on the keyboard leads to it. */
export class BoardSearch {
  readonly root = element('form', { class: 'board-search', role: 'search' });
  readonly #tenant: string;
  readonly #queues: Element;
  readonly #itemOf: (uuid: string) => LiveItem | undefined;
  #isFiltered = false;
  readonly #input = element('input', {
    type: 'search',
    id: 'board-search',
    placeholder: 'Change, project, job, owner or uuid (/)',
    'aria-label': 'Search the queues',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  readonly #said = element('span', { class: 'quiet', role: 'status' });

  /** @param queues whose elements with `data-item` are shown or hidden. @param itemOf its document. */
  constructor(tenant: string, queues: Element, itemOf: (uuid: string) => LiveItem | undefined) {
    this.#tenant = tenant;
    this.#itemOf = itemOf;
    this.#queues = queues;
    this.#input.value = new URLSearchParams(location.search).get('q') ?? '';
    this.root.append(this.#input, this.#said);
    this.#input.addEventListener('input', () => this.#typed());
    this.root.addEventListener('submit', event => {
      event.preventDefault();
      void this.#open();
    });
    document.addEventListener('keydown', this.#key);
  }

  close(): void {
    document.removeEventListener('keydown', this.#key);
  }

  /** After items were drawn. */
  apply(): void {
    const wanted = this.#input.value.trim().toLowerCase();
    if (wanted === '' && !this.#isFiltered) return;
    this.#isFiltered = wanted !== '';
    let shown = 0;
    for (const item of this.#queues.querySelectorAll<HTMLElement>('[data-item]')) {
      const found = this.#itemOf(item.dataset.item ?? '');
      const fits = wanted === '' || (found !== undefined && searchedText(found).includes(wanted));
      item.hidden = !fits;
      if (fits) shown++;
    }
    const text = wanted === '' || shown > 0 ? '' : 'Nothing in the queues fits.';
    if (this.#said.textContent !== text) this.#said.textContent = text;
  }

  #typed(): void {
    const wanted = this.#input.value.trim();
    const query = wanted === '' ? '' : `?${new URLSearchParams({ q: wanted })}`;
    window.history.replaceState(null, '', `${location.pathname}${query}`);
    this.apply();
  }

  async #open(): Promise<void> {
    const uuid = this.#input.value.trim();
    if (!/^[0-9a-f]{32}$/.test(uuid)) return;
    try {
      for (const kind of ['item', 'build', 'buildset']) {
        const found = await fetchJson(api(this.#tenant, `${kind}/${uuid}`));
        if (found !== undefined) return goTo(`${pages.list(this.#tenant, kind)}/${uuid}`);
      }
      this.#said.textContent = 'No item, build or buildset has this uuid.';
    } catch (error) {
      this.#said.textContent = `It cannot be looked for (${errorTextOf(error)}).`;
    }
  }

  readonly #key = (event: KeyboardEvent): void => {
    const isTyping =
      event.target instanceof Element && event.target.closest('input, select, textarea') !== null;
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    this.#input.focus();
  };
}

const texts = new WeakMap<LiveItem, string>();

/** What a search looks at, in lower case. */
function searchedText(item: LiveItem): string {
  const known = texts.get(item);
  if (known !== undefined) return known;
  const { uuid, pipeline, changes, jobs, failing, state, dependsOn } = item;
  const { word } = rowOfState(state.name);
  const parts = [
    ...[uuid, pipeline, word, state.subject, failing.length > 0 ? `failing: ${failing.join(' ')}` : ''],
    ...changes.flatMap(({ text, subject, owner, name }) => [text, name, subject, owner]),
    ...jobs.map(({ name }) => name),
    ...dependsOn,
  ];
  const text = parts
    .filter(part => typeof part === 'string')
    .join('\n')
    .toLowerCase();
  texts.set(item, text);
  return text;
}
