/**
 * Machines that jobs run on over ssh, beside the executors' own: what `nodes.yaml` says of one, how it fares, and which of them a build
 * was given.
 *
 *     in service ──► quarantined {reason, retryAt}     it did not answer, showed another host key, or could not be cleaned
 *         │  ▲              └──► in service             an executor looked at it again, and cleaned it
 *         ▼  │
 *        held {reason}                                   by a person, until released; or after a failure, until that expires
 *
 * A host may be held and quarantined at a time. Either way no build is given a place on it; those that have one go on.
 */
import { addMilliseconds, type Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { NodeRequirement, Variables } from './job.ts';
import type { KubernetesPool } from './kubernetes-pool.ts';
import type { PipelineName, TenantName } from './project.ts';

/** A host of `nodes.yaml`. Stored as the record `static-host`, for executors and webs. */
export interface StaticHost {
  /** Unique, and part of paths. */
  readonly name: string;
  /** Name or address. */
  readonly address: string;
  readonly port: number;
  readonly username: string;
  /** Public keys, one of which it must show: `ssh-ed25519 AAAA…`. */
  readonly hostKeys: readonly [string, ...string[]];
  /** File of the private key, on each executor. */
  readonly privateKey: string;
  /** Builds at a time. */
  readonly maxParallelJobs: number;
  readonly labels: readonly string[];
  /** Only executors of this zone reach it. Absent: executors without one, and those that serve both. */
  readonly zone?: string;
  /** Python for Ansible; absent: Ansible looks for it. */
  readonly pythonPath?: string;
  /** More variables of the connection, for its inventory. Absent: none. */
  readonly variables?: Variables;
}

/** What `nodes.yaml` names, and builds get places on: a host, or a provider that makes a node for each place. */
export type NodeSource = StaticHost | KubernetesPool;

/** Whether it makes a node for each place. */
export function isPool(source: NodeSource): source is KubernetesPool {
  return 'pods' in source;
}

/** The whole of `nodes.yaml`. */
export interface NodesFile {
  readonly hosts: readonly StaticHost[];
  readonly pools: readonly KubernetesPool[];
  /** Nodes that builds of a tenant may have at a time, by its name; others are not limited. */
  readonly tenantLimits: ReadonlyMap<string, number>;
  /** Milliseconds that a build waits while none of the hosts that could serve it is in service; null: without limit. */
  readonly outageLimit: number | null;
}

/** Why a host is out of service, and when to look again. */
export interface HostOutage {
  /** One line for people. */
  readonly reason: string;
  readonly since: Nanoseconds;
  /** 1, plus one for each look that found it no better. */
  readonly tries: number;
  readonly retryAt: Nanoseconds;
  /** Builds whose processes and files may still be there. Absent: none. */
  readonly leftovers?: readonly Uuid[];
}

/** What `nodes.yaml` does not say of a host. Stored as the record `host-state`; without one it is in service. */
export interface HostState {
  readonly trouble?: HostOutage;
  /** By a person, or as it was when a build failed there. */
  readonly held?: {
    readonly reason: string;
    readonly since: Nanoseconds;
    /** The request for it, and the build whose files and processes are kept. Absent: a person holds the host itself. */
    readonly request?: { readonly id: string; readonly build: Uuid };
  };
  /** Of a provider: builds that failed, whose nodes stay for a person; the provider itself stays in service. Absent: none. */
  readonly kept?: readonly KeptNodes[];
}

/** Nodes that were made for a build and outlive it. */
export interface KeptNodes {
  /** Id of the request to hold them. */
  readonly request: string;
  readonly build: Uuid;
  readonly since: Nanoseconds;
  /** One for each node. */
  readonly labels: readonly string[];
}

/** What a build wants, in its request as long as that exists: enough to choose hosts without reading all of it. */
export interface WantedNodes {
  readonly tenant: TenantName;
  /** Where the build is: it is said there what it got. */
  readonly of: { readonly pipeline: PipelineName; readonly item: Uuid; readonly buildset: Uuid };
  readonly requestedAt: Nanoseconds;
  readonly nodes: readonly Pick<NodeRequirement, 'name' | 'label'>[];
  /** Times that its executors gave its hosts back. Absent: never. */
  readonly returns?: number;
}

/** The hosts of a build, in its request from the grant until its end: the one thing that says who has which place. */
export interface NodeGrant {
  readonly at: Nanoseconds;
  readonly hosts: readonly GrantedHost[];
  /** Of all of them. Absent: none. */
  readonly zone?: string;
}

/** `node`: its name in the nodeset. */
export interface GrantedHost {
  readonly node: string;
  /** As the file names it. */
  readonly host: string;
  /** It is a provider, which makes the node for the build. Absent: a host. */
  readonly made?: true;
}

/** Each once. */
export function sourcesOf({ hosts }: Pick<NodeGrant, 'hosts'>): readonly string[] {
  return [...new Set(hosts.map(({ host }) => host))];
}

/** Whether builds are given places on it. */
export function isInService(state: HostState | undefined): boolean {
  return state?.trouble === undefined && state?.held === undefined;
}

const FIRST_LOOK_MS = 5_000;
const LONGEST_MS = 600_000;

/** The state after one more failure: looked at again after five seconds, then after twice as long each time, ten minutes at most. */
export function withTrouble(
  state: HostState | undefined,
  reason: string,
  now: Nanoseconds,
  leftover?: Uuid,
): HostState {
  const { since = now, tries = 0, leftovers = [] } = state?.trouble ?? {};
  const left = leftover === undefined ? leftovers : [...new Set([...leftovers, leftover])];
  const wait = Math.min(LONGEST_MS, FIRST_LOOK_MS * 2 ** Math.min(tries, 30));
  const trouble: HostOutage = {
    ...{ reason, since, tries: tries + 1, retryAt: addMilliseconds(now, wait) },
    ...(left.length === 0 ? {} : { leftovers: left }),
  };
  return { ...state, trouble };
}

/** Its executor vanished: what it left behind has to be removed, at once. */
export function withLeftover(state: HostState | undefined, build: Uuid, now: Nanoseconds): HostState {
  const reason = `the executor of build ${build} is gone; what it left has to be removed`;
  const next = withTrouble(state, state?.trouble?.reason ?? reason, now, build);
  return next.trouble === undefined ? next : { ...next, trouble: { ...next.trouble, retryAt: now } };
}

/** Undefined: nothing is left to say of it. */
export function withoutTrouble({ trouble: _, ...rest }: HostState): HostState | undefined {
  return somethingOf(rest);
}

/** Undefined: nothing is said of it, and the record goes. */
export function somethingOf(state: HostState): HostState | undefined {
  return Object.values(state).every(value => value === undefined) ? undefined : state;
}

/** Its nodes of the build stay. May be applied twice. */
export function withKept(state: HostState | undefined, nodes: KeptNodes): HostState {
  const others = (state?.kept ?? []).filter(({ build }) => build !== nodes.build);
  return { ...state, kept: [...others, nodes] };
}

/** Its nodes of the build may go. */
export function withoutKept(state: HostState | undefined, build: Uuid): HostState | undefined {
  if (state?.kept?.some(each => each.build === build) !== true) return state;
  const { kept, ...rest } = state;
  const others = kept.filter(each => each.build !== build);
  return somethingOf(others.length === 0 ? rest : { ...rest, kept: others });
}
