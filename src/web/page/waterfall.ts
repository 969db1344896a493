/**
 * A trace as a waterfall: one row per span, time to the right. Open spans grow with the clock; resets are lines through
 * all rows. Arrow keys move between rows, left and right fold.
 */
import type { LiveItem } from '../../api/live-item.ts';
import { pages } from './address.ts';
import { element, show } from './dom.ts';
import { clock, duration } from './format.ts';
import { ticksFor } from './ticks.ts';
import { type Bar, type OtlpTrace, readTrace, type Trace, type TraceNodeRow } from './trace.ts';

const LEGEND = [
  ['wait', 'waiting'],
  ['prepare', 'merging, choosing jobs'],
  ['run', 'running'],
  ['good', 'passed'],
  ['bad', 'failed'],
  ['retry', 'repeated'],
  ['off', 'cancelled'],
  ['report', 'reporting'],
];
/** Deeper rows begin folded. */
const OPEN_DEPTH = 2;

interface Placed {
  readonly row: TraceNodeRow;
  readonly bar: HTMLElement;
  readonly time: HTMLElement;
  /** Parts of the bar, each for a child. */
  readonly inner: readonly (readonly [HTMLElement, Bar])[];
  readonly line: HTMLElement;
}

/** Keeps folded rows and the focus when it is drawn again, so that a live trace can be read while it grows. */
export class Waterfall {
  readonly root = element('section', { class: 'panel waterfall', 'aria-labelledby': 'trace-title' });
  readonly #tenant: string;
  readonly #now: () => number;
  #trace: Trace = { start: 0, rows: [] };
  #item: LiveItem | undefined;
  readonly #folded = new Map<string, boolean>();
  #placed: readonly Placed[] = [];
  #axis = element('div', { class: 'axis', 'aria-hidden': 'true' });
  #list = element('ol', { class: 'spans', role: 'tree', 'aria-label': 'Spans' });
  #tip = element('div', { class: 'tip', role: 'tooltip', id: 'span-tip', hidden: true });

  constructor(tenant: string, now: () => number) {
    this.#tenant = tenant;
    this.#now = now;
    show(
      this.root,
      element('h2', { id: 'trace-title' }, 'Trace'),
      element(
        'ul',
        { class: 'legend' },
        LEGEND.map(([look, word]) =>
          element('li', {}, element('i', { class: `span-bar ${look}`, 'aria-hidden': 'true' }), word),
        ),
      ),
      element('div', { class: 'chart' }, this.#axis, this.#list),
      this.#tip,
    );
    this.#list.addEventListener('keydown', event => this.#key(event));
    this.#list.addEventListener('pointerleave', () => this.#hideTip());
    this.#list.addEventListener('focusout', () => this.#hideTip());
  }

  draw(otlp: OtlpTrace, item: LiveItem): void {
    this.#trace = readTrace(otlp);
    this.#item = item;
    for (const row of this.#trace.rows)
      if (!this.#folded.has(row.id)) this.#folded.set(row.id, row.depth >= OPEN_DEPTH);
    this.#drawRows();
  }

  /** Places all bars for the current time. */
  grow(): void {
    const end = this.#end();
    for (const { row, bar, time, inner } of this.#placed) {
      place(bar, row, 0, end);
      for (const [part, child] of inner) place(part, child, row.start, row.end ?? end, row.end ?? end);
      const text = duration((row.end ?? end) - row.start);
      if (time.textContent !== text) time.textContent = text;
    }
    this.#drawAxis(end);
  }

  #end(): number {
    const open = this.#trace.rows.some(row => row.end === null);
    const last = this.#trace.rows.reduce((end, row) => Math.max(end, row.end ?? row.start), 1);
    return open ? Math.max(last, this.#now() - this.#trace.start) : last;
  }

  #drawRows(): void {
    const visible = this.#trace.rows.filter(row => row.ancestors.every(id => !this.#folded.get(id)));
    this.#placed = visible.map((row, index) => this.#row(row, index));
    show(
      this.#list,
      this.#placed.map(placed => placed.line),
    );
    this.grow();
  }

  #row(row: TraceNodeRow, index: number): Placed {
    const folded = this.#folded.get(row.id);
    const bar = element('span', { class: `span-bar ${row.look} ${row.end === null ? 'is-open' : ''}` });
    // A folded build shows its wait for an executor as the pale part of its bar.
    const inner = folded
      ? row.children
          .filter(child => child.look === 'wait')
          .map((child): [HTMLElement, Bar] => [element('span', { class: 'span-inner' }), child])
      : [];
    bar.append(...inner.map(([part]) => part));
    const time = element('span', { class: 'time' });
    const build = row.attributes['gatehouse.build.id'];
    const hasLog =
      row.attributes['gatehouse.span.type'] === 'Build' && row.attributes['gatehouse.worker'] !== undefined;
    const name = element('span', { class: 'name' }, this.#nameOf(row));
    name.style.paddingInlineStart = `${row.depth * 0.85}rem`;
    name.prepend(this.#fold(row, folded === true));
    const line = element(
      'li',
      {
        id: `span-${row.id}`,
        class: 'span-row',
        role: 'treeitem',
        tabindex: index === 0 ? 0 : -1,
        'aria-level': row.depth + 1,
        'aria-expanded': row.children.length > 0 ? String(!folded) : null,
        'aria-describedby': 'span-tip',
        'data-span': row.id,
      },
      name,
      element('span', { class: 'lane' }, bar),
      time,
      hasLog && build !== undefined
        ? element(
            'a',
            {
              class: 'log',
              'data-route': true,
              tabindex: -1,
              href: pages.build(this.#tenant, String(build)),
            },
            'log',
          )
        : element('span', { class: 'log' }),
    );
    line.addEventListener('pointermove', event => this.#showTip(row, event.clientX, event.clientY));
    line.addEventListener('focus', () => this.#tipAtRow(row, line));
    return { row, bar, time, inner, line };
  }

  #fold({ children, id }: TraceNodeRow, folded: boolean): HTMLElement {
    if (children.length === 0) return element('span', { class: 'fold is-leaf', 'aria-hidden': 'true' });
    const fold = element('span', { class: `fold ${folded ? '' : 'is-open'}`, 'aria-hidden': 'true' });
    fold.addEventListener('click', event => this.#toggle(event, id));
    return fold;
  }

  #drawAxis(end: number): void {
    const marks = ticksFor(end, Math.max(3, Math.min(8, Math.floor(this.#axis.clientWidth / 95)))).map(
      tick => {
        const mark = element('span', { class: 'tick' }, element('span', {}, duration(tick)));
        mark.style.left = `${(tick / end) * 100}%`;
        return mark;
      },
    );
    const resets = (this.#item?.resets ?? []).map(reset => {
      const mark = element('span', { class: 'reset-mark', title: reset.text }, '↻');
      mark.style.left = `${((reset.at - this.#trace.start) / end) * 100}%`;
      return mark;
    });
    show(this.#axis, element('div', { class: 'axis-lane' }, marks, resets));
  }

  #toggle(event: Event, id: string): void {
    event.stopPropagation();
    this.#folded.set(id, !this.#folded.get(id));
    this.#drawRows();
    document.getElementById(`span-${id}`)?.focus({ preventScroll: true });
  }

  #key(event: KeyboardEvent): void {
    const line = event.target instanceof Element ? event.target.closest<HTMLElement>('.span-row') : null;
    if (line === null) return;
    const lines = this.#placed.map(placed => placed.line);
    const index = lines.indexOf(line);
    const steps = new Map([
      ['ArrowDown', 1],
      ['ArrowUp', -1],
      ['Home', -index],
      ['End', lines.length - 1 - index],
    ]);
    const row = this.#placed[index]?.row;
    const step = steps.get(event.key);
    if (row === undefined) return;
    if (step !== undefined) focusRow(lines, Math.min(lines.length - 1, Math.max(0, index + step)));
    else if (event.key === 'Enter') line.querySelector<HTMLElement>('a.log')?.click();
    else if (event.key === 'Escape') this.#hideTip();
    else if (
      (event.key === 'ArrowRight' && this.#folded.get(row.id)) ||
      (event.key === 'ArrowLeft' && !this.#folded.get(row.id) && row.children.length > 0)
    )
      this.#toggle(event, row.id);
    else return;
    event.preventDefault();
  }

  #tipAtRow(row: TraceNodeRow, line: Element): void {
    if (!line.matches(':focus-visible')) return;
    const box = line.getBoundingClientRect();
    this.#showTip(row, box.left + box.width / 2, box.bottom);
  }

  /** Of an item with several changes, each report is about one. */
  #nameOf({ name, attributes }: TraceNodeRow): string {
    const change = attributes['gatehouse.change'];
    const isOfOne = this.#item !== undefined && this.#item.changes.length > 1 && typeof change === 'string';
    const kind = attributes['gatehouse.span.type'] ?? name.split(' ')[0];
    return isOfOne && (kind === 'HostReport' || kind === 'HostMerge') ? `${name} ${change}` : name;
  }

  #showTip(row: TraceNodeRow, x: number, y: number): void {
    const end = row.end ?? this.#end();
    const facts = Object.entries(row.attributes).filter(([key]) => SHOWN[key] !== undefined);
    show(
      this.#tip,
      element('b', {}, this.#nameOf(row)),
      element(
        'p',
        {},
        `${duration(end - row.start)}${row.end === null ? ' so far' : ''}, from ${clock(this.#trace.start + row.start)}`,
      ),
      facts.length > 0 &&
        element(
          'dl',
          {},
          facts.map(([key, value]) => [element('dt', {}, SHOWN[key]), element('dd', {}, String(value))]),
        ),
    );
    this.#tip.hidden = false;
    const width = this.#tip.offsetWidth;
    this.#tip.style.left = `${Math.max(8, Math.min(x + 14, window.innerWidth - width - 12))}px`;
    const below = y + 18;
    this.#tip.style.top = `${below + this.#tip.offsetHeight > window.innerHeight ? Math.max(8, y - this.#tip.offsetHeight - 14) : below}px`;
  }

  #hideTip(): void {
    this.#tip.hidden = true;
  }
}

/** Attributes shown in the tooltip, with their labels. */
const SHOWN: { readonly [attribute: string]: string } = {
  'gatehouse.result': 'result',
  'gatehouse.cause.text': 'because',
  'gatehouse.superseded.text': 'replaced because',
  'gatehouse.detail': 'reason',
  'gatehouse.wait.subject': 'for',
  'gatehouse.worker': 'on',
  'gatehouse.attempt': 'attempt',
  'gatehouse.voting': 'voting',
  'gatehouse.skipped_because': 'skipped because of',
  'gatehouse.project': 'project',
  'gatehouse.conflict.files': 'conflict in',
  'gatehouse.merge.outcome': 'outcome',
  'gatehouse.executor_queue.outcome': 'outcome',
  'gatehouse.report.outcome': 'outcome',
  'gatehouse.ansible.outcome': 'outcome',
  'gatehouse.leave.text': 'left',
};

function focusRow(lines: readonly HTMLElement[], index: number): void {
  for (const [position, line] of lines.entries()) line.tabIndex = position === index ? 0 : -1;
  lines[index]?.focus();
}

/** Places a bar within `from`…`to`; at least 2 px wide. */
function place(bar: HTMLElement, span: Bar, from: number, to: number, openEnd = to): void {
  const total = Math.max(1, to - from);
  bar.style.left = `${(Math.max(0, span.start - from) / total) * 100}%`;
  bar.style.width = `max(2px, ${(((span.end ?? openEnd) - span.start) / total) * 100}%)`;
}
