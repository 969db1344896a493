/** What is wrong in the configuration of a tenant, file by file. */
import { api, fetchJson, pages } from './address.js';
import { element, show } from './dom.js';
import { count } from './format.js';

export class ErrorsView {
  #root;
  #tenant;
  #list = element('section', { class: 'panel', 'aria-labelledby': 'errors-title' });

  constructor(root, tenant) {
    this.#root = root;
    this.#tenant = tenant;
    const back = element('a', { 'data-route': true, href: pages.tenant(tenant) }, '← All queues');
    show(this.#root, element('nav', { class: 'crumbs', 'aria-label': 'Breadcrumb' }, back), this.#list);
    void this.#load();
  }

  update(changed) {
    if (changed === null || changed.has('tenant')) void this.#load();
  }

  tick() {}

  close() {}

  async #load() {
    const errors = await fetchJson(api(this.#tenant, 'config-errors')).catch(() => undefined);
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

function errorRow({ source_context: source, severity, gatehouse }) {
  const project =
    source.project === null ? '' : `${source.project}${source.branch === null ? '' : ` @ ${source.branch}`} `;
  return element(
    'li',
    {},
    element('code', {}, `${project}${source.path}:${gatehouse.line}:${gatehouse.column}`),
    element(
      'span',
      {},
      severity === 'warning' && element('span', { class: 'chip is-retry' }, 'warning'),
      ' ',
      gatehouse.text,
    ),
  );
}
