/**
 * Derives from commits which open proposals their branch contains already, and which build on one another.
 *
 *     master  M──────            graph beyond M:  a → (M), b → a, c → b
 *              \
 *               a ── b ── c      proposals: first = a, third = c
 *
 *     third is made of c and b, and depends on first.
 */
import type { ObjectId } from '../../src/git/objects/object-id.ts';

/** Parents of every commit that is reachable from a proposal and not from the branch. */
export type CommitGraph = ReadonlyMap<ObjectId, readonly ObjectId[]>;

/** An open proposal in the graph: what it brings, and what it builds on. */
export interface Stacked {
  /** Commits that belong to this proposal alone, head first. */
  readonly own: readonly ObjectId[];
  /** Heads of other proposals below, nearest first; commits below them belong to those. */
  readonly on: readonly ObjectId[];
}

/**
 * Walks down from `head`.
 *
 * @param heads of all open proposals for the branch.
 * @returns undefined when the branch holds `head` already.
 */
export function stackOf(
  head: ObjectId,
  heads: ReadonlySet<ObjectId>,
  graph: CommitGraph,
): Stacked | undefined {
  if (!graph.has(head)) return undefined;
  const own: ObjectId[] = [];
  const on: ObjectId[] = [];
  const seen = new Set<ObjectId>([head]);
  // Grows while it is iterated: breadth first, so that the nearest heads come first.
  for (const commit of seen) {
    if (commit !== head && heads.has(commit)) {
      on.push(commit);
      continue;
    }
    own.push(commit);
    for (const parent of graph.get(commit) ?? []) if (graph.has(parent)) seen.add(parent);
  }
  return { own, on };
}
