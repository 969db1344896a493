/** The whole gate over time: a row for each item, arrows from the culprits of resets to those that they reset, and ghosts. */
import type { DelaysAnswer } from '../../api/delays.ts';
import { rowOfState } from '../../model/item-states.ts';
import { pages } from './address.ts';
import { type Child, element, externalLink } from './dom.ts';
import {
  count,
  dateAndClock,
  duration,
  hourAndMinute,
  millisecondsOf,
  resultKind,
  resultMark,
  resultWord,
} from './format.ts';
import { ticksFor } from './ticks.ts';

type Picture = DelaysAnswer['picture'];
type Row = Picture['rows'][number];

/** The time that is drawn, in milliseconds since the epoch. */
interface Scale {
  readonly from: number;
  readonly to: number;
}

/** Of a page: what the API sends by default. */
const ROWS = 40;

/** Rem; as in night.css. */
const ROW_HEIGHT = 1.5;

/** @param addressOf the same page with other rows; gets how many of the newest are skipped. */
export function wholeGate(
  { tenant, picture }: Pick<DelaysAnswer, 'tenant' | 'picture'>,
  addressOf: (skip: number) => string,
): HTMLElement | false {
  const { rows } = picture;
  if (rows.length === 0) return false;
  const scale = scaleOf(rows);
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'gate-title' },
    element(
      'h2',
      { id: 'gate-title' },
      'The whole gate',
      element('span', { class: 'total' }, placeText(picture)),
    ),
    legend(rows),
    element('div', { class: 'gate-axis', 'aria-hidden': 'true' }, axis(scale)),
    element(
      'div',
      { class: 'gate' },
      element(
        'ol',
        { 'aria-label': 'Items over time' },
        rows.map(row => rowLine(tenant, row, scale)),
      ),
      element('div', { class: 'gate-arrows', 'aria-hidden': 'true' }, arrows(rows, scale)),
    ),
    turning(picture, addressOf),
  );
}

function scaleOf(rows: readonly Row[]): Scale {
  const from = Math.min(...rows.map(({ enqueuedAt }) => millisecondsOf(enqueuedAt)));
  const to = Math.max(...rows.map(({ until }) => millisecondsOf(until)));
  return { from, to: Math.max(to, from + 1) };
}

function placeText({ items, skip, rows }: Picture): string {
  const last = items - skip;
  return rows.length === items
    ? count(items, 'item')
    : `${last - rows.length + 1} to ${last} of ${items} items`;
}

function share(time: number, { from, to }: Scale): number {
  return (time - from) / (to - from);
}

function percentOf(part: number): string {
  return `${Math.round(part * 10_000) / 100}%`;
}

/** At round times of the reader's day. */
function axis(scale: Scale): Child {
  const length = scale.to - scale.from;
  const [step = length] = ticksFor(length, 8);
  const zone = new Date(scale.from).getTimezoneOffset() * 60_000;
  const first = Math.ceil((scale.from - zone) / step) * step + zone;
  const times = Array.from({ length: 9 }, (_, index) => first + index * step);
  return times
    .filter(time => share(time, scale) < 0.97)
    .map(time => {
      const mark = element('span', {}, hourAndMinute(time));
      mark.style.left = percentOf(share(time, scale));
      return mark;
    });
}

const LEGEND: readonly (readonly [name: string, word: string])[] = [
  ['wait', 'waiting'],
  ['prepare', 'merging, choosing jobs'],
  ['run', 'running'],
  ['ahead', 'tested, awaiting others'],
];

function legend(rows: readonly Row[]): HTMLElement {
  const hasResets = rows.some(({ resets }) => resets.length > 0);
  const hasGhosts = rows.some(({ ghost }) => ghost !== null);
  return element(
    'ul',
    { class: 'legend' },
    LEGEND.map(([name, word]) =>
      element('li', {}, element('i', { class: `gate-part is-${name}`, 'aria-hidden': 'true' }), word),
    ),
    hasResets &&
      element(
        'li',
        {},
        element('span', { class: 'gate-head', 'aria-hidden': 'true' }, '▼'),
        'reset by the item where the line begins',
      ),
    hasGhosts &&
      element(
        'li',
        {},
        element('span', { class: 'gate-ghost-mark', 'aria-hidden': 'true' }, '◇'),
        'would have landed, without its worst culprit',
      ),
  );
}

function rowLine(tenant: string, row: Row, scale: Scale): HTMLElement {
  const kind = resultKind(row.result);
  const track = element('span', { class: 'gate-track', role: 'img', 'aria-label': storyOf(row) });
  track.append(...parts(row, scale));
  const mark = element('span', { class: `gate-end is-${kind}` }, resultMark(kind));
  mark.style.left = percentOf(share(millisecondsOf(row.until), scale));
  track.append(mark);
  if (row.ghost !== null) track.append(...ghost(row, row.ghost, scale));
  return element(
    'li',
    {},
    element(
      'span',
      { class: 'gate-name' },
      element(
        'a',
        { 'data-route': true, href: pages.item(tenant, row.item), title: row.change },
        nameOf(row.change),
      ),
      externalLink(row.traceUrl, element('span', { class: 'visually-hidden' }, `trace of ${row.change}`)),
    ),
    track,
  );
}

/** Of little room, project and branch go first. */
function nameOf(change: string): Child {
  const [, where = '', name = change] = /^(.*[ /])([^ /]+)$/.exec(change) ?? [];
  return [element('span', { class: 'gate-place' }, where), name];
}

function parts({ states, until }: Row, scale: Scale): readonly HTMLElement[] {
  return states.map(({ state, from }, index) => {
    const begin = millisecondsOf(from);
    const end = millisecondsOf(states[index + 1]?.from ?? until);
    const { role, word } = rowOfState(state);
    const part = element('i', {
      class: `gate-part is-${role}`,
      title: `${word} ${duration(end - begin)} from ${dateAndClock(begin)}`,
    });
    part.style.left = percentOf(share(begin, scale));
    part.style.width = percentOf((end - begin) / (scale.to - scale.from));
    return part;
  });
}

function ghost(
  { until }: Row,
  { at, change }: NonNullable<Row['ghost']>,
  scale: Scale,
): readonly HTMLElement[] {
  const [begin, end] = [millisecondsOf(at), millisecondsOf(until)];
  const mark = element(
    'span',
    {
      class: 'gate-ghost-mark',
      title: `would have landed at ${dateAndClock(begin)}, ${duration(end - begin)} earlier, without ${change}`,
    },
    '◇',
  );
  mark.style.left = percentOf(share(begin, scale));
  const line = element('i', { class: 'gate-ghost' });
  line.style.left = percentOf(share(begin, scale));
  line.style.width = percentOf((end - begin) / (scale.to - scale.from));
  return [line, mark];
}

/** The same in words. */
function storyOf({ enqueuedAt, until, result, resets, ghost: without }: Row): string {
  const [begin, end] = [millisecondsOf(enqueuedAt), millisecondsOf(until)];
  const words = [
    `entered ${dateAndClock(begin)}`,
    resets.length > 0 && `tested again ${count(resets.length, 'time')}`,
    result === null
      ? `in the queue for ${duration(end - begin)}`
      : `${resultWord(result)} after ${duration(end - begin)}`,
    without !== null &&
      `without ${without.change} it would have landed ${duration(end - millisecondsOf(without.at))} earlier`,
  ];
  return words.filter(word => word !== false).join(', ');
}

/** From the row of a culprit, or the edge of the picture, to the last of those that it reset at once; and a head at each of them. */
function arrows(rows: readonly Row[], scale: Scale): Child {
  const places = new Map(rows.map(({ item }, index) => [item, index]));
  const resets = rows.flatMap((row, place) => row.resets.map(reset => ({ ...reset, place })));
  return [...Map.groupBy(resets, ({ at, culprit }) => `${at} ${culprit}`).values()].map(group => {
    const [{ at, culprit } = { at: '0', culprit: null }] = group;
    const left = percentOf(share(millisecondsOf(at), scale));
    const heads = group.map(({ place }) => {
      const head = element('span', { class: 'gate-head' }, '▼');
      head.style.left = left;
      head.style.top = `${place * ROW_HEIGHT}rem`;
      return head;
    });
    if (culprit === null) return heads;
    const from = places.get(culprit) ?? -0.5;
    const all = [from, ...group.map(({ place }) => place)];
    const top = Math.min(...all);
    const line = element('i', { class: `gate-arrow${places.has(culprit) ? '' : ' is-from-outside'}` });
    line.style.left = left;
    line.style.top = `${(top + 0.5) * ROW_HEIGHT}rem`;
    line.style.height = `${(Math.max(...all) - top) * ROW_HEIGHT}rem`;
    return [line, heads];
  });
}

function turning({ items, skip, rows }: Picture, addressOf: (skip: number) => string): Child {
  const older = skip + rows.length;
  if (skip === 0 && older >= items) return null;
  const link = (text: string, to: number) => element('a', { 'data-route': true, href: addressOf(to) }, text);
  return element(
    'nav',
    { class: 'older', 'aria-label': 'More items' },
    older < items && link('← Earlier', older),
    skip > 0 && link('Later →', Math.max(0, skip - ROWS)),
  );
}
