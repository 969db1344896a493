/** One item, live or finished: where its time went, its trace as a waterfall, its builds, the decisions about it. */
import { api, fetchJson, pages } from './address.js';
import { element, externalLink, show } from './dom.js';
import {
  clock,
  count,
  dateAndClock,
  duration,
  resultKind,
  resultMark,
  resultWord,
  stateKind,
  stateWord,
} from './format.js';
import { itemCard } from './item-card.js';
import { tick } from './ticking.js';
import { timeBar } from './time-bar.js';
import { Waterfall } from './waterfall.js';

export class ItemView {
  #root;
  #tenant;
  #uuid;
  #live;
  #item;
  #head = element('div', { class: 'item-head' });
  #time = element('section', { class: 'panel', 'aria-labelledby': 'time-title' });
  #decisions = element('section', { class: 'panel', 'aria-labelledby': 'decisions-title' });
  #waterfall;
  #loading;

  constructor(root, tenant, uuid, live) {
    this.#root = root;
    this.#tenant = tenant;
    this.#uuid = uuid;
    this.#live = live;
    this.#waterfall = new Waterfall(tenant, () => live.now());
    this.#item = live.item(uuid);
    if (this.#item !== undefined) this.#drawWhole();
    void this.#load();
  }

  update(changed) {
    const name = `item/${this.#uuid}`;
    if (changed !== null && !changed.has(name)) return;
    const item = this.#live.get(name);
    if (item !== undefined) this.#take(item);
    // Gone from its queue: the last state of it is in the history in a moment.
    clearTimeout(this.#loading);
    this.#loading = setTimeout(() => void this.#load(), item === undefined ? 1000 : 300);
  }

  tick() {
    const now = this.#live.now();
    tick(this.#root, now);
    if (this.#item === undefined || this.#item.left !== null) return;
    this.#drawTime();
    this.#waterfall.grow();
  }

  close() {
    clearTimeout(this.#loading);
  }

  async #load() {
    try {
      const item = this.#live.item(this.#uuid) ?? (await fetchJson(api(this.#tenant, `item/${this.#uuid}`)));
      if (item === undefined) return this.#missing();
      this.#take(item);
      const [trace, decisions] = await Promise.all([
        fetchJson(api(this.#tenant, `item/${this.#uuid}/trace`)),
        fetchJson(
          api(
            this.#tenant,
            `changes/${encodeURIComponent(item.changes[0].name)}/decisions?project=${encodeURIComponent(item.changes[0].project)}&limit=50`,
          ),
        ),
      ]);
      if (trace !== undefined) this.#waterfall.draw(trace, item);
      this.#drawDecisions(decisions?.decisions ?? []);
    } catch (error) {
      show(this.#decisions, element('p', { class: 'quiet' }, `Could not be loaded: ${error.message}`));
    }
  }

  #missing() {
    if (this.#item === undefined)
      show(
        this.#root,
        element(
          'div',
          { class: 'empty' },
          element('h2', {}, 'No such item'),
          element('p', {}, 'It is neither in a queue nor in the history.'),
        ),
      );
  }

  #take(item) {
    const first = this.#item === undefined;
    this.#item = item;
    if (first) return this.#drawWhole();
    this.#drawHead();
    this.#drawTime();
  }

  #drawWhole() {
    show(
      this.#root,
      element(
        'nav',
        { class: 'crumbs', 'aria-label': 'Breadcrumb' },
        element('a', { 'data-route': true, href: pages.tenant(this.#tenant) }, '← All queues'),
      ),
      this.#head,
      this.#time,
      this.#waterfall.root,
      this.#decisions,
    );
    this.#drawHead();
    this.#drawTime();
  }

  #drawHead() {
    const item = this.#item;
    const [change] = item.changes;
    const kind = resultKind(item.left?.result);
    show(
      this.#head,
      element('h1', {}, change.subject ?? change.name),
      element(
        'p',
        { class: 'meta' },
        item.left !== null &&
          element(
            'span',
            { class: `chip is-${kind}` },
            `${resultMark(kind)} ${resultWord(item.left.result)}`,
            item.left.reason !== 'reported' && `: ${item.left.text}`,
          ),
        element(
          'span',
          {},
          `${item.pipeline} · `,
          item.changes.map(shown => externalLink(shown.url, shown.text) ?? shown.text),
        ),
        item.dependsOn.length > 0 && element('span', {}, `needs ${item.dependsOn.join(', ')}`),
        externalLink(item.traceUrl, 'open in the trace viewer'),
      ),
      element('ol', { class: 'train is-single' }, itemCard(item)),
    );
    tick(this.#head, this.#live.now());
  }

  #drawTime() {
    const item = this.#item;
    const end = item.left?.at ?? this.#live.now();
    const stretches = item.timeline.map((entry, index) => ({
      ...entry,
      until: item.timeline[index + 1]?.since ?? end,
    }));
    const lost = item.resets.reduce((sum, reset) => sum + reset.lostMs, 0);
    show(
      this.#time,
      element(
        'h2',
        { id: 'time-title' },
        'Where the time went',
        element('span', { class: 'total' }, duration(end - item.enqueuedAt)),
      ),
      timeBar(stretches, item.enqueuedAt, end),
      stateTable(stretches, end - item.enqueuedAt),
      item.resets.length > 0 &&
        element(
          'h3',
          {},
          `Tested again ${item.resets.length === 1 ? 'once' : count(item.resets.length, 'time')}, ${duration(lost)} of machine time lost`,
        ),
      item.resets.length > 0 &&
        element(
          'ol',
          { class: 'resets' },
          item.resets.map(reset =>
            element(
              'li',
              {},
              element('time', {}, clock(reset.at)),
              element('span', {}, reset.text),
              element('b', {}, `${duration(reset.lostMs)} lost`),
            ),
          ),
        ),
    );
  }

  #drawDecisions(decisions) {
    const shown = decisions.filter(decision => decision.item === null || decision.item === this.#uuid);
    show(
      this.#decisions,
      element('h2', { id: 'decisions-title' }, 'Decisions'),
      shown.length === 0
        ? element('p', { class: 'quiet' }, 'None recorded yet.')
        : element(
            'ol',
            { class: 'decisions' },
            shown.map(decision =>
              element(
                'li',
                {},
                element(
                  'time',
                  { title: dateAndClock(milliseconds(decision.at)) },
                  clock(milliseconds(decision.at)),
                ),
                element('code', {}, decision.code),
                element('span', {}, decision.text),
              ),
            ),
          ),
    );
  }
}

/** Decisions carry nanoseconds as text. */
function milliseconds(nanoseconds) {
  return Number(nanoseconds.slice(0, -6));
}

/** Each state with all its stretches added up, longest first. */
function stateTable(stretches, total) {
  const sums = new Map();
  for (const { name, since, until, subject } of stretches) {
    const known = sums.get(name) ?? { time: 0, subjects: new Set() };
    known.time += until - since;
    if (subject !== null) known.subjects.add(subject);
    sums.set(name, known);
  }
  const rows = [...sums].sort((a, b) => b[1].time - a[1].time);
  return element(
    'ul',
    { class: 'states' },
    rows.map(([name, { time, subjects }]) =>
      element(
        'li',
        { class: `is-${stateKind(name)}` },
        element('i', { class: 'swatch', 'aria-hidden': 'true' }),
        element(
          'span',
          { class: 'word' },
          stateWord(name),
          subjects.size > 0 && element('small', {}, ` ${[...subjects].join(', ')}`),
        ),
        element('b', {}, duration(time)),
        element('span', { class: 'percent' }, `${Math.round((time / Math.max(1, total)) * 100)} %`),
      ),
    ),
  );
}
