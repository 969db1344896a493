/** The semaphores of a tenant: how many builds may hold each, who holds it, and who waits. */
import type { SemaphoresDocument } from '../../api/semaphores.ts';
import { api, fetchJson, pages } from './address.ts';
import { backToQueues } from './back-to-queues.ts';
import { element, show } from './dom.ts';
import { count } from './format.ts';
import type { Changed, View } from './messages.ts';

/** Fetched again with each change of the tenant's documents: items of any pipeline may hold one. */
export class SemaphoresView implements View {
  readonly #tenant: string;
  readonly #list = element('section', { class: 'panel', 'aria-labelledby': 'semaphores-title' });

  constructor(root: Element, tenant: string) {
    this.#tenant = tenant;
    show(this.#list, element('p', { class: 'quiet' }, 'Loading …'));
    show(root, backToQueues(tenant), this.#list);
    void this.#load();
  }

  update(_changed: Changed): void {
    void this.#load();
  }

  tick(): void {}

  close(): void {}

  async #load(): Promise<void> {
    const semaphores = await fetchJson<SemaphoresDocument>(api(this.#tenant, 'semaphores')).catch(
      () => undefined,
    );
    if (semaphores === undefined) return;
    show(
      this.#list,
      element(
        'h2',
        { id: 'semaphores-title' },
        semaphores.length === 0 ? 'No semaphores' : count(semaphores.length, 'semaphore'),
      ),
      element(
        'ol',
        { class: 'errors' },
        semaphores.map(semaphore => semaphoreRow(this.#tenant, semaphore)),
      ),
    );
  }
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
  { item, job, change, pipeline }: SemaphoresDocument[number]['gatehouse']['waiting'][number],
): HTMLElement {
  const link = element('a', { 'data-route': true, href: pages.item(tenant, item) }, change);
  return element('span', {}, `${how} ${job} of `, link, ` in ${pipeline}`);
}
