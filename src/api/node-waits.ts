/** What builds wait for that wait for hosts: how many hosts have their labels, in which state, and their place in the order of service. */
import type { Nanoseconds } from '../lib/clock.ts';
import { type HostState, isInService, type NodeSource, type WantedNodes } from '../model/static-host.ts';

/** A host or a provider with the builds that have places there; once for each place. */
interface ShownHost {
  readonly host: NodeSource;
  readonly state?: HostState;
  readonly builds: readonly { readonly uuid: string; readonly tenant: string }[];
  /** Why no executor reaches it. */
  readonly unreached?: string;
}

/** A build that waits for hosts, or has them. */
interface ShownRequest {
  readonly uuid: string;
  readonly wanted: WantedNodes;
  /** Absent: it waits. */
  readonly grant?: { readonly at: Nanoseconds; readonly hosts: readonly { readonly host: string }[] };
}

/** All hosts, and the builds of all tenants: the encoders leave out what others have. */
export interface NodesNow {
  readonly hosts: readonly ShownHost[];
  readonly requests: readonly ShownRequest[];
}

/** Hosts with one label. Each host counts once, in the first that applies: held, quarantined, in use, free. */
interface LabelledHosts {
  readonly label: string;
  readonly hosts: number;
  /** With a free place. */
  readonly free: number;
  readonly inUse: number;
  readonly quarantined: number;
  readonly held: number;
  /** Why no executor reaches some of the quarantined ones, each reason once. */
  readonly unreached: readonly string[];
}

/** A build that waits. */
export interface NodeWaitNow {
  readonly build: string;
  /** Among the waiting builds of all tenants, from 1. */
  readonly position: number;
  readonly waiting: number;
  /** By the labels that it wants, each once. */
  readonly labels: readonly LabelledHosts[];
}

/** Of all tenants, in the order of service. */
export function nodeWaitsNow(now: NodesNow): readonly NodeWaitNow[] {
  const waiting = now.requests.filter(({ grant }) => grant === undefined);
  const counted = new Map<string, LabelledHosts>();
  const countsOf = (label: string) => {
    const counts = counted.get(label) ?? hostsWith(label, now.hosts);
    counted.set(label, counts);
    return counts;
  };
  return waiting.map(({ uuid, wanted }, index) => ({
    build: uuid,
    position: index + 1,
    waiting: waiting.length,
    labels: [...new Set(wanted.nodes.map(({ label }) => label))].map(countsOf),
  }));
}

function hostsWith(label: string, hosts: NodesNow['hosts']): LabelledHosts {
  const counts = { hosts: 0, free: 0, inUse: 0, quarantined: 0, held: 0 };
  const reasons = new Set<string>();
  for (const { host, state, builds, unreached } of hosts) {
    if (!host.labels.includes(label)) continue;
    if (unreached !== undefined) reasons.add(unreached);
    counts.hosts += 1;
    if (state?.held !== undefined) counts.held += 1;
    else if (!isInService(state)) counts.quarantined += 1;
    else if (builds.length < host.maxParallelJobs) counts.free += 1;
    else counts.inUse += 1;
  }
  return { label, ...counts, unreached: [...reasons] };
}

/** `place 2 of 5 in the queue; of 3 hosts with debian 0 free, 2 in use, 1 held`. */
export function nodeWaitText({ position, waiting, labels }: NodeWaitNow): string {
  const texts = labels.map(({ label, hosts, free, inUse, quarantined, held, unreached }) => {
    const others = [
      ...(inUse === 0 ? [] : [`${inUse} in use`]),
      ...(quarantined === 0 ? [] : [`${quarantined} quarantined`]),
      ...(held === 0 ? [] : [`${held} held`]),
      ...unreached,
    ];
    return `of ${hosts} ${hosts === 1 ? 'host' : 'hosts'} with ${label} ${[`${free} free`, ...others].join(', ')}`;
  });
  return [`place ${position} of ${waiting} in the queue`, ...texts].join('; ');
}
