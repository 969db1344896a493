/** Load of a pipeline over time: a column per interval, its items stacked by state. */
import type { DelaysAnswer } from '../../api/delays.ts';
import { ITEM_STATES, STRETCH_STATES, type StateRole } from '../../model/item-states.ts';
import { element } from './dom.ts';
import { count, dateAndClock, hourAndMinute, millisecondsOf } from './format.ts';

/** Stacked from the bottom up; each layer is the sum of the states with one role. */
const WORDS: { readonly [role in StateRole]: string } = {
  report: 'reporting',
  ahead: 'tested, awaiting others',
  run: 'running',
  prepare: 'merging, choosing jobs',
  wait: 'waiting',
  trouble: 'blocked',
  idle: 'outside window',
};
const LAYERS = Object.entries(WORDS).map(([role, word]) => ({
  role,
  word,
  states: STRETCH_STATES.filter(state => ITEM_STATES[state].role === role),
}));
const DAY_MS = 86_400_000;

/** Scaled to the busiest interval. Times of the answer are texts of nanoseconds. */
export function loadChart({ load, covered, until }: DelaysAnswer): HTMLElement {
  const columns = load.map(
    (point): Column => ({
      ...point,
      at: millisecondsOf(point.at),
      layers: LAYERS.map(({ states }) => states.reduce((sum, state) => sum + (point.states[state] ?? 0), 0)),
    }),
  );
  const all = columns.map(({ layers }) => layers.reduce((sum, items) => sum + items, 0));
  const most = Math.max(1, ...all);
  const used = LAYERS.filter((_layer, index) => columns.some(({ layers }) => (layers[index] ?? 0) > 0));
  const span = millisecondsOf(until) - millisecondsOf(covered);
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'load-title' },
    element('h2', { id: 'load-title' }, 'Items over time'),
    element(
      'ul',
      { class: 'legend' },
      used.map(({ role, word }) =>
        element('li', {}, element('i', { class: `load-part ${role}`, 'aria-hidden': 'true' }), word),
      ),
      columns.some(({ resets }) => resets > 0) &&
        element('li', {}, element('i', { class: 'load-reset', 'aria-hidden': 'true' }), 'resets'),
      columns.some(({ window }) => window !== null && window <= most) &&
        element('li', {}, element('i', { class: 'load-window', 'aria-hidden': 'true' }), 'window'),
    ),
    element(
      'div',
      { class: 'load', role: 'img', 'aria-label': `at most ${round(Math.max(...all))} items at once` },
      element('span', { class: 'load-most', 'aria-hidden': 'true' }, round(most)),
      columns.map((column, index) => columnOf(column, all[index] ?? 0, most, span)),
    ),
    ...buildsChart(columns, span),
    element(
      'p',
      { class: 'load-axis', 'aria-hidden': 'true' },
      [0, 1 / 3, 2 / 3].map(share => element('span', {}, when(millisecondsOf(covered) + share * span, span))),
      element('span', {}, 'now'),
    ),
  );
}

interface Column {
  /** Milliseconds. */
  readonly at: number;
  /** Items, in the order of {@link LAYERS}. */
  readonly layers: readonly number[];
  readonly left: number;
  readonly succeeded: number;
  readonly resets: number;
  readonly builds: number;
  /** Items; null: not known, for none waited outside. */
  readonly window: number | null;
}

/** What executors did meanwhile, to a scale of its own. */
function buildsChart(columns: readonly Column[], span: number): readonly HTMLElement[] {
  const most = Math.max(...columns.map(({ builds }) => builds));
  if (!(most > 0)) return [];
  const bars = columns.map(({ at, builds }) => {
    const column = element('span', {
      class: 'load-column',
      title: `${when(at, span)}\n${round(builds)} builds at a time`,
    });
    const part = element('i', { class: 'load-part run' });
    part.style.height = `${(builds / most) * 100}%`;
    column.append(part);
    return column;
  });
  const text = `builds that executors had, at most ${round(most)} at a time`;
  return [
    element(
      'div',
      { class: 'load load-builds', role: 'img', 'aria-label': text },
      element('span', { class: 'load-most', 'aria-hidden': 'true' }, `${round(most)} builds`),
      bars,
    ),
  ];
}

function columnOf(
  { at, layers, left, succeeded, resets, window }: Column,
  items: number,
  most: number,
  span: number,
): HTMLElement {
  const words = [
    when(at, span),
    `${round(items)} items on average`,
    left > 0 && `${left} finished, ${succeeded} of them succeeded`,
    resets > 0 && count(resets, 'reset'),
    window !== null && `window ${window}`,
  ];
  const column = element('span', { class: 'load-column', title: words.filter(Boolean).join('\n') });
  for (const [index, height] of layers.entries()) {
    if (height === 0) continue;
    const part = element('i', { class: `load-part ${LAYERS[index]?.role}` });
    part.style.height = `${(height / most) * 100}%`;
    column.append(part);
  }
  if (window !== null && window <= most) {
    const line = element('i', { class: 'load-window' });
    line.style.bottom = `${(window / most) * 100}%`;
    column.append(line);
  }
  if (resets > 0) column.append(element('i', { class: 'load-reset' }));
  return column;
}

function when(at: number, span: number): string {
  return span > DAY_MS ? dateAndClock(at).replace(/:\d\d$/, '') : hourAndMinute(at);
}

function round(items: number): string {
  return items >= 10 ? String(Math.round(items)) : String(Math.round(items * 10) / 10);
}
