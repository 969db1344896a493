/**
 * Remembers which commits open proposals bring, so that a landing needs no question to git. When a branch moves on from the tip of the
 * last answer, the commits between the two leave the graph, and nothing else changes:
 *
 *     beyond M:  a → (M), b → a, c → (M)         M' merges b into M: between them are M', b and a
 *     beyond M': c → (M)
 *
 * A new proposal on the tip, or on another proposal, is a few commits in a row. Only for other heads that are new, and for a branch
 * that moved in another way, git lists the commits.
 */

import type { ObjectId } from '../../src/git/objects/object-id.ts';
import { createLru } from '../../src/git/support/lru.ts';
import type { CommitGraph } from './commit-graph.ts';

/** One mirror. */
export interface GraphSources {
  /** Commits reachable from `heads` and not from `tip`; undefined: more than `limit`. */
  list(tip: ObjectId, heads: readonly ObjectId[], limit: number): Promise<CommitGraph | undefined>;
  /** Undefined: the commit cannot be read. */
  parents(commit: ObjectId): Promise<readonly ObjectId[] | undefined>;
}

/** What is known beyond one tip. */
interface Known {
  readonly tip: ObjectId;
  /** All commits of the heads asked about, as far as the tip does not reach them. */
  readonly graph: CommitGraph;
  /** Heads that the tip reaches. */
  readonly reached: ReadonlySet<ObjectId>;
}

/** Commits of one project that are remembered, and of one tip; some 200 bytes each. */
const MOST_KEPT = 10_000;
const MOST_COMMITS = 5_000;
/** Commits of a new proposal that are read before git is asked. */
const MOST_IN_A_ROW = 20;
/** Commits, besides those of the graph, a branch may have moved on by before git is asked. */
const MOST_WALKED = 300;

/** Answers as `list` does. Both `tip` and `heads` must be in the mirror. */
export function createGraphMemory(sources: GraphSources): GraphSources['list'] {
  const memory = createLru<ObjectId, Known>(MOST_KEPT, ({ graph }) => graph.size + 1);

  async function knownBeyond(tip: ObjectId): Promise<Known> {
    const before = memory.get(tip) ?? (await lastTip(tip));
    if (before === undefined) return knownNothing(tip);
    return before.tip === tip ? before : ((await movedOn(before, tip)) ?? knownNothing(tip));
  }

  /** The remembered tip among the nearest first parents: a landing leaves the old tip there. */
  async function lastTip(tip: ObjectId): Promise<Known | undefined> {
    let at: ObjectId | undefined = tip;
    for (let steps = 0; at !== undefined && steps < MOST_WALKED && memory.size > 0; steps += 1) {
      const known = memory.get(at);
      if (known !== undefined) return known;
      at = (await sources.parents(at))?.[0];
    }
    return undefined;
  }

  /** The new tip descends from the old one. Undefined: it is too far from it. */
  async function movedOn({ tip: old, graph, reached }: Known, tip: ObjectId): Promise<Known | undefined> {
    let read = 0;
    async function below(commit: ObjectId): Promise<readonly ObjectId[] | undefined> {
      // Below a commit of the graph, what is not in the graph is reached by the old tip.
      const inGraph = graph.get(commit)?.filter(parent => parent === old || graph.has(parent));
      if (inGraph !== undefined || commit === old) return inGraph ?? [];
      read += 1;
      return read > MOST_WALKED ? undefined : sources.parents(commit);
    }
    const between = new Set<ObjectId>([tip]);
    // Grows while it is iterated.
    for (const commit of between) {
      const parents = await below(commit);
      if (parents === undefined) return undefined;
      for (const parent of parents) between.add(parent);
    }
    const left = new Map([...graph].filter(([commit]) => !between.has(commit)));
    return { tip, graph: left, reached: new Set([...reached, ...between].slice(-MOST_COMMITS)) };
  }

  /**
   * A few commits in a row on the tip, or on a commit beyond it: they are beyond it, because the tip would be its own ancestor
   * otherwise. Undefined: only git knows.
   */
  async function walkedDown(
    head: ObjectId,
    tip: ObjectId,
    graph: CommitGraph,
  ): Promise<CommitGraph | undefined> {
    const row = new Map<ObjectId, readonly ObjectId[]>();
    for (let at = head; row.size < MOST_IN_A_ROW; ) {
      const [parent, ...others] = (await sources.parents(at)) ?? [];
      if (parent === undefined || others.length > 0) return undefined;
      row.set(at, [parent]);
      if (parent === tip || graph.has(parent)) return row;
      at = parent;
    }
    return undefined;
  }

  return async (tip, heads, limit) => {
    const known = await knownBeyond(tip);
    const all = new Map(known.graph);
    const unknown: ObjectId[] = [];
    for (const head of heads.filter(each => !known.reached.has(each))) {
      const walked = all.has(head) ? NOTHING : await walkedDown(head, tip, all);
      if (walked === undefined) unknown.push(head);
      else addTo(all, walked);
    }
    const listed = unknown.length === 0 ? NOTHING : await sources.list(tip, unknown, limit);
    if (listed === undefined) return undefined;
    addTo(all, listed);
    const reached = new Set([...known.reached, ...unknown.filter(head => !listed.has(head))]);
    const graph = reachable(heads, all);
    // Other heads may be asked about next, and all that have gone count until there are too many.
    memory.set(tip, { tip, graph: all.size <= MOST_COMMITS ? all : graph, reached });
    return graph.size > limit ? undefined : graph;
  };
}

const NOTHING: CommitGraph = new Map();

function knownNothing(tip: ObjectId): Known {
  return { tip, graph: NOTHING, reached: new Set() };
}

function addTo(graph: Map<ObjectId, readonly ObjectId[]>, more: CommitGraph): void {
  for (const [commit, parents] of more) graph.set(commit, parents);
}

function reachable(heads: readonly ObjectId[], graph: CommitGraph): CommitGraph {
  const found = new Map<ObjectId, readonly ObjectId[]>();
  const open = [...heads];
  for (let commit = open.pop(); commit !== undefined; commit = open.pop()) {
    const parents = graph.get(commit);
    if (parents === undefined || found.has(commit)) continue;
    found.set(commit, parents);
    open.push(...parents);
  }
  return found;
}
