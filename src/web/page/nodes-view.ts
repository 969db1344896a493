/** Hosts of jobs, and the labels that they and the executors offer. */
import type { NodesDocument, NodesetRequestsDocument } from '../../api/nodes.ts';
import { actButtons } from './act-dialog.ts';
import { api, fetchJson, pages } from './address.ts';
import { type Child, element } from './dom.ts';
import { FetchedView } from './fetched-view.ts';
import { clock, count } from './format.ts';
import { nodeActs } from './hold-acts.ts';
import { ListSearch } from './list-search.ts';
import type { View } from './messages.ts';
import type { RightToAct } from './right-to-act.ts';
import { table } from './table.ts';

type Node = NodesDocument[number];

/** Hosts are in no live document: milliseconds between two looks. */
const LOOK_MS = 10_000;

/** Who may operate every tenant holds and releases them. */
export function nodesView(root: Element, tenant: string, right: RightToAct): View {
  const search = new ListSearch('nodes');
  return new FetchedView<{ readonly nodes: NodesDocument; readonly mayHold: boolean }>(root, {
    title: 'Nodes',
    async load() {
      const [nodes, mayHold] = await Promise.all([
        fetchJson<NodesDocument>(api(tenant, 'nodes')),
        right.isGivenForAll(),
      ]);
      return nodes && { nodes, mayHold };
    },
    draw: ({ nodes, mayHold }) => [
      element('h1', {}, nodes.length === 0 ? 'No nodes' : count(nodes.length, 'node')),
      nodes.length === 0
        ? element('p', { class: 'quiet' }, 'Jobs run on executors: there is no nodes.yaml.')
        : [
            search.root,
            search.over(
              table(
                'Nodes',
                ['Node', 'State', 'Labels', 'In use#', 'Builds', 'Since', 'Reason', ''],
                nodes.map((node, index) => nodeCells(tenant, node, mayHold ? index : undefined)),
              ),
              'tbody tr',
            ),
          ],
    ],
    concerns: changed => changed === null,
    everyMs: LOOK_MS,
  });
}

const STATES: { readonly [state in Node['state']]: { readonly kind: string; readonly word: string } } = {
  ready: { kind: 'good', word: '✓ ready' },
  'in-use': { kind: 'run', word: '● in use' },
  hold: { kind: 'retry', word: '‖ held' },
  failed: { kind: 'bad', word: '✕ failed' },
};

/** @param place of its buttons; undefined: there are none. */
function nodeCells(tenant: string, node: Node, place: number | undefined): readonly Child[] {
  const { id, type, state, state_time, comment, gatehouse } = node;
  const { kind, word } = STATES[state];
  return [
    element('code', {}, id),
    element('span', { class: `chip is-${kind}` }, word),
    type.join(', '),
    `${gatehouse.in_use} of ${gatehouse.max_parallel_jobs}`,
    gatehouse.builds.map((build, index) => [index > 0 && ', ', buildLink(tenant, build)]),
    state_time !== null && clock(state_time * 1000),
    reasonOf(tenant, comment, gatehouse),
    place !== undefined && actButtons(tenant, nodeActs(node), `node-${place}`),
  ];
}

function reasonOf(tenant: string, comment: string | null, { held, retry_at }: Node['gatehouse']): Child {
  return [
    comment,
    held !== null && held.build !== null && [' · ', buildLink(tenant, held.build)],
    held !== null && held.until !== null && ` · until ${clock(held.until * 1000)}`,
    retry_at !== null && ` · looked at again at ${clock(retry_at * 1000)}`,
  ];
}

function buildLink(tenant: string, build: string): HTMLElement {
  return element('a', { 'data-route': true, href: pages.build(tenant, build) }, `build ${build.slice(0, 8)}`);
}

interface Labels {
  readonly labels: readonly { readonly name: string }[];
  readonly nodes: NodesDocument;
  readonly requests: NodesetRequestsDocument;
}

/** Each with its hosts, and the builds of the tenant that wait for one. */
export function labelsView(root: Element, tenant: string): View {
  const search = new ListSearch('labels');
  return new FetchedView<Labels>(root, {
    title: 'Labels',
    async load() {
      const [labels, nodes = [], requests = []] = await Promise.all([
        fetchJson<Labels['labels']>(api(tenant, 'labels')),
        fetchJson<NodesDocument>(api(tenant, 'nodes')),
        fetchJson<NodesetRequestsDocument>(api(tenant, 'nodeset-requests')),
      ]);
      return labels && { labels, nodes, requests };
    },
    draw: shown => [
      element('h1', {}, shown.labels.length === 0 ? 'No labels' : count(shown.labels.length, 'label')),
      shown.labels.length > 0 && [
        search.root,
        search.over(
          table(
            'Labels',
            ['Label', 'Nodes#', 'Free#', 'In use#', 'Held#', 'Failed#', 'Waiting builds'],
            shown.labels.map(({ name }) => labelCells(tenant, name, shown)),
          ),
          'tbody tr',
        ),
      ],
    ],
    everyMs: LOOK_MS,
  });
}

function labelCells(tenant: string, label: string, { nodes, requests }: Labels): readonly Child[] {
  const own = nodes.filter(({ type }) => type.includes(label));
  const isFree = ({ state, gatehouse }: Node) =>
    (state === 'ready' || state === 'in-use') && gatehouse.in_use < gatehouse.max_parallel_jobs;
  const waiting = requests.filter(({ state, labels }) => state === 'requested' && labels.includes(label));
  const number = (fits: (node: Node) => boolean) => own.filter(fits).length || '–';
  return [
    element('code', {}, label),
    own.length === 0 ? 'executors only' : own.length,
    number(isFree),
    number(node => node.state === 'in-use' && !isFree(node)),
    number(({ state }) => state === 'hold'),
    number(({ state }) => state === 'failed'),
    waiting.map(({ uuid, gatehouse }, index) => [
      index > 0 && ', ',
      buildLink(tenant, uuid),
      gatehouse.position !== null && ` (place ${gatehouse.position})`,
    ]),
  ];
}
