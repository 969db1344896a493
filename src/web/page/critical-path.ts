/** The critical path: each link of the chain with its place in the item's life. */
import type { ExplanationDocument } from '../../api/explanation.ts';
import { rowOfState } from '../../model/item-states.ts';
import { pages } from './address.ts';
import { type Child, element } from './dom.ts';
import { duration, millisecondsOf } from './format.ts';

/** Links shorter than this share of the whole are summed up. */
const SHORT_SHARE = 0.01;

/** @param end milliseconds: when the item left, or now; the last link of a live item reaches that far. */
export function drawCriticalPath(explanation: ExplanationDocument, end: number): readonly Child[] {
  const start = millisecondsOf(explanation.enqueuedAt);
  const links = explanation.criticalPath.map(
    (link): Link => ({
      ...link,
      from: millisecondsOf(link.from),
      to: millisecondsOf(link.to),
    }),
  );
  const last = links.at(-1);
  if (last !== undefined && explanation.ended === null) last.to = Math.max(last.to, end);
  const short = (end - start) * SHORT_SHARE;
  const shown = links.filter(link => link.to - link.from >= short);
  const rest = links
    .filter(link => link.to - link.from < short)
    .reduce((sum, link) => sum + link.to - link.from, 0);
  return [
    element('h2', { id: 'path-title' }, 'Critical path'),
    element(
      'ol',
      { class: 'path' },
      shown.map(link => row(explanation.tenant, link, start, end)),
    ),
    rest >= 1 && element('p', { class: 'quiet' }, `plus ${duration(rest)} in short steps`),
    waitedFor(explanation),
  ];
}

/** The items it waited for, each with its states meanwhile. */
function waitedFor({ tenant, waitedFor: waits }: ExplanationDocument): Child {
  if (waits.length === 0) return null;
  return [
    element('h3', {}, 'Items it waited for'),
    element(
      'ol',
      { class: 'path waited' },
      waits.map(({ item, change, duration: time, meanwhile }) =>
        element(
          'li',
          {},
          element('b', {}, duration(millisecondsOf(time))),
          element('a', { class: 'what', 'data-route': true, href: pages.item(tenant, item) }, change),
          element(
            'span',
            { class: 'meanwhile' },
            meanwhile.length > 0 && 'meanwhile: ',
            meanwhile
              .map(state => `${rowOfState(state.state).word} ${duration(millisecondsOf(state.duration))}`)
              .join(', '),
          ),
        ),
      ),
    ),
  ];
}

type Link = Omit<ExplanationDocument['criticalPath'][number], 'from' | 'to'> & {
  readonly from: number;
  to: number;
};

function row(tenant: string, link: Link, start: number, end: number): HTMLElement {
  const bar = element('span', { class: `path-bar is-${link.repeated ? 'repeated' : link.kind}` });
  const total = Math.max(1, end - start);
  bar.style.left = `${((link.from - start) / total) * 100}%`;
  bar.style.width = `max(2px, ${((link.to - link.from) / total) * 100}%)`;
  const text =
    link.build === undefined
      ? link.text
      : element('a', { 'data-route': true, href: pages.build(tenant, link.build) }, link.text);
  return element(
    'li',
    {},
    element('b', {}, duration(link.to - link.from)),
    element(
      'span',
      { class: 'what' },
      text,
      link.repeated && element('span', { class: 'again' }, ' discarded by a reset'),
    ),
    element('span', { class: 'lane', 'aria-hidden': 'true' }, bar),
  );
}
