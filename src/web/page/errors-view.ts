/** The configuration errors of a tenant, file by file. */
import type { ConfigErrorsDocument } from '../../api/service.ts';
import { api, fetchJson } from './address.ts';
import { backToQueues } from './back-to-queues.ts';
import { element, show } from './dom.ts';
import { count } from './format.ts';
import type { Changed, View } from './messages.ts';

/** Fetched again with each change of the document `tenant`, which has the number of errors but not their texts. */
export class ErrorsView implements View {
  readonly #tenant: string;
  #list = element('section', { class: 'panel', 'aria-labelledby': 'errors-title' });

  constructor(root: Element, tenant: string) {
    this.#tenant = tenant;
    show(root, backToQueues(tenant), this.#list);
    void this.#load();
  }

  update(changed: Changed): void {
    if (changed === null || changed.has('tenant')) void this.#load();
  }

  tick(): void {}

  close(): void {}

  async #load(): Promise<void> {
    const errors = await fetchJson<ConfigErrorsDocument>(api(this.#tenant, 'config-errors')).catch(
      () => undefined,
    );
    if (errors === undefined) return;
    show(
      this.#list,
      element(
        'h2',
        { id: 'errors-title' },
        errors.length === 0 ? 'No configuration errors' : count(errors.length, 'configuration error'),
      ),
      element('ol', { class: 'errors' }, errors.map(errorRow)),
    );
  }
}

function errorRow({
  source_context: source,
  severity,
  gatehouse,
}: ConfigErrorsDocument[number]): HTMLElement {
  const project =
    source.project === null ? '' : `${source.project}${source.branch === null ? '' : ` @ ${source.branch}`} `;
  const place = gatehouse.line === null ? '' : `:${gatehouse.line}:${gatehouse.column}`;
  return element(
    'li',
    {},
    element('code', {}, `${project}${source.path}${place}`),
    element(
      'span',
      {},
      severity === 'warning' && element('span', { class: 'chip is-retry' }, 'warning'),
      ' ',
      gatehouse.text,
    ),
  );
}
