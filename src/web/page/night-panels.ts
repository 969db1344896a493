/** Who stole most time, and what executors and hosts did: parts of the page of a pipeline. */
import type { DelaysAnswer } from '../../api/delays.ts';
import { pages } from './address.ts';
import { type Child, element } from './dom.ts';
import { count, dateAndClock, durationOf, hourAndMinute, millisecondsOf } from './format.ts';
import { table } from './table.ts';

const SHOWN = 10;

/** The one that stole most first. */
export function worstPanel({ tenant, resets }: DelaysAnswer): HTMLElement | false {
  const stealing = resets.worst.filter(({ delayed, resets: often }) => delayed > 0 || often > 0);
  if (stealing.length === 0) return false;
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'worst-title' },
    element(
      'h2',
      { id: 'worst-title' },
      'Worst culprits',
      element('span', { class: 'total' }, 'how much earlier others would have landed without each'),
    ),
    table(
      'Worst culprits',
      ['Culprit', 'First reset', 'Stolen#', 'Delayed#', 'Resets#', 'Build time lost#'],
      stealing
        .slice(0, SHOWN)
        .map(({ item, change, job, build, at, resets: often, lostBuildTime, delayed, stolen }) => [
          [
            job !== null &&
              (build === null
                ? `${job} of `
                : [element('a', { 'data-route': true, href: pages.build(tenant, build) }, job), ' of ']),
            element('a', { 'data-route': true, href: pages.item(tenant, item) }, change),
          ],
          element(
            'time',
            { datetime: new Date(millisecondsOf(at)).toISOString(), title: dateAndClock(millisecondsOf(at)) },
            hourAndMinute(millisecondsOf(at)),
          ),
          delayed === 0 ? '–' : element('b', {}, durationOf(stolen)),
          delayed === 0 ? '–' : count(delayed, 'item'),
          often,
          durationOf(lostBuildTime),
        ]),
    ),
    stealing.length > SHOWN && element('p', { class: 'quiet' }, `and ${stealing.length - SHOWN} more`),
  );
}

/** Of this pipeline's builds alone. */
export function usePanel({ tenant, pipeline, use }: DelaysAnswer): HTMLElement | false {
  if (use.executors.length === 0) return false;
  return element(
    'section',
    { class: 'panel', 'aria-labelledby': 'use-title' },
    element(
      'h2',
      { id: 'use-title' },
      'Executors and hosts',
      element('span', { class: 'total' }, 'builds of this pipeline'),
    ),
    element(
      'div',
      { class: 'use' },
      useTable('Executor', use.executors, name => buildsOf(tenant, pipeline, name)),
      useTable('Host', use.hosts, name => name),
    ),
  );
}

/** The last builds of this pipeline that it had. */
function buildsOf(tenant: string, pipeline: string, worker: string): HTMLElement {
  const query = new URLSearchParams({ worker, pipeline });
  return element('a', { 'data-route': true, href: `${pages.list(tenant, 'builds')}?${query}` }, worker);
}

function useTable(
  kind: string,
  used: DelaysAnswer['use']['hosts'],
  shown: (name: string) => Child,
): HTMLElement | null {
  if (used.length === 0) return null;
  return table(
    `${kind}s`,
    [kind, 'Builds#', 'Busy#', 'At a time#'],
    used.map(({ name, builds, busy, mean }) => [shown(name), builds, durationOf(busy), mean]),
  );
}
