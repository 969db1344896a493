/** The configuration errors of a tenant, file by file. */
import type { ConfigErrorsDocument } from '../../api/service.ts';
import { api, fetchJson } from './address.ts';
import { element } from './dom.ts';
import { FetchedView } from './fetched-view.ts';
import { count } from './format.ts';
import type { View } from './messages.ts';

/** Fetched again with each change of the document `tenant`, which has the number of errors but not their texts. */
export function errorsView(root: Element, tenant: string): View {
  return new FetchedView<ConfigErrorsDocument>(root, {
    title: 'Configuration errors',
    load: () => fetchJson<ConfigErrorsDocument>(api(tenant, 'config-errors')),
    draw: errors => [
      element(
        'h1',
        {},
        errors.length === 0 ? 'No configuration errors' : count(errors.length, 'configuration error'),
      ),
      errors.length > 0 && element('ol', { class: 'panel errors' }, errors.map(errorRow)),
    ],
    concerns: changed => changed === null || changed.has('tenant'),
  });
}

/** Also of one project. */
export function errorRow({
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
