/** The items that finished recently: fetched, since no live document has them. */
import type { FinishedItem } from '../../api/live-item.ts';
import { api, fetchJson, pages } from './address.ts';
import { element, show } from './dom.ts';
import { clock, count, duration, itemTitle, resultKind, resultMark, resultWord } from './format.ts';

const RECENT = 12;
/** An item reaches the history shortly after it left its queue. */
const AFTER_LEAVING_MS = 800;

/** Of a tenant. */
export class RecentItems {
  readonly root = element('section', { class: 'recent', 'aria-labelledby': 'recent-title' });
  readonly #tenant: string;
  #timer: number | undefined;

  constructor(tenant: string) {
    this.#tenant = tenant;
    void this.#load();
  }

  /** An item has left. */
  soon(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#load(), AFTER_LEAVING_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  async #load(): Promise<void> {
    const items = await fetchJson<readonly FinishedItem[]>(api(this.#tenant, `items?limit=${RECENT}`)).catch(
      () => undefined,
    );
    if (items === undefined) return;
    show(
      this.root,
      element('h2', { id: 'recent-title' }, 'Recently finished'),
      items.length === 0
        ? element('p', { class: 'quiet' }, 'No item has finished yet.')
        : element(
            'ol',
            { class: 'finished' },
            items.map(item => this.#finished(item)),
          ),
    );
  }

  #finished(item: FinishedItem): HTMLElement {
    const kind = resultKind(item.result);
    const [change] = item.changes;
    return element(
      'li',
      { class: `is-${kind}` },
      element('span', { class: 'mark', 'aria-hidden': 'true' }, resultMark(kind)),
      element(
        'a',
        { class: 'title', 'data-route': true, href: pages.item(this.#tenant, item.uuid) },
        itemTitle(item),
      ),
      element('span', { class: 'change' }, change?.text),
      element(
        'span',
        { class: 'outcome' },
        resultWord(item.result),
        item.resets > 0 && ` · ${count(item.resets, 'reset')}`,
      ),
      element('span', { class: 'pipeline-name' }, item.pipeline),
      element('span', { class: 'took' }, duration(item.leftAt - item.enqueuedAt)),
      element('time', { datetime: new Date(item.leftAt).toISOString() }, clock(item.leftAt)),
    );
  }
}
