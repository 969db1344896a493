/** Where the time of a pipeline went: the whole gate over time, its load, its states, causes of resets, and the slowest items. */
import type { DelaysAnswer } from '../../api/delays.ts';
import { rowOfState } from '../../model/item-states.ts';
import { api, errorTextOf, fetchJson, pages } from './address.ts';
import { culpritPanel } from './culprits.ts';
import { tiles } from './delay-tiles.ts';
import { type Child, element, externalLink, show } from './dom.ts';
import {
  count,
  dateAndClock,
  durationOf,
  millisecondsOf,
  percent,
  resultKind,
  resultMark,
  resultWord,
} from './format.ts';
import { loadChart } from './load-chart.ts';
import type { Changed, View } from './messages.ts';
import { usePanel, worstPanel } from './night-panels.ts';
import { flakyPanel, resetCasesPanel } from './reset-cases.ts';
import { wholeGate } from './whole-gate.ts';

const PERIODS = ['1h', '8h', '12h', '24h', '7d', '30d'];
const DEFAULT_PERIOD = '24h';
/** Milliseconds between two updates: a pipeline changes all the time, figures over a day do not. */
const REFRESH_MS = 15_000;

/** Fetched again at most every 15 s while the pipeline changes. Period and rows come from `?since=` and `?skip=` of the page's address. */
export class DelaysView implements View {
  readonly title: string;
  readonly #tenant: string;
  readonly #pipeline: string;
  readonly #since: string;
  /** Of the newest rows of the picture. */
  readonly #skip: string;
  #body = element('div', { class: 'delays' });
  #timer: number | undefined;
  #closed = false;

  /** @param pipelines all of the tenant. */
  constructor(root: Element, tenant: string, pipeline: string, pipelines: readonly string[]) {
    this.#tenant = tenant;
    this.#pipeline = pipeline;
    const given = new URLSearchParams(location.search);
    this.#since = given.get('since') ?? DEFAULT_PERIOD;
    this.#skip = given.get('skip') ?? '0';
    this.title = `Delays in ${pipeline}`;
    show(root, element('h1', {}, this.title), this.#pipelines(pipelines), this.#periods(), this.#body);
    show(this.#body, element('p', { class: 'quiet' }, 'Loading …'));
    void this.#load();
  }

  update(changed: Changed): void {
    if (changed !== null && !changed.has(`pipeline/${this.#pipeline}`)) return;
    this.#timer ??= window.setTimeout(() => void this.#load(), REFRESH_MS);
  }

  tick(): void {}

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  #pipelines(names: readonly string[]): HTMLElement | false {
    if (names.length < 2) return false;
    return this.#choice('Pipeline', names, this.#pipeline, name =>
      this.#address(name, this.#since === DEFAULT_PERIOD ? undefined : this.#since),
    );
  }

  #periods(): HTMLElement {
    const known = PERIODS.includes(this.#since) ? PERIODS : [...PERIODS, this.#since];
    return this.#choice('Period', known, this.#since, period => this.#address(this.#pipeline, period));
  }

  #address(pipeline: string, since: string | undefined): string {
    const query = since === undefined ? '' : `?since=${encodeURIComponent(since)}`;
    return `${pages.pipeline(this.#tenant, pipeline)}${query}`;
  }

  #rowsAddress(skip: number): string {
    const query = new URLSearchParams({ since: this.#since, ...(skip === 0 ? {} : { skip: `${skip}` }) });
    return `${pages.pipeline(this.#tenant, this.#pipeline)}?${query}`;
  }

  #choice(
    label: string,
    options: readonly string[],
    chosen: string,
    addressOf: (option: string) => string,
  ): HTMLElement {
    const link = (option: string) =>
      element(
        'a',
        {
          'data-route': true,
          href: addressOf(option),
          'aria-current': option === chosen ? 'true' : null,
        },
        option,
      );
    return element(
      'ul',
      { class: 'periods', 'aria-label': label },
      options.map(option => element('li', {}, link(option))),
    );
  }

  async #load(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const query = new URLSearchParams({ since: this.#since, skip: this.#skip });
    const path = `pipeline/${encodeURIComponent(this.#pipeline)}/delays?${query}`;
    try {
      const delays = await fetchJson<DelaysAnswer>(api(this.#tenant, path));
      if (this.#closed) return;
      if (delays === undefined) return show(this.#body, this.#empty('There is no such pipeline.'));
      show(
        this.#body,
        delays.items === 0
          ? this.#empty('The pipeline had no items in this period.')
          : sections(delays, skip => this.#rowsAddress(skip)),
      );
    } catch (error) {
      if (this.#closed) return;
      show(this.#body, this.#empty(`Cannot load the delays (${errorTextOf(error)}); trying again …`));
      this.#timer ??= window.setTimeout(() => void this.#load(), REFRESH_MS);
    }
  }

  #empty(text: string): HTMLElement {
    return element('div', { class: 'empty' }, element('p', {}, text));
  }
}

function sections(delays: DelaysAnswer, rowsAddress: (skip: number) => string): readonly Child[] {
  return [
    delays.truncated &&
      element(
        'p',
        { class: 'note is-retry' },
        `Too many items to count: the figures cover items that left since ${dateAndClock(millisecondsOf(delays.covered))}.`,
      ),
    tiles(delays),
    wholeGate(delays, rowsAddress),
    worstPanel(delays),
    loadChart(delays),
    statePanel(delays),
    delays.resets.count > 0 && culpritPanel(delays),
    resetCasesPanel(delays),
    flakyPanel(delays),
    usePanel(delays),
    slowPanel(delays),
  ];
}

function statePanel({ tenant, states, time: total, items }: DelaysAnswer): HTMLElement {
  const most = Math.max(...states.map(({ share }) => share));
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'states-title' },
    element(
      'h2',
      { id: 'states-title' },
      'Where the time went',
      element('span', { class: 'total' }, `${durationOf(total)} over ${count(items, 'item')}`),
    ),
    element(
      'div',
      { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': 'Times by state' },
      element(
        'table',
        { class: 'numbers' },
        head(
          ['state', '', 'share', 'per item', 'p50', 'p95', 'longest', 'items'],
          [
            '',
            '',
            'share of the total time',
            'average over all items; the column adds up to the mean duration',
            'median of the items that were in this state',
            '95th percentile of the items that were in this state',
            'leads to the item',
            'items that were in this state',
          ],
        ),
        element(
          'tbody',
          {},
          states.map(state =>
            element(
              'tr',
              { class: `is-${rowOfState(state.state).role}` },
              element('th', { scope: 'row' }, rowOfState(state.state).word),
              element('td', { class: 'wide' }, bar(state.share / most)),
              element('td', {}, percent(state.share)),
              element('td', {}, element('b', {}, durationOf(state.perItem))),
              element('td', {}, durationOf(state.p50)),
              element('td', {}, durationOf(state.p95)),
              element(
                'td',
                {},
                element(
                  'a',
                  { 'data-route': true, href: pages.item(tenant, state.item) },
                  durationOf(state.longest),
                ),
              ),
              element('td', {}, state.items),
            ),
          ),
        ),
      ),
    ),
  );
}

function head(words: readonly string[], titles: readonly string[]): HTMLElement {
  return element(
    'thead',
    {},
    element(
      'tr',
      {},
      words.map((word, index) =>
        word === '' ? element('td') : element('th', { scope: 'col', title: titles[index] || null }, word),
      ),
    ),
  );
}

function bar(share: number): HTMLElement {
  const made = element('i', { class: 'number-bar', 'aria-hidden': 'true' });
  made.style.width = `max(2px, ${share * 100}%)`;
  return made;
}

function slowPanel({ tenant, slowest }: DelaysAnswer): HTMLElement {
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'slowest-title' },
    element('h2', { id: 'slowest-title' }, 'Slowest items'),
    element(
      'ol',
      { class: 'slowest' },
      slowest.map(slow => {
        const kind = resultKind(slow.result);
        return element(
          'li',
          { class: `is-${kind}` },
          element('b', {}, durationOf(slow.duration)),
          element(
            'span',
            { class: 'mark', title: slow.result === null ? 'in the queue' : resultWord(slow.result) },
            resultMark(kind),
          ),
          element(
            'a',
            { class: 'title', 'data-route': true, href: pages.item(tenant, slow.item) },
            slow.changes.join(', '),
          ),
          element(
            'span',
            { class: 'mostly' },
            slow.mostly !== null &&
              `${rowOfState(slow.mostly.state).word} ${durationOf(slow.mostly.duration)}`,
            slow.resets > 0 && element('span', { class: 'again' }, ` · ↻ ${count(slow.resets, 'reset')}`),
          ),
          element('span', { class: 'viewer' }, externalLink(slow.traceUrl, 'trace')),
        );
      }),
    ),
  );
}
