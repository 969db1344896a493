/**
 * Which waiting builds get hosts now, and which. Pure, and the only place that decides it:
 *
 * - in the order of service; a build gets hosts for all of its nodes, or none, and each node a host of its own
 * - all hosts of a build are of one zone, for one executor reaches them
 * - a build that lacks some keeps what is free for it from those behind it, so that a large one is not passed over for ever; one that
 *   could not be served by all hosts in service keeps nothing
 * - a tenant at its limit waits for its own builds, and delays no other
 *
 * Of several hosts the one with the smallest share of its places in use is taken.
 */
import type { NodeRequirement } from '../model/job.ts';
import type { GrantedHost } from '../model/static-host.ts';

/** A build that waits for hosts. */
export interface WaitingBuild {
  readonly uuid: string;
  readonly tenant: string;
  readonly nodes: readonly Pick<NodeRequirement, 'name' | 'label'>[];
}

/** A host in service. */
export interface OfferedHost {
  readonly name: string;
  readonly labels: readonly string[];
  readonly maxParallelJobs: number;
  readonly zone?: string;
}

/** What is given away already. */
export interface HostsInUse {
  /** Builds by the name of the host. */
  readonly builds: ReadonlyMap<string, number>;
  /** Nodes by tenant. */
  readonly tenants: ReadonlyMap<string, number>;
}

/** @param waiting in the order of service. @returns the hosts of each build that gets some. */
export function assignHosts(
  waiting: readonly WaitingBuild[],
  hosts: readonly OfferedHost[],
  inUse: HostsInUse,
  limits: ReadonlyMap<string, number>,
): ReadonlyMap<string, readonly GrantedHost[]> {
  const builds = new Map(inUse.builds);
  const tenants = new Map(inUse.tenants);
  const full = new Set<string>();
  /** Labels of builds that found no hosts. What is free only shrinks, and thousands may want the same. */
  const failed = new Set<string>();
  const grants = new Map<string, readonly GrantedHost[]>();
  let looks = 0;
  const isFree = ({ name, maxParallelJobs }: OfferedHost) => (builds.get(name) ?? 0) < maxParallelJobs;
  const take = (found: readonly GrantedHost[]) => {
    for (const { host } of found) builds.set(host, (builds.get(host) ?? 0) + 1);
  };
  for (const { uuid, tenant, nodes } of waiting) {
    const labels = JSON.stringify(nodes.map(({ label }) => label).toSorted());
    if (full.has(tenant) || failed.has(labels)) continue;
    const used = tenants.get(tenant) ?? 0;
    if (used + nodes.length > (limits.get(tenant) ?? Number.POSITIVE_INFINITY)) {
      full.add(tenant);
      continue;
    }
    if (++looks > MOST_LOOKS) break;
    const found = matched(nodes, hosts.filter(isFree), builds);
    if (found.length === nodes.length) {
      grants.set(uuid, found);
      tenants.set(tenant, used + nodes.length);
      take(found);
      continue;
    }
    failed.add(labels);
    if (canServe(nodes, hosts)) take(found);
  }
  return grants;
}

/** Builds that one call looks at closely, those that want what was not found left out; each grant leads to another call. */
const MOST_LOOKS = 500;

/** Whether the hosts together can serve it, once all of them are free. */
export function canServe(nodes: WaitingBuild['nodes'], hosts: readonly OfferedHost[]): boolean {
  return nodes.length > 0 && matched(nodes, hosts, new Map()).length === nodes.length;
}

/** As many of the nodes as possible, of the zone that has most for them; of several the one with the first host. */
function matched(
  nodes: WaitingBuild['nodes'],
  hosts: readonly OfferedHost[],
  builds: ReadonlyMap<string, number>,
): readonly GrantedHost[] {
  let best: readonly GrantedHost[] = [];
  for (const ofZone of Map.groupBy(hosts, ({ zone }) => zone).values()) {
    const found = matchedIn(nodes, ofZone, builds);
    if (found.length > best.length) best = found;
    if (best.length === nodes.length) break;
  }
  return best;
}

/** Each with a host of its own: a matching, grown along augmenting paths. */
function matchedIn(
  nodes: WaitingBuild['nodes'],
  hosts: readonly OfferedHost[],
  builds: ReadonlyMap<string, number>,
): readonly GrantedHost[] {
  const share = ({ name, maxParallelJobs }: OfferedHost) => (builds.get(name) ?? 0) / maxParallelJobs;
  const sorted = hosts.toSorted((a, b) => share(a) - share(b) || (a.name < b.name ? -1 : 1));
  const byLabel = new Map(
    nodes.map(({ label }) => [label, sorted.filter(({ labels }) => labels.includes(label))] as const),
  );
  const nodeOf = new Map<string, WaitingBuild['nodes'][number]>();

  function place(node: WaitingBuild['nodes'][number], tried: Set<string>): boolean {
    for (const { name } of byLabel.get(node.label) ?? []) {
      if (tried.has(name)) continue;
      tried.add(name);
      const there = nodeOf.get(name);
      if (there !== undefined && !place(there, tried)) continue;
      nodeOf.set(name, node);
      return true;
    }
    return false;
  }
  for (const node of nodes) place(node, new Set());
  const hostOf = new Map([...nodeOf].map(([host, { name }]) => [name, host]));
  return nodes.flatMap(({ name }) => {
    const host = hostOf.get(name);
    return host === undefined ? [] : [{ node: name, host }];
  });
}
