/** Causes of resets and their cost: by job, by change, by project, by reason. */
import type { DelaysAnswer } from '../../api/delays.ts';
import { pages } from './address.ts';
import { type Child, element } from './dom.ts';
import { count, durationOf, millisecondsOf, percent } from './format.ts';

/** Rows shown of each list. */
const SHOWN = 6;

/** Six rows of each list; the API sends up to twenty. */
export function culpritPanel({ tenant, resets }: DelaysAnswer): HTMLElement {
  const times = resets.count === 1 ? 'once' : count(resets.count, 'time');
  const lost = `${durationOf(resets.lostBuildTime)} of build time lost, ${percent(resets.lostShare)} of all`;
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'culprits-title' },
    element(
      'h2',
      { id: 'culprits-title' },
      `Tested again ${times}`,
      element('span', { class: 'total' }, `${count(resets.items, 'item')}; ${lost}`),
    ),
    element(
      'div',
      { class: 'culprits' },
      list('By job', resets.byJob, row => row.job),
      list('By change', resets.byChange, row => [
        element('a', { 'data-route': true, href: pages.item(tenant, row.item) }, row.change),
        row.job !== null && element('small', {}, ` ${row.job}`),
      ]),
      element(
        'div',
        {},
        list('By project', resets.byProject, row => row.project),
        list('By reason', resets.byCause, row => row.code.replaceAll('-', ' ')),
      ),
    ),
  );
}

interface Blamed {
  readonly resets: number;
  readonly items: number;
  readonly lostBuildTime: string;
}

function list<Row extends Blamed>(
  title: string,
  rows: readonly Row[],
  nameOf: (row: Row) => Child,
): HTMLElement | null {
  if (rows.length === 0) return null;
  const most = Math.max(1, ...rows.map(row => millisecondsOf(row.lostBuildTime)));
  return element(
    'section',
    { 'aria-label': title },
    element('h3', {}, title),
    element(
      'ol',
      {},
      rows.slice(0, SHOWN).map(row => {
        const bar = element('i', { class: 'number-bar is-lost', 'aria-hidden': 'true' });
        bar.style.width = `max(2px, ${(millisecondsOf(row.lostBuildTime) / most) * 100}%)`;
        return element(
          'li',
          {},
          element('span', { class: 'name' }, nameOf(row)),
          element(
            'span',
            { class: 'often', title: `${count(row.items, 'item')} tested again` },
            `${row.resets}×`,
          ),
          element('b', { title: 'build time lost' }, durationOf(row.lostBuildTime)),
          element('span', { class: 'rail' }, bar),
        );
      }),
    ),
    rows.length > SHOWN && element('p', { class: 'quiet' }, `and ${rows.length - SHOWN} more`),
  );
}
