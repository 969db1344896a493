/**
 * A build's way to hosts of `nodes.yaml`, from its request until an executor begins it. Part of the record `queue-item`.
 *
 *     requested ──► waits ──► granted {hosts} ──► begun
 *                     ▲            │
 *                     └────────────┘  returned {reason}: a host did not answer, the build waits for others
 *
 * A build that needs no hosts has none of it.
 */
import type { Nanoseconds } from '../lib/clock.ts';

/** One wait for hosts. */
interface NodeWait {
  readonly since: Nanoseconds;
  /** `hosts` in the order of the labels. Null: it waits, or ended without. */
  readonly granted: null | { readonly at: Nanoseconds; readonly hosts: readonly string[] };
  /** The hosts were given back before it began, and why. Absent: they were not. */
  readonly returned?: { readonly at: Nanoseconds; readonly reason: string };
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

/** It is open and has no hosts yet. */
export function awaitsNodes(build: {
  readonly nodes?: NodeRequest;
  readonly state: { readonly state: string };
}): boolean {
  return build.state.state === 'requested' && lastNodeWait(build)?.granted === null;
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
