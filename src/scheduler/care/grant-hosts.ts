/**
 * Hosts for builds that wait for some. One scheduler at a time does it, the holder of the sweeper's fence, and a grant is a member of the
 * request itself: which places are taken is what the requests say, so none is given twice, and none can be left over by a build that is
 * gone. See decision 0297.
 *
 *     200-<uuid>-nodes-0000000012          waits; no executor may take it
 *         │  granted, in one write
 *         ▼
 *     200-<uuid>-hosts-0000000012          its record names the hosts; an executor takes it, checks them, and starts the build
 *         └──► nodes again                 a host did not answer: it is quarantined in the write that gives the others back
 */
import type { Clock } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { createDirty } from '../../lib/signal.ts';
import { nodeMeasurements } from '../../metrics/node-gauges.ts';
import type { MetricsSink } from '../../metrics/registry.ts';
import type { BuildRequest } from '../../model/build-request.ts';
import type { PipelineEvent } from '../../model/event.ts';
import { nodesGranted } from '../../model/node-events.ts';
import { isInService, type NodeGrant } from '../../model/static-host.ts';
import { assignHosts, type HostsInUse } from '../../nodes/assign-hosts.ts';
import { type HostRow, type HostTable, openHostTable } from '../../nodes/host-table.ts';
import { type LiveNodes, NO_NODES } from '../../nodes/live-nodes.ts';
import { publishOperations } from '../../nodes/publish-hosts.ts';
import { type Stranded, strandedBuilds } from '../../nodes/stranded-builds.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import { type HostRequests, hostRequests, type WaitingRequest } from '../../store/host-requests.ts';
import { baseName } from '../../store/node-path.ts';
import type { StorePaths } from '../../store/paths.ts';
import { type Operation, type Store, StoreError } from '../../store/port.ts';
import type { RequestQueue } from '../../store/request-queue.ts';
import { parseRequestName } from '../../store/request-record.ts';
import { wakeUps } from '../../store/wake-ups.ts';
import type { SteadyExecutors } from './steady-executors.ts';

/** Of the sweeper. */
export interface GrantHostsDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Pick<Clock, 'now'>;
  readonly ids: IdMaker;
  readonly log: Pick<Log, 'info' | 'warn' | 'error'>;
  /** Absent: this process has no `[nodes] config`, and there are no hosts. */
  readonly nodes?: LiveNodes;
  /** Absent: metrics are off. */
  readonly metrics?: Pick<MetricsSink, 'source'>;
  readonly buildRequests: RequestQueue<BuildRequest>;
  readonly executors: Pick<SteadyExecutors, 'adjustRows' | 'steady'>;
  pipelineQueue(tenant: string, pipeline: string): EventQueue<PipelineEvent>;
}

/** The sweeper's fence. */
interface Committer {
  commit(operations: readonly Operation[], operationId: string): Promise<unknown>;
}

/** What others do about it. */
export interface GrantEffects {
  /** After the hosts in the store have changed. */
  onPublished(): Promise<void>;
  /** Ends builds that have waited too long for hosts out of service. @param due why, by uuid. */
  onStranded(due: ReadonlyMap<string, string>): Promise<void>;
}

/** Until aborted. */
export async function grantHosts(
  deps: GrantHostsDeps,
  fence: Committer,
  { onPublished, onStranded }: GrantEffects,
  signal: AbortSignal,
): Promise<void> {
  const { store, paths, log, buildRequests, executors, nodes, metrics } = deps;
  const dirty = createDirty(true);
  let isPublished = false;
  let seen: HostRequests = { waiting: [], granted: [] };
  using _file = nodes?.onChange(() => {
    isPublished = false;
    dirty.set();
  });
  const onError = (error: unknown) => log.error({ err: error }, 'the list of hosts could not be read');
  using table = await openHostTable(store, paths, onError, dirty.set);
  const hosts = { ...table, rows: () => executors.adjustRows(table.rows()) };
  using _executors = followExecutors(deps, dirty.set, signal);
  const requests = hostRequests(buildRequests);
  using _gauges = metrics?.source(() => nodeMeasurements(hosts.rows(), seen));
  let timer: NodeJS.Timeout | undefined;
  using _timer = { [Symbol.dispose]: () => clearTimeout(timer) };
  const concerns = ({ path }: { readonly path: string }) =>
    parseRequestName(baseName(path))?.hosts !== undefined;
  for await (const _ of wakeUps(store, buildRequests.queuePath, signal, concerns, dirty)) {
    if (!isPublished) {
      isPublished = true;
      if (await publish(deps, fence)) await hosts.fresh().then(onPublished);
    }
    clearTimeout(timer);
    seen = await requests.read();
    const granted = await grant(deps, seen, hosts, fence);
    const { due, next } = stranded(
      deps,
      seen.waiting.filter(({ uuid }) => !granted.has(uuid)),
      hosts,
    );
    if (due.size > 0) await onStranded(due);
    if (next !== undefined) timer = setTimeout(dirty.set, Math.min(next, LONGEST_SLEEP));
  }
}

/** What no executor reached may be reached now, or is given up after a while. */
function followExecutors(
  { store, paths, executors }: GrantHostsDeps,
  changed: () => void,
  signal: AbortSignal,
): Disposable {
  return store.watch(paths.components('executor'), ({ kind }) => {
    if (kind === 'changed') return;
    changed();
    executors.steady(signal).then(changed, changed);
  });
}

/** Milliseconds: the clock may be set. */
const LONGEST_SLEEP = 60_000;

function stranded(
  { nodes, clock }: GrantHostsDeps,
  waiting: readonly WaitingRequest[],
  hosts: Pick<HostTable, 'rows'>,
): Stranded {
  const limit = (nodes?.current() ?? NO_NODES).outageLimit;
  return limit === null
    ? { due: new Map(), next: undefined }
    : strandedBuilds(waiting, hosts.rows(), limit, clock.now());
}

/** @returns whether anything changed. */
async function publish(
  { store, paths, ids, log, nodes }: GrantHostsDeps,
  fence: Committer,
): Promise<boolean> {
  const file = nodes?.current() ?? NO_NODES;
  const operations = await publishOperations(store, paths, file);
  for (const operation of operations) {
    try {
      await fence.commit([operation], ids.uuid());
    } catch (error) {
      // The state of a host that is gone: an executor was first.
      if (!isGone(error)) throw error;
    }
  }
  const { hosts, pools } = file;
  if (operations.length > 0)
    log.info({ hosts: hosts.length, providers: pools.length }, 'the hosts of jobs are published');
  return operations.length > 0;
}

/** @returns what builds got hosts. */
async function grant(
  deps: GrantHostsDeps,
  { waiting, granted }: HostRequests,
  hosts: Pick<HostTable, 'rows'>,
  fence: Committer,
): Promise<ReadonlyMap<string, unknown>> {
  if (waiting.length === 0) return new Map();
  const inService = hosts.rows().filter(({ state }) => isInService(state));
  const limits = (deps.nodes?.current() ?? NO_NODES).tenantLimits;
  const wanted = waiting.map(({ uuid, wanted }) => ({ uuid, ...wanted }));
  const given = assignHosts(
    wanted,
    inService.map(({ host }) => host),
    inUse(granted, hosts.rows()),
    limits,
  );
  const zones = new Map(inService.map(({ host }) => [host.name, host.zone]));
  for (const request of waiting) {
    const found = given.get(request.uuid);
    if (found === undefined) continue;
    const zone = zones.get(found[0]?.host ?? '');
    await commitGrant(deps, request, { hosts: found, ...(zone === undefined ? {} : { zone }) }, fence);
  }
  return given;
}

/** Nodes that are kept for a person take their places as well. */
function inUse(granted: HostRequests['granted'], rows: readonly HostRow[]): HostsInUse {
  const places = new Map<string, string[]>();
  const tenants = new Map<string, number>();
  const take = (host: string, labels: readonly string[]) => {
    const there = places.get(host) ?? [];
    there.push(...labels);
    places.set(host, there);
  };
  for (const { wanted, grant } of granted) {
    const labelOf = new Map(wanted.nodes.map(({ name, label }) => [name, label]));
    for (const { node, host } of grant.hosts) take(host, [labelOf.get(node) ?? '']);
    tenants.set(wanted.tenant, (tenants.get(wanted.tenant) ?? 0) + grant.hosts.length);
  }
  for (const { host, state } of rows) for (const { labels } of state?.kept ?? []) take(host.name, labels);
  return { places, tenants };
}

async function commitGrant(
  { clock, ids, log, pipelineQueue }: GrantHostsDeps,
  request: WaitingRequest,
  { hosts, zone }: Pick<NodeGrant, 'hosts' | 'zone'>,
  fence: Committer,
): Promise<void> {
  try {
    const grant = { at: clock.now(), hosts, ...(zone === undefined ? {} : { zone }) };
    const { tenant, of } = request.wanted;
    const event = pipelineQueue(tenant, of.pipeline).put(nodesGranted(request.uuid, request.wanted, grant));
    await fence.commit([...request.grant(grant), ...event], ids.uuid());
    log.info({ build: request.uuid, hosts: hosts.map(({ host }) => host) }, 'a build has got its hosts');
  } catch (error) {
    // It was withdrawn, or moved to another priority: its own change leads to the next look.
    if (!isGone(error)) throw error;
  }
}

function isGone(error: unknown): boolean {
  return error instanceof StoreError && ['NoNode', 'NodeExists', 'BadVersion'].includes(error.code);
}
