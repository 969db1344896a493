/**
 * A build's way to hosts of `nodes.yaml`, from its request until an executor begins it. Part of the record `queue-item`.
 *
 *     requested ──► waits ──► granted {hosts} ──► begun
 *                     ▲            │
 *                     └────────────┘  returned {reason}: a host did not answer, the build waits for others
 *
 * Where a provider makes the nodes, it waits until they are made as well. A build that needs no hosts has none of it.
 */
import type { Nanoseconds } from '../lib/clock.ts';

/** One wait for hosts. */
interface NodeWait {
  readonly since: Nanoseconds;
  /** `hosts` in the order of the labels. Null: it waits, or ended without. `making`: some are providers, which make a node then. */
  readonly granted: null | {
    readonly at: Nanoseconds;
    readonly hosts: readonly string[];
    readonly making?: true;
  };
  /** When all nodes that were made for it were ready. Absent: none was. */
  readonly made?: { readonly at: Nanoseconds; readonly nodes: readonly MadeNode[] };
  /** The hosts were given back before it began, and why. Absent: they were not. */
  readonly returned?: { readonly at: Nanoseconds; readonly reason: string };
}

/** A node that was made for a build. */
export interface MadeNode {
  /** As the provider calls it. */
  readonly name: string;
  readonly createdAt: Nanoseconds;
  /** It had a machine. */
  readonly scheduledAt: Nanoseconds;
  readonly readyAt: Nanoseconds;
  /** Of the provider. */
  readonly machine: string;
}

/** What a build asked for, and its waits, oldest first. */
export interface NodeRequest {
  /** Of its nodes, in their order. */
  readonly labels: readonly string[];
  /** At most {@link MOST_NODE_WAITS}. */
  readonly waits: readonly [NodeWait, ...NodeWait[]];
}

/** Times that a build may wait for hosts: whose hosts fail once more ends with NODE_FAILURE. */
export const MOST_NODE_WAITS = 20;

/** The last wait of a build that needs hosts. */
export function lastNodeWait({ nodes }: { readonly nodes?: NodeRequest }): NodeWait | undefined {
  return nodes === undefined ? undefined : (nodes.waits.at(-1) ?? nodes.waits[0]);
}

/** When it had all of its nodes. Undefined: it has not. */
export function nodesSince(wait: NodeWait | undefined): Nanoseconds | undefined {
  return wait?.granted?.making === true ? wait.made?.at : wait?.granted?.at;
}

/** It is open and has no nodes yet. */
export function awaitsNodes(build: {
  readonly nodes?: NodeRequest;
  readonly state: { readonly state: string };
}): boolean {
  if (build.state.state !== 'requested' || build.nodes === undefined) return false;
  return nodesSince(lastNodeWait(build)) === undefined;
}

/** Labels named in a text; of more the number. */
const MOST_NAMED = 5;

/** `2 × debian, arm`: the labels, each once. */
export function labelsText(labels: readonly string[]): string {
  const counts = [...Map.groupBy(labels, label => label)].map(([label, all]) =>
    all.length === 1 ? label : `${all.length} × ${label}`,
  );
  const more = counts.length - MOST_NAMED;
  return [...counts.slice(0, MOST_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}
