/** All pipelines and their queues, and the items that finished recently. */
import type { FinishedItem, LiveItem } from '../../api/live-item.ts';
import type { LivePipeline } from '../../api/live-view.ts';
import { api, fetchJson, pages } from './address.ts';
import { BoardSearch } from './board-search.ts';
import { type Child, element, show } from './dom.ts';
import { forecastLine } from './forecast-line.ts';
import { clock, count, duration, itemTitle, resultKind, resultMark, resultWord } from './format.ts';
import { itemCard } from './item-card.ts';
import type { Live } from './live.ts';
import type { Changed, View } from './messages.ts';
import { tick } from './ticking.ts';

const RECENT = 12;

/** Redraws single items where it can, and everything when a queue changes; finished items are fetched, since no document has them. */
export class Board implements View {
  readonly #live: Live;
  readonly #tenant: string;
  #queues = element('div', { class: 'pipelines' });
  #recent = element('section', { class: 'recent', 'aria-labelledby': 'recent-title' });
  readonly #search: BoardSearch;
  #timer: number | undefined;

  constructor(root: Element, tenant: string, live: Live) {
    this.#live = live;
    this.#tenant = tenant;
    this.#search = new BoardSearch(tenant, this.#queues);
    show(
      root,
      element('h1', { class: 'visually-hidden' }, `Pipelines of ${tenant}`),
      this.#search.root,
      this.#queues,
      this.#recent,
    );
    this.update(null);
    void this.#loadRecent();
  }

  get title(): string {
    const items = this.#live.items();
    const failing = items.filter(item => item.failing.length > 0).length;
    if (failing > 0) return `✕ ${failing} of ${count(items.length, 'item')} failing`;
    return items.length === 0 ? 'Quiet' : count(items.length, 'item');
  }

  /** @param changed names of documents, or null: everything. */
  update(changed: Changed): void {
    if (this.#live.tenant() === undefined) return;
    const structure =
      changed === null ||
      [...changed].some(
        name =>
          name.startsWith('pipeline/') || (!name.startsWith('forecast/') && !this.#live.documents.has(name)),
      );
    if (structure) this.#drawAll();
    else for (const name of changed) this.#redraw(name);
    this.#search.apply();
    this.tick();
    if (
      changed !== null &&
      [...changed].some(name => name.startsWith('item/') && !this.#live.documents.has(name))
    )
      this.#recentSoon();
  }

  tick(): void {
    tick(this.#queues, this.#live.now());
  }

  close(): void {
    this.#search.close();
    clearTimeout(this.#timer);
  }

  #drawAll(): void {
    const pipelines = this.#live.pipelines();
    const busy = pipelines.filter(isShown);
    const idle = pipelines.filter(pipeline => !isShown(pipeline));
    show(
      this.#queues,
      busy.map(pipeline => this.#pipeline(pipeline)),
      busy.length === 0 && this.#emptyState(pipelines),
      idle.length > 0 &&
        busy.length > 0 &&
        element(
          'p',
          { class: 'idle' },
          'Empty: ',
          idle.flatMap((pipeline, index) => [index > 0 && ', ', this.#delaysLink(pipeline, pipeline.name)]),
          '.',
        ),
    );
  }

  #redraw(name: string): void {
    if (name.startsWith('item/')) this.#redrawItem(name.slice('item/'.length));
    if (name.startsWith('forecast/')) this.#redrawForecasts(name.slice('forecast/'.length));
  }

  #redrawForecasts(pipeline: string): void {
    for (const [uuid, forecast] of Object.entries(this.#live.forecasts(pipeline)?.items ?? {})) {
      const line = this.#queues.querySelector(`[data-forecast="${uuid}"]`);
      line?.replaceWith(forecastLine(uuid, forecast, this.#live.now()));
    }
  }

  #card(item: LiveItem): HTMLElement {
    return itemCard(item, forecastLine(item.uuid, this.#live.forecast(item), this.#live.now()));
  }

  #redrawItem(uuid: string): void {
    const item = this.#live.item(uuid);
    const card = this.#queues.querySelector(`[data-item="${uuid}"]`);
    if (card === null || item === undefined) return;
    const focused = card.contains(document.activeElement) ? (document.activeElement?.id ?? '') : '';
    card.replaceWith(this.#card(item));
    if (focused !== '') document.getElementById(focused)?.focus({ preventScroll: true });
  }

  #pipeline(pipeline: LivePipeline): HTMLElement {
    const size = pipeline.queues.reduce((sum, queue) => sum + queue.items.length, 0);
    return element(
      'section',
      { class: `pipeline is-${pipeline.manager}`, 'aria-label': `Pipeline ${pipeline.name}` },
      element(
        'header',
        {},
        element('h2', {}, pipeline.name),
        element('span', { class: 'count' }, count(size, 'item')),
        pipeline.disabled && element('span', { class: 'chip is-bad' }, 'disabled after too many failures'),
        this.#delaysLink(pipeline, 'delays'),
        (pipeline.halts ?? []).map(halt => element('p', { class: 'chip is-bad' }, haltLine(halt))),
        pipeline.description !== null && element('p', { class: 'description' }, pipeline.description),
      ),
      pipeline.queues.map(queue => this.#queue(pipeline, queue)),
    );
  }

  #delaysLink({ name, description }: LivePipeline, text: string): HTMLElement {
    return element(
      'a',
      {
        class: 'delays-link',
        'data-route': true,
        href: pages.pipeline(this.#tenant, name),
        title: description,
      },
      text,
    );
  }

  #queue(pipeline: LivePipeline, queue: LivePipeline['queues'][number]): HTMLElement {
    const items = queue.items.map(uuid => this.#live.item(uuid)).filter(item => item !== undefined);
    const window = queue.window === 0 ? null : `window ${queue.window}`;
    return element(
      'div',
      { class: 'queue' },
      element(
        'h3',
        {},
        queue.name,
        window !== null &&
          element(
            'span',
            { class: 'window', title: 'maximum number of items tested at the same time' },
            window,
          ),
      ),
      element(
        'ol',
        { class: `train ${pipeline.manager === 'independent' ? 'is-single' : ''}` },
        items.map(item => this.#card(item)),
      ),
    );
  }

  #emptyState(pipelines: readonly LivePipeline[]): HTMLElement {
    const projects = this.#live.tenant()?.projects ?? 0;
    if (pipelines.length === 0) {
      return emptyBox(
        'No pipelines yet',
        'This tenant has no pipelines. Define one in a config-project of the tenant file and push it; see also ',
        element(
          'a',
          { 'data-route': true, href: pages.list(this.#tenant, 'config-errors') },
          'its configuration errors',
        ),
        '.',
      );
    }
    return emptyBox(
      'All queues are empty',
      `Propose a change to one of ${count(projects, 'project')} and it appears here within a second:`,
      element('pre', {}, 'git push origin HEAD:refs/heads/for/master/my-change'),
      element(
        'span',
        { class: 'quiet' },
        'Pipelines: ',
        pipelines.flatMap((pipeline, index) => [
          index > 0 && ', ',
          this.#delaysLink(pipeline, pipeline.name),
        ]),
        '.',
      ),
    );
  }

  /** An item reaches the history shortly after it left its queue. */
  #recentSoon(): void {
    clearTimeout(this.#timer);
    this.#timer = window.setTimeout(() => void this.#loadRecent(), 800);
  }

  async #loadRecent(): Promise<void> {
    const items = await fetchJson<readonly FinishedItem[]>(api(this.#tenant, `items?limit=${RECENT}`)).catch(
      () => undefined,
    );
    if (items === undefined) return;
    show(
      this.#recent,
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

/** Also an empty one that an operator keeps from going on. */
function isShown({ queues, halts = [] }: LivePipeline): boolean {
  return queues.length > 0 || halts.length > 0;
}

function haltLine({ queue, mode, reason, by }: LivePipeline['halts'][number]): string {
  const what = queue === null ? '' : `queue ${queue} `;
  return `${what}${mode === 'pause' ? 'is paused' : 'takes no changes'}, by ${by}: ${reason}`;
}

function emptyBox(title: string, ...children: readonly Child[]): HTMLElement {
  return element('div', { class: 'empty' }, element('h2', {}, title), element('p', {}, ...children));
}
