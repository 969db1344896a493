/** The processes of the installation, by kind. */
import type { ComponentJson, ComponentsJson } from '../../api/components.ts';
import { base, fetchJson } from './address.ts';
import { element } from './dom.ts';
import { FetchedView } from './fetched-view.ts';
import { clock, count } from './format.ts';
import type { View } from './messages.ts';

/** Fetched again with each change of the document `tenant`, which says what kinds are missing. */
export function componentsView(root: Element): View {
  return new FetchedView<ComponentsJson>(root, {
    title: 'Components',
    load: () => fetchJson<ComponentsJson>(`${base}/api/components`),
    draw: kinds => {
      const all = Object.entries(kinds).flatMap(([kind, list]) => list.map(each => componentRow(kind, each)));
      return [
        element('h1', {}, count(all.length, 'component')),
        element(
          'div',
          { class: 'panel scroll', tabindex: 0, role: 'group', 'aria-label': 'Components' },
          element(
            'table',
            { class: 'list' },
            element(
              'thead',
              {},
              element(
                'tr',
                {},
                HEADS.map(text => element('th', { scope: 'col' }, text)),
              ),
            ),
            element('tbody', {}, all),
          ),
        ),
      ];
    },
    concerns: changed => changed === null || changed.has('tenant'),
  });
}

const HEADS = ['Kind', 'Name', 'Host', 'State', 'Version', 'Since', 'Notes'];

function componentRow(kind: string, { hostname, state, version, gatehouse }: ComponentJson): HTMLElement {
  const missing = gatehouse.walls.filter(wall => wall.state === 'missing');
  const notes = [
    gatehouse.wanted !== null && gatehouse.wanted !== state && `asked to be ${gatehouse.wanted}`,
    gatehouse.trouble,
    gatehouse.ansible_versions.length > 0 && `Ansible ${gatehouse.ansible_versions.join(', ')}`,
    gatehouse.zone !== null &&
      `zone ${gatehouse.zone}${gatehouse.allow_unzoned ? ' and builds without one' : ''}`,
    gatehouse.labels.length > 0 && `labels ${gatehouse.labels.join(', ')}`,
    ...missing.map(wall => `no limit of ${wall.name}: ${wall.text}`),
  ].filter(note => typeof note === 'string');
  return element(
    'tr',
    {},
    element('td', {}, kind),
    element('td', {}, element('code', {}, gatehouse.id)),
    element('td', {}, hostname),
    element('td', {}, element('span', { class: `chip is-${state === 'running' ? 'good' : 'retry'}` }, state)),
    element('td', {}, version),
    element('td', {}, clock(gatehouse.started_at)),
    element('td', { class: gatehouse.trouble === null ? '' : 'warn' }, notes.join(' · ')),
  );
}
