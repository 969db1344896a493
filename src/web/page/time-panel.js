/** Where the time of an item went: one bar, the states added up, and what its resets cost. */
import { isOwnGap, rowOfState } from '../../model/item-states.ts';
import { element } from './dom.js';
import { clock, count, duration, milliseconds } from './format.js';
import { timeBar } from './time-bar.js';

/**
 * @param end when the item left, or now.
 * @param explanation the service's, if it is there already: it also tells what the scheduler let pass.
 */
export function timePanel(item, end, explanation) {
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
    (explanation?.takeovers ?? []).length > 0 && takeoverList(explanation.takeovers),
  ];
}

/** As explained, and as the item tells for what came since. */
function stretchesOf(item, end, explanation) {
  const told = (explanation?.stretches ?? []).map(({ state, subject, from, to }) => ({
    name: state,
    subject: isOwnGap(state) ? rowOfState(subject).word : (subject ?? null),
    since: milliseconds(from),
    until: milliseconds(to),
  }));
  const known = told.at(-1)?.until ?? item.enqueuedAt;
  const later = item.timeline
    .map((entry, index) => ({
      ...entry,
      since: Math.max(entry.since, known),
      until: item.timeline[index + 1]?.since ?? end,
    }))
    .filter(({ since, until }) => since < until);
  return [...told, ...later];
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
    rows.map(([name, sum]) => stateRow(name, sum, total)),
  );
}

function stateRow(name, { time, subjects }, total) {
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
    element('span', { class: 'percent' }, `${Math.round((time / Math.max(1, total)) * 100)} %`),
  );
}

function resetList(resets) {
  const lost = resets.reduce((sum, reset) => sum + reset.lostMs, 0);
  const times = resets.length === 1 ? 'once' : count(resets.length, 'time');
  return [
    element('h3', {}, `Tested again ${times}${lost > 0 ? `, ${duration(lost)} of machine time lost` : ''}`),
    element('ol', { class: 'resets' }, resets.map(resetRow)),
  ];
}

function resetRow(reset) {
  return element(
    'li',
    {},
    element('time', {}, clock(reset.at)),
    element('span', {}, reset.text),
    reset.lostMs > 0 && element('b', {}, `${duration(reset.lostMs)} lost`),
  );
}

function takeoverList(takeovers) {
  return [
    element('h3', {}, 'Its pipeline was taken over'),
    element('ol', { class: 'resets' }, takeovers.map(takeoverRow)),
  ];
}

function takeoverRow({ from, to, how, since, duration: took }) {
  const was = how === 'lost' ? 'was gone' : 'gave it up';
  return element(
    'li',
    {},
    element('time', {}, clock(milliseconds(since))),
    element('span', {}, `${from} ${was}, ${to} went on`),
    element('b', {}, `${duration(milliseconds(took))} without a scheduler`),
  );
}
