/** Where the time of an item went: one bar, the sum per state, and the cost of its resets. */
import type { ExplanationDocument } from '../../api/explanation.ts';
import type { LiveItem } from '../../api/live-item.ts';
import { isOwnGap, rowOfState } from '../../model/item-states.ts';
import { type Child, element } from './dom.ts';
import { clock, count, duration, millisecondsOf, percent } from './format.ts';
import { type ShownStretch, timeBar } from './time-bar.ts';

/**
 * @param end when the item left, or now.
 * @param explanation if already loaded; it also has the gaps in which the item waited for the scheduler.
 */
export function timePanel(
  item: LiveItem,
  end: number,
  explanation: ExplanationDocument | undefined,
): readonly Child[] {
  const stretches = stretchesOf(item, end, explanation);
  const total = end - item.enqueuedAt;
  return [
    element(
      'h2',
      { id: 'time-title' },
      'Where the time went',
      element('span', { class: 'total' }, duration(total)),
    ),
    timeBar(stretches, item.enqueuedAt, end),
    stateTable(stretches, total),
    item.resets.length > 0 && resetList(item.resets),
    explanation !== undefined && explanation.takeovers.length > 0 && takeoverList(explanation.takeovers),
  ];
}

/** Stretches of the explanation, and of the item's own timeline after that. */
function stretchesOf(
  item: LiveItem,
  end: number,
  explanation: ExplanationDocument | undefined,
): readonly ShownStretch[] {
  const explained = (explanation?.stretches ?? []).map(({ state, subject, from, to }) => ({
    name: state,
    subject: subject === undefined ? null : isOwnGap(state) ? rowOfState(subject).word : subject,
    since: millisecondsOf(from),
    until: millisecondsOf(to),
  }));
  const known = explained.at(-1)?.until ?? item.enqueuedAt;
  const later = item.timeline
    .map((entry, index) => ({
      ...entry,
      since: Math.max(entry.since, known),
      until: item.timeline[index + 1]?.since ?? end,
    }))
    .filter(({ since, until }) => since < until);
  return [...explained, ...later];
}

/** Each state with all its stretches added up, longest first. */
function stateTable(stretches: readonly ShownStretch[], total: number): HTMLElement {
  const sums = new Map<string, Sum>();
  for (const { name, since, until, subject } of stretches) {
    const known = sums.get(name) ?? { time: 0, subjects: new Set<string>() };
    known.time += until - since;
    if (subject !== null) known.subjects.add(subject);
    sums.set(name, known);
  }
  const rows = [...sums].sort((a, b) => b[1].time - a[1].time);
  return element(
    'ul',
    { class: 'states' },
    rows.map(([name, sum]) => stateRow(name, sum, total)),
  );
}

interface Sum {
  time: number;
  readonly subjects: Set<string>;
}

function stateRow(name: string, { time, subjects }: Sum, total: number): HTMLElement {
  return element(
    'li',
    { class: `is-${rowOfState(name).role}` },
    element('i', { class: 'swatch', 'aria-hidden': 'true' }),
    element(
      'span',
      { class: 'word' },
      rowOfState(name).word,
      subjects.size > 0 && element('small', {}, ` ${[...subjects].join(', ')}`),
    ),
    element('b', {}, duration(time)),
    element('span', { class: 'percent' }, percent(time / Math.max(1, total))),
  );
}

function resetList(resets: LiveItem['resets']): readonly Child[] {
  const lost = resets.reduce((sum, reset) => sum + reset.lostMs, 0);
  const times = resets.length === 1 ? 'once' : count(resets.length, 'time');
  return [
    element('h3', {}, `Tested again ${times}${lost > 0 ? `, ${duration(lost)} of build time lost` : ''}`),
    element('ol', { class: 'resets' }, resets.map(resetRow)),
  ];
}

function resetRow(reset: LiveItem['resets'][number]): HTMLElement {
  return element(
    'li',
    {},
    element('time', {}, clock(reset.at)),
    element('span', {}, reset.text),
    reset.lostMs > 0 && element('b', {}, `${duration(reset.lostMs)} lost`),
  );
}

type Takeovers = ExplanationDocument['takeovers'];

function takeoverList(takeovers: Takeovers): readonly Child[] {
  return [
    element('h3', {}, 'Takeovers of its pipeline'),
    element('ol', { class: 'resets' }, takeovers.map(takeoverRow)),
  ];
}

function takeoverRow({ from, to, how, since, duration: took }: Takeovers[number]): HTMLElement {
  const was = how === 'lost' ? 'was lost' : 'released it';
  return element(
    'li',
    {},
    element('time', {}, clock(millisecondsOf(since))),
    element('span', {}, `${from} ${was}, ${to} took over`),
    element('b', {}, `${duration(millisecondsOf(took))} without a scheduler`),
  );
}
