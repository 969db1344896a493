/** The row of links below the first line of each page. */

import type { Place } from '../../model/page-place.ts';
import { pages } from './address.ts';
import { element } from './dom.ts';

interface Entry {
  /** Last part of the address. */
  readonly path: string;
  readonly text: string;
  /** Pages that count as this one. */
  readonly pages: readonly Place['page'][];
}

const ENTRIES: readonly Entry[] = [
  { path: 'status', text: 'Status', pages: ['board', 'none', 'item', 'buildset'] },
  { path: 'queues', text: 'Queues', pages: ['queues'] },
  { path: 'builds', text: 'Builds', pages: ['builds', 'build'] },
  { path: 'buildsets', text: 'Buildsets', pages: ['buildsets'] },
  { path: 'jobs', text: 'Jobs', pages: ['jobs', 'job'] },
  { path: 'projects', text: 'Projects', pages: ['projects', 'project'] },
  { path: 'nodes', text: 'Nodes', pages: ['nodes'] },
  { path: 'labels', text: 'Labels', pages: ['labels'] },
  { path: 'autoholds', text: 'Autoholds', pages: ['autoholds'] },
  { path: 'semaphores', text: 'Semaphores', pages: ['semaphores'] },
  { path: 'delays', text: 'Delays', pages: ['delays', 'night', 'pipeline'] },
  { path: 'components', text: 'Components', pages: ['components'] },
  { path: 'trace-health', text: 'Trace health', pages: ['trace-health'] },
  { path: 'config-errors', text: 'Config errors', pages: ['errors'] },
];

/** @param configErrors how many there are. */
export function navigation(tenant: string, shown: Place['page'], configErrors: number): HTMLElement {
  const entry = ({ path, text, pages: own }: Entry) =>
    element(
      'li',
      {},
      element(
        'a',
        {
          id: `to-${path}`,
          'data-route': true,
          href: path === 'status' ? pages.tenant(tenant) : pages.list(tenant, path),
          'aria-current': own.includes(shown) ? 'page' : null,
        },
        text,
        path === 'config-errors' &&
          configErrors > 0 && [' ', element('span', { class: 'badge' }, configErrors)],
      ),
    );
  return element('nav', { class: 'pages', 'aria-label': 'Pages' }, element('ul', {}, ENTRIES.map(entry)));
}
