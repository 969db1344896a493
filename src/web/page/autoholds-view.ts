/** Requests to keep the hosts or the workspace of jobs that fail: what they hold, since when and until when; they are made and ended here. */
import type { HoldDocument } from '../../api/holds.ts';
import { actButtons } from './act-dialog.ts';
import { api, fetchJson, pages } from './address.ts';
import { type Child, element } from './dom.ts';
import { FetchedView } from './fetched-view.ts';
import { clock, count, duration } from './format.ts';
import { autoholdActs, requestHold } from './hold-acts.ts';
import { ListSearch } from './list-search.ts';
import type { View } from './messages.ts';
import type { RightToAct } from './right-to-act.ts';
import { table } from './table.ts';

/** They are in no live document: milliseconds between two looks. */
const LOOK_MS = 10_000;

/** @param right to make and end them. */
export function autoholdsView(root: Element, tenant: string, right: Pick<RightToAct, 'isGiven'>): View {
  const search = new ListSearch('autoholds');
  return new FetchedView<readonly HoldDocument[]>(root, {
    title: 'Autoholds',
    load: () => fetchJson<readonly HoldDocument[]>(api(tenant, 'autohold')),
    draw: holds => [
      element(
        'div',
        { class: 'title-line' },
        element('h1', {}, holds.length === 0 ? 'No autoholds' : count(holds.length, 'autohold')),
        right.isGiven && actButtons(tenant, [requestHold()], 'autohold'),
      ),
      holds.length === 0
        ? element(
            'p',
            { class: 'quiet' },
            'An autohold keeps the hosts of a job, or its workspace, as they are when it fails.',
          )
        : [
            search.root,
            search.over(
              table(
                'Autoholds',
                ['Job', 'Project', 'Of', 'Held#', 'Holds now', 'Reason', 'Asked', ''],
                holds.map(hold => holdCells(tenant, hold, right.isGiven)),
              ),
              'tbody tr',
            ),
          ],
    ],
    concerns: changed => changed === null,
    everyMs: LOOK_MS,
  });
}

function holdCells(tenant: string, hold: HoldDocument, mayAct: boolean): readonly Child[] {
  const { id, job, project, ref_filter, max_count, current_count, reason, node_expiration, gatehouse } = hold;
  return [
    element('a', { 'data-route': true, href: pages.job(tenant, job) }, job),
    project,
    ref_filter === '.*' ? 'any change' : element('code', {}, ref_filter),
    `${current_count} of ${max_count}`,
    hold.nodes.map(({ build, nodes }, index) => heldPart(tenant, { build, nodes, ...gatehouse.held[index] })),
    reason,
    [
      `${clock(gatehouse.at * 1000)} by ${gatehouse.by}, `,
      node_expiration === 0 ? 'until it is deleted' : `for ${duration(node_expiration * 1000)} each`,
    ],
    mayAct && actButtons(tenant, autoholdActs(hold), `autohold-${id}`),
  ];
}

function heldPart(
  tenant: string,
  held: {
    readonly build: string;
    readonly nodes: readonly string[];
  } & Partial<HoldDocument['gatehouse']['held'][number]>,
): HTMLElement {
  const { build, nodes, since, until = null, workspace = null } = held;
  return element(
    'div',
    {},
    workspace === null
      ? element('code', {}, nodes.join(', '))
      : ['workspace ', element('code', {}, workspace.path), ` of ${workspace.executor}`],
    ' of ',
    element('a', { 'data-route': true, href: pages.build(tenant, build) }, `build ${build.slice(0, 8)}`),
    since !== undefined && ` since ${clock(since * 1000)}`,
    until !== null && `, until ${clock(until * 1000)}`,
  );
}
