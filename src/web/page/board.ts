/** All pipelines and their queues, as cards or in lines, and the items that finished recently. */
import type { LiveItem } from '../../api/live-item.ts';
import type { LivePipeline } from '../../api/live-view.ts';
import { actButtons } from './act-dialog.ts';
import { itemActs, pipelineActs } from './acts.ts';
import { BoardChoices } from './board-choices.ts';
import { delaysLink, emptyState, pipelineLinks } from './board-empty.ts';
import { BoardKeys } from './board-keys.ts';
import { BoardSearch } from './board-search.ts';
import { arrange, type Child, element, show } from './dom.ts';
import { forecastLine } from './forecast-line.ts';
import { count } from './format.ts';
import { itemArticle, itemCard } from './item-card.ts';
import { etaText, itemLine } from './item-line.ts';
import { LineList } from './line-list.ts';
import type { Live } from './live.ts';
import type { Changed, View } from './messages.ts';
import { PipelineSection, type QueueContent } from './pipeline-section.ts';
import { RecentItems } from './recent-items.ts';
import type { RightToAct } from './right-to-act.ts';
import { tick } from './ticking.ts';

/** A queue of so many lines is shown in columns; of more, those would have to be balanced anew all the time. */
const IN_COLUMNS = { from: 26, to: 150 } as const;

interface Shown {
  readonly live: Live;
  readonly right: Pick<RightToAct, 'isGiven'>;
}

/** Redraws single items where it can, and everything when a queue changes. */
export class Board implements View {
  readonly #live: Live;
  readonly #tenant: string;
  readonly #right: Pick<RightToAct, 'isGiven'>;
  readonly #mineTitle = element('h2');
  readonly #mineList = element('ol', { class: 'lines' });
  readonly #mine = element(
    'section',
    { class: 'mine', 'aria-label': 'Mine', hidden: true },
    this.#mineTitle,
    this.#mineList,
  );
  readonly #queues = element('div', { class: 'pipelines' });
  readonly #shown = element('div', {}, this.#mine, this.#queues);
  readonly #sections = new Map<string, PipelineSection>();
  readonly #recent: RecentItems;
  readonly #search: BoardSearch;
  readonly #choices = new BoardChoices(() => this.update(null));
  readonly #lines = new LineList((item, place, isOpen) =>
    this.#line(item, place, isOpen, this.#lines, 'line-'),
  );
  readonly #mineLines = new LineList((item, place, isOpen) =>
    this.#line(item, place, isOpen, this.#mineLines, 'mine-'),
  );
  readonly #keys = new BoardKeys(this.#shown, [this.#lines, this.#mineLines]);

  constructor(root: Element, tenant: string, { live, right }: Shown) {
    this.#live = live;
    this.#right = right;
    this.#tenant = tenant;
    this.#recent = new RecentItems(tenant);
    this.#search = new BoardSearch(tenant, this.#shown, uuid => live.item(uuid));
    this.#search.root.append(this.#choices.root);
    show(
      root,
      element('h1', { class: 'visually-hidden' }, `Pipelines of ${tenant}`),
      this.#search.root,
      this.#shown,
      this.#recent.root,
    );
    this.update(null);
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
    if (structure) this.#drawAll(changed);
    else for (const name of changed) this.#redraw(name);
    this.#search.apply();
    this.tick();
    if (
      changed !== null &&
      [...changed].some(name => name.startsWith('item/') && !this.#live.documents.has(name))
    )
      this.#recent.soon();
  }

  tick(): void {
    tick(this.#shown, this.#live.now());
  }

  close(): void {
    this.#search.close();
    this.#recent.close();
    this.#keys.close();
    this.#lines.close();
    this.#mineLines.close();
  }

  #drawAll(changed: Changed): void {
    const items = this.#live.items();
    this.#choices.settle(items);
    for (const lines of [this.#lines, this.#mineLines]) {
      // What is not in the documents of the items may be another one: the right to act, the form.
      if (changed === null) lines.redraw();
      lines.prune(uuid => this.#live.item(uuid) !== undefined);
    }
    const pipelines = this.#live.pipelines();
    const busy = pipelines.filter(pipeline => this.#right.isGiven || isShown(pipeline));
    const idle = pipelines.filter(pipeline => !busy.includes(pipeline));
    this.#queues.classList.toggle('in-lines', this.#choices.mode === 'lines');
    arrange(this.#queues, [
      ...busy.map(pipeline => this.#section(pipeline)),
      ...(busy.length === 0
        ? [emptyState(this.#tenant, pipelines, this.#live.tenant()?.projects ?? 0)]
        : idle.length > 0
          ? [element('p', { class: 'idle' }, 'Empty: ', pipelineLinks(this.#tenant, idle), '.')]
          : []),
    ]);
    this.#drawMine(items);
  }

  /** In the order of their queues; the others stay where they are. */
  #drawMine(items: readonly LiveItem[]): void {
    const { mine } = this.#choices;
    const own = mine === '' ? [] : items.filter(({ changes }) => changes.some(({ owner }) => owner === mine));
    this.#mine.hidden = own.length === 0;
    show(this.#mineTitle, `Changes of ${mine}`);
    arrange(
      this.#mineList,
      own.flatMap(item => this.#mineLines.linesOf([item], this.#placeOf(item))),
    );
  }

  #placeOf({ uuid, pipeline }: LiveItem): number {
    const queues = this.#live.pipelines().find(({ name }) => name === pipeline)?.queues ?? [];
    return (queues.find(queue => queue.items.includes(uuid))?.items.indexOf(uuid) ?? 0) + 1;
  }

  #redraw(name: string): void {
    if (name.startsWith('item/')) this.#redrawItem(name.slice('item/'.length));
    if (name.startsWith('forecast/')) this.#redrawForecasts(name.slice('forecast/'.length));
  }

  #redrawForecasts(pipeline: string): void {
    const now = this.#live.now();
    const forecasts = this.#live.forecasts(pipeline)?.items ?? {};
    for (const line of this.#shown.querySelectorAll<HTMLElement>('[data-forecast]')) {
      const { forecast: uuid = '' } = line.dataset;
      if (forecasts[uuid] !== undefined) line.replaceWith(forecastLine(uuid, forecasts[uuid], now));
    }
    for (const line of this.#shown.querySelectorAll<HTMLElement>('[data-eta]')) {
      const { eta: uuid = '' } = line.dataset;
      if (forecasts[uuid] !== undefined) line.textContent = etaText(forecasts[uuid], now);
    }
  }

  #line(item: LiveItem, place: number, isOpen: boolean, lines: LineList, prefix: string): Child {
    const now = this.#live.now();
    const head = itemLine(item, { place, isOpen, forecast: this.#live.forecast(item), now, prefix });
    head.addEventListener('click', () => lines.toggle(item.uuid));
    return [head, isOpen && itemArticle(item, this.#forecast(item), this.#itemActs(item))];
  }

  #forecast(item: LiveItem): HTMLElement {
    return forecastLine(item.uuid, this.#live.forecast(item), this.#live.now());
  }

  #card(item: LiveItem): HTMLElement {
    return itemCard(item, this.#forecast(item), this.#itemActs(item));
  }

  #itemActs(item: LiveItem): HTMLElement | null {
    if (!this.#right.isGiven) return null;
    const pipeline = this.#live.pipelines().find(({ name }) => name === item.pipeline);
    return actButtons(this.#tenant, itemActs(item, pipeline?.manager), item.uuid);
  }

  #redrawItem(uuid: string): void {
    const item = this.#live.item(uuid);
    if (item === undefined) return;
    this.#lines.update(item);
    this.#mineLines.update(item);
    const card = this.#queues.querySelector(`.item[data-item="${uuid}"]`);
    if (card === null) return;
    const focused = card.contains(document.activeElement) ? (document.activeElement?.id ?? '') : '';
    card.replaceWith(this.#card(item));
    if (focused !== '') document.getElementById(focused)?.focus({ preventScroll: true });
  }

  #section(pipeline: LivePipeline): HTMLElement {
    const known = this.#sections.get(pipeline.name) ?? new PipelineSection(pipeline);
    this.#sections.set(pipeline.name, known);
    const more: readonly Child[] = [
      delaysLink(this.#tenant, pipeline, 'delays'),
      (pipeline.halts ?? []).map(halt => element('p', { class: 'chip is-bad' }, haltLine(halt))),
      pipeline.description !== null && element('p', { class: 'description' }, pipeline.description),
      this.#right.isGiven &&
        actButtons(this.#tenant, pipelineActs(pipeline), `pipeline-${pipeline.position}`),
    ];
    known.draw(pipeline, more, queue => this.#contentOf(pipeline, queue));
    return known.root;
  }

  #contentOf({ manager }: LivePipeline, queue: LivePipeline['queues'][number]): QueueContent {
    const items = queue.items.map(uuid => this.#live.item(uuid)).filter(item => item !== undefined);
    if (this.#choices.mode === 'lines') {
      const isLong = items.length >= IN_COLUMNS.from && items.length <= IN_COLUMNS.to;
      const look = `lines ${isLong ? 'is-long' : ''}`;
      return { look, items: this.#lines.linesOf(items) };
    }
    const look = `train ${manager === 'independent' ? 'is-single' : ''}`;
    return { look, items: items.map(item => this.#card(item)) };
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
