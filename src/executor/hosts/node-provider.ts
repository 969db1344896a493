/**
 * Where the nodes of a build come from, and what each kind of source promises.
 *
 * | source | a node is | who gives it | made ready by | the job reaches it |
 * |---|---|---|---|---|
 * | executor slots | the executor's own machine | the executor that takes the request, by its labels | nothing: `sandbox-runner.ts` is there | by being there |
 * | static hosts | a machine of `nodes.yaml` | the scheduler, one place of it (`grant-hosts.ts`) | {@link NodeProvider.open} of `static-nodes.ts` | with ssh, through a socket to its port |
 * | Kubernetes | a pod, made for it | the scheduler, one place of a provider | {@link NodeProvider.open} of `pod-nodes.ts` | with ssh, through a socket to a gateway of the executor (`pod-gateway.ts`) |
 *
 * For all that is granted:
 *
 * - the grant is part of the request, and ends with it, however that ends; nothing else says who has which node
 * - `open` is called by the executor that has the claim, before the build begins. What fails there is no verdict on a change: the source is
 *   taken out of service and the build waits for another, or the build ends with NODE_FAILURE and the words of the source
 * - `leave` is called once when the build has ended, unless its nodes are held
 * - what a dead executor leaves is removed by another: of a host before it is in service again (`look-again.ts`), of pods by a sweep
 */
import type { Socket } from 'node:net';
import type { StaticHost } from '../../model/static-host.ts';
import type { PrivateKey } from '../../nodes/host-session.ts';
import type { PodOwner } from '../../nodes/kubernetes/pod-spec.ts';
import type { PodTimes } from '../../nodes/kubernetes/start-pod.ts';

/** The node that a build wants, and whose it is. */
export interface WantedNode {
  readonly owner: Omit<PodOwner, 'installation'>;
  readonly label: string;
  /** Among the nodes of the build, from 0. */
  readonly index: number;
}

/** A node of a build, ready for its jobs. */
export interface ReachedHost {
  /** Its name in the nodeset. */
  readonly node: string;
  /** The host or the provider, as the file of nodes names it. */
  readonly source: string;
  /** For people: `host web1`. */
  readonly title: string;
  /** How ssh calls it. */
  readonly host: SshTarget;
  /** With which the build's agent signs. Absent: who may connect is let in. */
  readonly key?: PrivateKey;
  /** More variables of the connection, above those of the file. Absent: none. */
  readonly walls?: { readonly [name: string]: string };
  /** Of one that was made. Absent: it was there. */
  readonly times?: PodTimes;
  /** Joins a connection of the job with it; the caller ends the connection. @param opened called with what else is to be ended. */
  join(socket: Socket, opened: (other: Socket) => void): void;
  /** Whether it does not serve any more. */
  lost(): Promise<HostFailure | undefined>;
  /** Removes what the build left, or the node. @returns why it cannot, or that it was lost before. */
  leave(): Promise<HostFailure | undefined>;
}

type SshTarget = Pick<
  StaticHost,
  'name' | 'address' | 'port' | 'username' | 'hostKeys' | 'pythonPath' | 'variables'
>;

/** A node that failed, and why: one line. */
export interface HostFailure {
  /** As {@link ReachedHost.source}. */
  readonly host: string;
  readonly reason: string;
  /** Something of the build may be left there. */
  readonly leftover: boolean;
  /** The source serves others: it is not taken out of service. Absent: it is. */
  readonly serves?: true;
  /** The build itself can have ended the node: when it is tried again, that is an attempt. Absent: it cannot. */
  readonly byBuild?: true;
}

/** `refused`: the source will not give such a node; its words, one line. */
export type Opened =
  | { readonly kind: 'reached'; readonly host: ReachedHost }
  | { readonly kind: 'failed'; readonly failure: HostFailure }
  | { readonly kind: 'refused'; readonly reason: string };

export interface NodeProvider<Source> {
  /** Never rejects. What it began is undone unless it is reached. */
  open(source: Source, wanted: WantedNode, signal: AbortSignal): Promise<Opened>;
  /**
   * Whether the source serves again, after a failure. Undefined: it does; else why not, one line. Never rejects.
   *
   * @param leftovers builds that are to be removed there first.
   */
  examine(source: Source, leftovers: readonly string[], signal: AbortSignal): Promise<string | undefined>;
}
