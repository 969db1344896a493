/** The semaphores of a tenant: how many builds may hold each, who holds it, and who waits. */
import type { SemaphoresDocument } from '../../api/semaphores.ts';
import { api, fetchJson, pages } from './address.ts';
import { element } from './dom.ts';
import { FetchedView } from './fetched-view.ts';
import { clock, count } from './format.ts';
import { ListSearch } from './list-search.ts';
import type { View } from './messages.ts';

/** Fetched again with each change of the tenant's documents: items of any pipeline may hold one. */
export function semaphoresView(root: Element, tenant: string): View {
  const search = new ListSearch('semaphores');
  return new FetchedView<SemaphoresDocument>(root, {
    title: 'Semaphores',
    load: () => fetchJson<SemaphoresDocument>(api(tenant, 'semaphores')),
    draw: semaphores => [
      element('h1', {}, semaphores.length === 0 ? 'No semaphores' : count(semaphores.length, 'semaphore')),
      semaphores.length > 0 && [
        search.root,
        search.over(
          element(
            'ol',
            { class: 'panel errors' },
            semaphores.map(semaphore => semaphoreRow(tenant, semaphore)),
          ),
          'li',
        ),
      ],
    ],
    concerns: () => true,
  });
}

function semaphoreRow(tenant: string, semaphore: SemaphoresDocument[number]): HTMLElement {
  const { name, global, max, holders, gatehouse } = semaphore;
  const kind = global ? 'global' : gatehouse.defined ? '' : 'not defined';
  const others = holders.other_tenants;
  return element(
    'li',
    {},
    element('code', {}, name),
    element(
      'span',
      {},
      kind !== '' && [element('span', { class: 'chip' }, kind), ' '],
      `${holders.count} of ${max} held`,
      others > 0 && `, ${others} by other tenants`,
    ),
    gatehouse.holders.map(holder =>
      place(tenant, holder.playbook === null ? 'held by' : `held by ${holder.playbook} of`, holder),
    ),
    gatehouse.waiting.map(waiting => place(tenant, 'awaited by', waiting)),
  );
}

function place(
  tenant: string,
  how: string,
  { item, job, change, pipeline, since }: SemaphoresDocument[number]['gatehouse']['waiting'][number],
): HTMLElement {
  const link = element('a', { 'data-route': true, href: pages.item(tenant, item) }, change);
  return element('span', {}, `${how} ${job} of `, link, ` in ${pipeline} since ${clock(since)}`);
}
