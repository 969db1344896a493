/** `GET …/nodes`, `…/labels` and `…/nodeset-requests`, as Zuul has them: hosts and providers of `nodes.yaml`, what is offered, and who waits. */
import { type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import { type HoldRequest, heldUntil } from '../model/hold-request.ts';
import { type HostOutage, type HostState, isInService, isPool } from '../model/static-host.ts';
import { type NodesNow, nodeWaitsNow } from './node-waits.ts';
import { type Document, document, list, nullable, oneOf, text, uuid, whole } from './schema.ts';

const STATIC = 'nodes.yaml/static';
const KUBERNETES = 'nodes.yaml/kubernetes';

/** By name. */
export const nodesSchema = list(
  document({
    id: text('Its name'),
    type: list(text(), 'Its labels'),
    connection_type: oneOf(['ssh']),
    external_id: text('Its name'),
    provider: oneOf(
      [STATIC, KUBERNETES],
      "Of two parts, of which Zuul's page shows the second; kubernetes: it makes a pod for each place",
    ),
    state: oneOf(
      ['ready', 'in-use', 'hold', 'failed'],
      'hold: by a person, or as a failed build left it; failed: out of service until an executor finds it well',
    ),
    state_time: nullable(whole('Seconds since the epoch; null: not known')),
    comment: nullable(text('Why it is out of service; of a hold request of another tenant only that')),
    lock_holder: nullable(text(), 'As in Zuul; always null: builds share hosts'),
    gatehouse: document({
      max_parallel_jobs: whole(),
      zone: nullable(text('Of the executors that reach it; null: those without one')),
      in_use: whole('Places that builds of all tenants have, or that are kept for a person'),
      builds: list(uuid(), 'Of this tenant'),
      retry_at: nullable(whole('When it is looked at again, in seconds since the epoch')),
      held: nullable(
        document({
          since: whole('In seconds since the epoch'),
          request: nullable(
            text("Id of the tenant's hold request; null: a person holds it, or another tenant"),
          ),
          build: nullable(uuid('The build that failed there; null likewise')),
          until: nullable(whole('In seconds since the epoch; null: without end, or not known here')),
        }),
      ),
    }),
  }),
);
/** Encoded by {@link nodesDocument}. */
export type NodesDocument = Document<typeof nodesSchema>;

/** Actions of `POST /api/nodes/<name>/<action>`. */
export const HOST_ACTIONS = ['hold', 'release'] as const;

/** By name. */
export const labelsSchema = list(document({ name: text() }));

/** In the order in which hosts are granted. */
export const nodesetRequestsSchema = list(
  document({
    uuid: uuid(),
    state: oneOf(['requested', 'fulfilled']),
    labels: list(text()),
    nodes: list(text(), 'Hosts that it was given'),
    gatehouse: document({
      position: nullable(whole('Among the waiting builds of all tenants, from 1; null: it has its hosts')),
      waiting: whole('Builds of all tenants that wait'),
      hosts: list(
        document({
          label: text(),
          hosts: whole('That have it'),
          free: whole('With a free place'),
          in_use: whole(),
          quarantined: whole(),
          held: whole(),
          unreached: list(
            text(),
            'Why no executor reaches some of the quarantined ones, such as for their zone',
          ),
        }),
        'Of each label that it waits for',
      ),
    }),
  }),
);

/** Encoded by {@link nodesetRequestsDocument}. */
export type NodesetRequestsDocument = Document<typeof nodesetRequestsSchema>;

/** @param tenant whose builds are named. @param holds of that tenant: reasons of other tenants are theirs. */
export function nodesDocument(
  { hosts }: Pick<NodesNow, 'hosts'>,
  tenant: string,
  holds: readonly OwnHold[],
): NodesDocument {
  const own = new Map(holds.map(({ id, hold }) => [id, hold]));
  return hosts.map(({ host, state, builds, unreached }) => {
    const { trouble, held, kept = [] } = state ?? {};
    const places = builds.length + kept.reduce((sum, { labels }) => sum + labels.length, 0);
    const since = held?.since ?? trouble?.since;
    return {
      id: host.name,
      type: [...host.labels],
      connection_type: 'ssh',
      external_id: host.name,
      provider: isPool(host) ? KUBERNETES : STATIC,
      state: stateOf(state, places),
      state_time: since === undefined ? null : seconds(since),
      comment: (held === undefined ? undefined : reasonOf(held, own)) ?? outageText(trouble, unreached),
      lock_holder: null,
      gatehouse: {
        max_parallel_jobs: host.maxParallelJobs,
        zone: host.zone ?? null,
        in_use: places,
        builds: [...new Set(builds.filter(build => build.tenant === tenant).map(build => build.uuid))],
        retry_at: trouble === undefined ? null : seconds(trouble.retryAt),
        held: held === undefined ? null : heldJson(held, own),
      },
    };
  });
}

/** What is wrong with the host itself comes first. @param unreached why no executor looks at it. */
function outageText(
  trouble: Pick<HostOutage, 'reason'> | undefined,
  unreached: string | undefined,
): string | null {
  const reasons = new Set([trouble?.reason, unreached].filter(reason => reason !== undefined));
  return reasons.size === 0 ? null : [...reasons].join('; ');
}

/** A hold request of the tenant. */
interface OwnHold {
  readonly id: string;
  readonly hold: Pick<HoldRequest, 'expiration'>;
}

type Held = NonNullable<HostState['held']>;
type OwnHolds = ReadonlyMap<string, OwnHold['hold']>;

function reasonOf({ reason, request }: Held, own: OwnHolds): string {
  return request === undefined || own.has(request.id) ? reason : 'held for another tenant';
}

function heldJson({ since, request }: Held, own: OwnHolds): NodesDocument[number]['gatehouse']['held'] {
  const hold = request === undefined ? undefined : own.get(request.id);
  if (request === undefined || hold === undefined)
    return { since: seconds(since), request: null, build: null, until: null };
  const until = heldUntil(hold, { at: since });
  return {
    since: seconds(since),
    request: request.id,
    build: request.build,
    until: until === undefined ? null : seconds(until),
  };
}

function stateOf(state: HostState | undefined, builds: number): NodesDocument[number]['state'] {
  if (!isInService(state)) return state?.held === undefined ? 'failed' : 'hold';
  return builds === 0 ? 'ready' : 'in-use';
}

function seconds(time: Nanoseconds): number {
  return Math.floor(toMilliseconds(time) / 1000);
}

/** @param ofExecutors what they offer. @param mayUse whether jobs of the tenant may ask for it. */
export function labelsDocument(
  { hosts }: Pick<NodesNow, 'hosts'>,
  ofExecutors: readonly string[],
  mayUse: (label: string) => boolean,
): Document<typeof labelsSchema> {
  const all = new Set([...ofExecutors, ...hosts.flatMap(({ host }) => host.labels)]);
  return [...all]
    .filter(mayUse)
    .toSorted()
    .map(name => ({ name }));
}

/** @param tenant whose builds are listed. */
export function nodesetRequestsDocument(now: NodesNow, tenant: string): NodesetRequestsDocument {
  const waits = nodeWaitsNow(now);
  const byBuild = new Map(waits.map(wait => [wait.build, wait]));
  return now.requests
    .filter(({ wanted }) => wanted.tenant === tenant)
    .map(({ uuid: build, wanted, grant }) => ({
      uuid: build,
      state: grant === undefined ? 'requested' : 'fulfilled',
      labels: wanted.nodes.map(({ label }) => label),
      nodes: grant?.hosts.map(({ host }) => host) ?? [],
      gatehouse: {
        position: byBuild.get(build)?.position ?? null,
        waiting: waits.length,
        hosts: (byBuild.get(build)?.labels ?? []).map(({ inUse, unreached, ...counts }) => ({
          ...counts,
          in_use: inUse,
          unreached: [...unreached],
        })),
      },
    }));
}
