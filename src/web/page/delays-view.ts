/** Where the time of a pipeline went: how full it was, its states, who had others tested again, and the slowest items. */
import type { DelaysAnswer } from '../../api/delays.ts';
import { rowOfState } from '../../model/item-states.ts';
import { api, errorTextOf, fetchJson, pages } from './address.ts';
import { culpritPanel } from './culprits.ts';
import { type Child, element, externalLink, show } from './dom.ts';
import {
  count,
  dateAndClock,
  duration,
  millisecondsOf,
  percent,
  resultKind,
  resultMark,
  resultWord,
} from './format.ts';
import { loadChart } from './load-chart.ts';
import type { Changed, View } from './messages.ts';

const PERIODS = ['1h', '6h', '24h', '7d', '30d'];
const DEFAULT_PERIOD = '24h';
/** News of the pipeline come all the time; numbers over a day need not follow each. */
const REFRESH_MS = 15_000;

export class DelaysView implements View {
  readonly #tenant: string;
  readonly #pipeline: string;
  readonly #since: string;
  #body = element('div', { class: 'delays' });
  #timer: number | undefined;
  #closed = false;

  constructor(root: Element, tenant: string, pipeline: string) {
    this.#tenant = tenant;
    this.#pipeline = pipeline;
    this.#since = new URLSearchParams(location.search).get('since') ?? DEFAULT_PERIOD;
    show(
      root,
      element(
        'nav',
        { class: 'crumbs', 'aria-label': 'Breadcrumb' },
        element('a', { 'data-route': true, href: pages.tenant(tenant) }, '← All queues'),
      ),
      element('h1', {}, `Delays in ${pipeline}`),
      this.#periods(),
      this.#body,
    );
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

  #periods(): HTMLElement {
    const known = PERIODS.includes(this.#since) ? PERIODS : [...PERIODS, this.#since];
    return element(
      'ul',
      { class: 'periods', 'aria-label': 'Period' },
      known.map(period =>
        element(
          'li',
          {},
          element(
            'a',
            {
              'data-route': true,
              href: `${pages.pipeline(this.#tenant, this.#pipeline)}?since=${encodeURIComponent(period)}`,
              'aria-current': period === this.#since ? 'true' : null,
            },
            period,
          ),
        ),
      ),
    );
  }

  async #load(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const path = `pipeline/${encodeURIComponent(this.#pipeline)}/delays?since=${encodeURIComponent(this.#since)}`;
    try {
      const delays = await fetchJson<DelaysAnswer>(api(this.#tenant, path));
      if (this.#closed) return;
      if (delays === undefined) return show(this.#body, this.#empty('There is no such pipeline.'));
      show(
        this.#body,
        delays.items === 0 ? this.#empty('No item was there in that time.') : sections(delays),
      );
    } catch (error) {
      if (this.#closed) return;
      show(this.#body, this.#empty(`Could not be loaded (${errorTextOf(error)}); trying again …`));
      this.#timer ??= window.setTimeout(() => void this.#load(), REFRESH_MS);
    }
  }

  #empty(text: string): HTMLElement {
    return element('div', { class: 'empty' }, element('p', {}, text));
  }
}

function sections(delays: DelaysAnswer): readonly Child[] {
  return [
    delays.truncated &&
      element(
        'p',
        { class: 'note is-retry' },
        `There were too many items to count: these are all that left since ${dateAndClock(millisecondsOf(delays.covered))}.`,
      ),
    tiles(delays),
    loadChart(delays),
    statePanel(delays),
    delays.resets.count > 0 && culpritPanel(delays),
    slowPanel(delays),
  ];
}

function tiles({ left, queued, results, succeededPerHour, took, resets, queues }: DelaysAnswer): HTMLElement {
  const failed = results
    .filter(({ result }) => resultKind(result) === 'bad')
    .reduce((sum, { items }) => sum + items, 0);
  const passed = results.find(({ result }) => result === 'SUCCESS')?.items ?? 0;
  const windows = queues.filter(({ window }) => window > 0).map(({ window }) => window);
  return element(
    'dl',
    { class: 'tiles' },
    tile('succeeded', passed, `${succeededPerHour} an hour`),
    tile('failed', failed, `of ${left} that left`),
    tile('there now', queued, windows.length === 0 ? null : `window ${windows.join(', ')}`),
    took !== null && tile('half took less than', time(took.p50), `95 %: ${time(took.p95)}`),
    tile('tested again', resets.count, `${count(resets.items, 'item')}`),
    tile('machine time lost', time(resets.lostBuildTime), `${percent(resets.lostShare)} of all`),
  );
}

function tile(word: string, value: string | number, more: string | null): HTMLElement {
  return element(
    'div',
    {},
    element('dt', {}, word),
    element('dd', {}, element('b', {}, value), more !== null && element('small', {}, more)),
  );
}

function statePanel({ states, time: total, items }: DelaysAnswer): HTMLElement {
  const most = Math.max(...states.map(({ share }) => share));
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'states-title' },
    element(
      'h2',
      { id: 'states-title' },
      'Where the time went',
      element('span', { class: 'total' }, `${time(total)} in ${count(items, 'life', 'lives')}`),
    ),
    element(
      'div',
      { class: 'scroll' },
      element(
        'table',
        { class: 'numbers' },
        head(
          ['', '', 'share', 'per item', 'p50', 'p95', 'items'],
          [
            '',
            '',
            'of all time',
            'spread over all items: these add up to the mean life',
            'half of the items that were in it took less',
            'one in twenty of the items that were in it took more',
            'items that were in it at all',
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
              element('td', {}, element('b', {}, time(state.perItem))),
              element('td', {}, time(state.p50)),
              element('td', {}, time(state.p95)),
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
      words.map((word, index) => element('th', { scope: 'col', title: titles[index] || null }, word)),
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
          element('b', {}, time(slow.duration)),
          element(
            'span',
            { class: 'mark', title: slow.result === null ? 'there now' : resultWord(slow.result) },
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
            slow.mostly !== null && `${rowOfState(slow.mostly.state).word} ${time(slow.mostly.duration)}`,
            slow.resets > 0 && element('span', { class: 'again' }, ` · ↻ ${count(slow.resets, 'reset')}`),
          ),
          element('span', { class: 'viewer' }, externalLink(slow.traceUrl, 'trace')),
        );
      }),
    ),
  );
}

function time(nanoseconds: string): string {
  return duration(millisecondsOf(nanoseconds));
}
