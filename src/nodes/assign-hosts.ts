/**
 * Which waiting builds get places now, and where: on hosts, and at providers that make a node for each place. Pure, and the only place
 * that decides it:
 *
 * - in the order of service; a build gets places for all of its nodes, or none; of a host one place at most, of a provider as many as fit
 * - all nodes of a build are of one zone, for one executor reaches them
 * - a build that lacks some keeps what is free for it from those behind it, so that a large one is not passed over for ever; one that
 *   could not be served by all hosts in service keeps nothing
 * - a tenant at its limit waits for its own builds, and delays no other
 *
 * Of several hosts the one with the smallest share of its places in use is taken.
 */
import type { NodeRequirement } from '../model/job.ts';
import { type KubernetesPool, sizeOf } from '../model/kubernetes-pool.ts';
import type { GrantedHost } from '../model/static-host.ts';

/** A build that waits for hosts. */
export interface WaitingBuild {
  readonly uuid: string;
  readonly tenant: string;
  readonly nodes: readonly Pick<NodeRequirement, 'name' | 'label'>[];
}

/** A host or a provider in service; of a provider also the sizes of its pods and how much of them there may be. */
export interface OfferedHost extends Partial<Pick<KubernetesPool, 'pods' | 'maxCpu' | 'maxMemory'>> {
  readonly name: string;
  readonly labels: readonly string[];
  readonly maxParallelJobs: number;
  readonly zone?: string;
}

/** Labels of the nodes that builds have there. */
type UsedPlaces = ReadonlyMap<string, readonly string[]>;

/** What is given away already. */
export interface HostsInUse {
  /** By the name of the host or the provider. */
  readonly places: UsedPlaces;
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
  const places = new Map(inUse.places);
  const tenants = new Map(inUse.tenants);
  const full = new Set<string>();
  /** Labels of builds that found no hosts. What is free only shrinks, and thousands may want the same. */
  const failed = new Set<string>();
  const grants = new Map<string, readonly GrantedHost[]>();
  let looks = 0;
  const isFree = ({ name, maxParallelJobs }: OfferedHost) =>
    (places.get(name)?.length ?? 0) < maxParallelJobs;
  const take = (nodes: WaitingBuild['nodes'], found: readonly GrantedHost[]) => {
    const labelOf = new Map(nodes.map(({ name, label }) => [name, label]));
    for (const { node, host } of found)
      places.set(host, [...(places.get(host) ?? []), labelOf.get(node) ?? '']);
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
    const found = matched(nodes, hosts.filter(isFree), places);
    if (found.length === nodes.length) {
      grants.set(uuid, found);
      tenants.set(tenant, used + nodes.length);
      take(nodes, found);
      continue;
    }
    failed.add(labels);
    if (canServe(nodes, hosts)) take(nodes, [...found, ...awaited(nodes, found, hosts)]);
  }
  return grants;
}

/** Room at a provider for what found none: others that are smaller would take it as it becomes free, for ever. */
function awaited(
  nodes: WaitingBuild['nodes'],
  found: readonly GrantedHost[],
  hosts: readonly OfferedHost[],
): readonly GrantedHost[] {
  const placed = new Set(found.map(({ node }) => node));
  return nodes.flatMap(({ name, label }) => {
    if (placed.has(name)) return [];
    const pool = hosts.find(({ pods, labels }) => pods !== undefined && labels.includes(label));
    return pool === undefined ? [] : [{ node: name, host: pool.name }];
  });
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
  used: UsedPlaces,
): readonly GrantedHost[] {
  let best: readonly GrantedHost[] = [];
  for (const ofZone of Map.groupBy(hosts, ({ zone }) => zone).values()) {
    const found = matchedIn(nodes, ofZone, used);
    if (found.length > best.length) best = found;
    if (best.length === nodes.length) break;
  }
  return best;
}

/**
 * A matching, grown along augmenting paths. Where pods of different sizes share a provider it may pass over a way to place all; it never places
 * more than there is room for.
 */
function matchedIn(
  nodes: WaitingBuild['nodes'],
  hosts: readonly OfferedHost[],
  used: UsedPlaces,
): readonly GrantedHost[] {
  const share = ({ name, maxParallelJobs }: OfferedHost) => (used.get(name)?.length ?? 0) / maxParallelJobs;
  const sorted = hosts.toSorted((a, b) => share(a) - share(b) || (a.name < b.name ? -1 : 1));
  const byLabel = new Map(
    nodes.map(({ label }) => [label, sorted.filter(({ labels }) => labels.includes(label))] as const),
  );
  const placedAt = new Map<string, readonly Node[]>();

  function place(node: Node, tried: Set<string>): boolean {
    for (const host of byLabel.get(node.label) ?? []) {
      if (tried.has(host.name)) continue;
      tried.add(host.name);
      const there = placedAt.get(host.name) ?? [];
      const displaced = [node, ...there].find(each => {
        const rest = there.filter(other => other !== each);
        return fits(host, used, [...rest, node]) && (each === node || place(each, tried));
      });
      if (displaced === undefined) continue;
      placedAt.set(host.name, [...there.filter(other => other !== displaced), node]);
      return true;
    }
    return false;
  }
  for (const node of nodes) place(node, new Set());
  const hostOf = new Map([...placedAt].flatMap(([host, all]) => all.map(({ name }) => [name, host])));
  const pools = new Set(hosts.filter(({ pods }) => pods !== undefined).map(({ name }) => name));
  return nodes.flatMap(({ name }) => {
    const host = hostOf.get(name);
    if (host === undefined) return [];
    return [pools.has(host) ? { node: name, host, made: true as const } : { node: name, host }];
  });
}

type Node = WaitingBuild['nodes'][number];

/** Whether there is room for these nodes of one build. */
function fits(host: OfferedHost, used: UsedPlaces, nodes: readonly Node[]): boolean {
  const there = used.get(host.name) ?? [];
  if (there.length + nodes.length > host.maxParallelJobs) return false;
  const { pods, maxCpu, maxMemory } = host;
  if (pods === undefined) return nodes.length <= 1;
  if (maxCpu === undefined && maxMemory === undefined) return true;
  const sizes = [...there, ...nodes.map(({ label }) => label)].map(label => sizeOf({ pods }, label));
  const sum = (of: 'cpu' | 'memory') => sizes.reduce((total, size) => total + size[of], 0);
  return sum('cpu') <= (maxCpu ?? Infinity) && sum('memory') <= (maxMemory ?? Infinity);
}
