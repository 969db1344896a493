/**
 * The nodes of a build, from the moment its executor has taken it: made ready before the build starts, so that no build starts on a node
 * that is not there, and left when it has ended.
 *
 *     const reached = await reachHosts(lease, request, providers, signal);
 *     if (reached.kind === 'failed') …              // given back: the sources that failed are quarantined, the build waits for others
 *     if (reached.kind === 'refused') …             // the build ends with NODE_FAILURE
 *     …
 *     const failures = await leaveHosts(reached.hosts);
 */
import type { BuildRequest } from '../../model/build-request.ts';
import type { KubernetesPool } from '../../model/kubernetes-pool.ts';
import { isPool, type NodeGrant, type NodeSource, type StaticHost } from '../../model/static-host.ts';
import type { HostFailure, NodeProvider, Opened, ReachedHost, WantedNode } from './node-provider.ts';
import { staticNodes } from './static-nodes.ts';

/** What the queue knows of a build's nodes. */
export interface HostLease {
  readonly grant: NodeGrant;
  /** By name; one that is gone from `nodes.yaml` is missing. */
  definitions(): Promise<ReadonlyMap<string, NodeSource>>;
  /** Ends the claim: the request waits for nodes again, and what failed is quarantined, in one write. */
  handBack(failures: readonly HostFailure[]): Promise<void>;
  /** Ends the claim and the build, with NODE_FAILURE. @param reason one line. */
  refuse(reason: string, failures: readonly HostFailure[]): Promise<void>;
}

export type Reached =
  | { readonly kind: 'reached'; readonly hosts: readonly ReachedHost[] }
  | { readonly kind: 'failed'; readonly failures: readonly HostFailure[] }
  | { readonly kind: 'refused'; readonly reason: string; readonly failures: readonly HostFailure[] };

/** Executor slots are in no list: see `node-provider.ts`. */
export interface NodeProviders {
  readonly hosts: NodeProvider<StaticHost>;
  /** Absent: pods cannot be made by this process. */
  readonly pools?: NodeProvider<KubernetesPool>;
}

export const HOSTS_ALONE: NodeProviders = { hosts: staticNodes };

export async function reachHosts(
  { grant, definitions }: Pick<HostLease, 'grant' | 'definitions'>,
  request: Pick<BuildRequest, 'uuid' | 'tenant' | 'jobName' | 'job'>,
  providers: NodeProviders,
  signal: AbortSignal,
): Promise<Reached> {
  const sources = await definitions();
  const labels = new Map(request.job.nodes.map(({ name, label }) => [name, label]));
  const { uuid: build, tenant, jobName: job } = request;
  const opened = await Promise.all(
    grant.hosts.map(({ node, host: name }, index) => {
      const owner = { tenant, job, build, node, grantedAt: grant.at };
      const wanted = { owner, index, label: labels.get(node) ?? '' };
      return openNode(providers, sources.get(name), name, wanted, signal);
    }),
  );
  const hosts = opened.flatMap(each => (each.kind === 'reached' ? [each.host] : []));
  if (hosts.length === opened.length) return { kind: 'reached', hosts };
  const failures = opened.flatMap(each => (each.kind === 'failed' ? [each.failure] : []));
  const all = [...failures, ...(await leaveHosts(hosts))];
  const refused = opened.flatMap(each => (each.kind === 'refused' ? [each.reason] : []));
  // What failed may be the reason of the rest; without a failure all has been said.
  if (failures.length > 0 || signal.aborted) return { kind: 'failed', failures: all };
  return { kind: 'refused', reason: refused.join('; '), failures: all };
}

async function openNode(
  { hosts, pools }: NodeProviders,
  source: NodeSource | undefined,
  name: string,
  wanted: WantedNode,
  signal: AbortSignal,
): Promise<Opened> {
  const failed = (reason: string): Opened => ({
    kind: 'failed',
    failure: { host: name, reason, leftover: false },
  });
  if (source === undefined) return failed('it is not in the file of nodes any more');
  if (!isPool(source)) return await hosts.open(source, wanted, signal);
  return pools === undefined
    ? failed('this process makes no pods')
    : await pools.open(source, wanted, signal);
}

/** Undefined: it serves again. */
export async function examineSource(
  { hosts, pools }: NodeProviders,
  source: NodeSource,
  leftovers: readonly string[],
  signal: AbortSignal,
): Promise<string | undefined> {
  if (!isPool(source)) return await hosts.examine(source, leftovers, signal);
  return pools === undefined ? 'this process makes no pods' : await pools.examine(source, leftovers, signal);
}

/** Removes what the build left on them. @returns those where that cannot be done, or that were lost before. */
export async function leaveHosts(hosts: readonly ReachedHost[]): Promise<readonly HostFailure[]> {
  return (await Promise.all(hosts.map(host => host.leave()))).flatMap(failure => failure ?? []);
}

/** Those that do not answer any more. */
export async function lostHosts(hosts: readonly ReachedHost[]): Promise<readonly HostFailure[]> {
  return (await Promise.all(hosts.map(host => host.lost()))).flatMap(failure => failure ?? []);
}
