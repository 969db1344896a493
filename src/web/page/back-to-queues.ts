import { pages } from './address.ts';
import { element } from './dom.ts';

/** The first line of every view but the board: the way back to it. */
export function backToQueues(tenant: string): HTMLElement {
  return element(
    'nav',
    { class: 'crumbs', 'aria-label': 'Breadcrumb' },
    element('a', { 'data-route': true, href: pages.tenant(tenant) }, '← All queues'),
  );
}
