/** All queues of a tenant in one table. */
import { pages } from './address.ts';
import { type Child, element, show } from './dom.ts';
import { count, itemTitle } from './format.ts';
import type { Live } from './live.ts';
import type { Changed, View } from './messages.ts';
import { table } from './table.ts';
import { tick } from './ticking.ts';

/** Drawn from live documents. */
export class QueuesView implements View {
  readonly title = 'Queues';
  readonly #root: Element;
  readonly #tenant: string;
  readonly #live: Live;

  constructor(root: Element, tenant: string, live: Live) {
    this.#root = root;
    this.#tenant = tenant;
    this.#live = live;
    show(root, element('p', { class: 'quiet' }, 'Loading …'));
    this.update(null);
  }

  update(_changed: Changed): void {
    if (this.#live.tenant() === undefined) return;
    const rows = this.#live.pipelines().flatMap(pipeline =>
      pipeline.queues.map((queue): readonly Child[] => {
        const items = queue.items.map(uuid => this.#live.item(uuid)).filter(item => item !== undefined);
        const [head] = items;
        const failing = items.filter(item => item.failing.length > 0).length;
        return [
          element('a', { 'data-route': true, href: pages.tenant(this.#tenant) }, pipeline.name),
          queue.name,
          queue.items.length,
          queue.window === 0 ? 'no limit' : queue.window,
          failing === 0 ? '–' : element('span', { class: 'warn' }, failing),
          head !== undefined &&
            element('a', { 'data-route': true, href: pages.item(this.#tenant, head.uuid) }, itemTitle(head)),
          head !== undefined && element('span', { 'data-since': head.enqueuedAt }),
        ];
      }),
    );
    show(
      this.#root,
      element('h1', {}, count(rows.length, 'queue with items', 'queues with items')),
      rows.length > 0
        ? table('Queues', ['Pipeline', 'Queue', 'Items#', 'Window#', 'Failing#', 'Head', 'For#'], rows)
        : element('p', { class: 'quiet' }, 'All queues are empty.'),
    );
    this.tick();
  }

  tick(): void {
    tick(this.#root, this.#live.now());
  }

  close(): void {}
}
