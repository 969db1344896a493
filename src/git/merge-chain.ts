/**
 * Speculative merges that are never made twice.
 *
 * A queue of changes A, B, C on a branch tip T is a chain of merge commits: (T+A), ((T+A)+B), … Each link is a pure
 * function of the commit before it, the change, the mode and the message, so it is remembered under exactly these, and a
 * request for the item at position k finds k−1 links made: one merge, at any depth. After the gate really merged A, the tip *is*
 * the link (T+A) and B's link is found again under it.
 *
 *     await chain.merge(tip, [a, b])      → two merges
 *     await chain.merge(tip, [a, b, c])   → one more
 *     await chain.merge(tip, [a, c])      → B fell out: one more, C on (T+A)
 *
 * Links equal those of `git merge --no-ff -m <message> <change>` with our identity and the date below, so whoever repeats
 * them with plain git gets the same ids. Always a merge commit, with parents [commit before, change]; only a change the
 * commit before already contains adds none. Author and committer date: the later committer date of the two parents. Such a
 * date never depends on when the merge was made, and never lies before a parent.
 */
import { assertNever } from '../lib/assert-never.ts';
import type { Identity } from './environment.ts';
import { createLru } from './lru.ts';
import type { MergeTree } from './merge-tree.ts';
import type { ObjectId } from './object-id.ts';
import type { ObjectReader } from './object-reader.ts';
import type { ObjectWriter } from './object-writer.ts';

/** Zuul's merge modes; all but `merge` are refused with a typed outcome. */
export type MergeMode = 'merge' | 'merge-resolve' | 'cherry-pick' | 'squash-merge' | 'rebase';

export interface ChainStep {
  readonly change: ObjectId;
  /** Message of the merge commit. */
  readonly message: string;
  /** Default `merge`. */
  readonly mode?: MergeMode;
}

/** The state after one step. */
export interface ChainLink {
  readonly commit: ObjectId;
  readonly tree: ObjectId;
}

export type ChainOutcome =
  | { readonly kind: 'merged' /** One per step, in order. */; readonly links: readonly ChainLink[] }
  /** `at` is the index of the step that failed; `links` are those before it. */
  | {
      readonly kind: 'conflict';
      readonly at: number;
      readonly files: readonly string[];
      readonly links: readonly ChainLink[];
    }
  /** The change shares no commit with the branch. */
  | { readonly kind: 'unrelated'; readonly at: number; readonly links: readonly ChainLink[] }
  | { readonly kind: 'unsupported-mode'; readonly at: number; readonly mode: MergeMode };

type LinkOutcome =
  | { readonly kind: 'link'; readonly state: State }
  | { readonly kind: 'conflict'; readonly files: readonly string[] }
  | { readonly kind: 'unrelated' };

/** A link and the date its successor must not lie before: known here, it need not be read back. */
interface State extends ChainLink {
  readonly committedAt: number;
}

export interface MergeChainDeps {
  readonly reader: Pick<ObjectReader, 'commit'>;
  readonly writer: Pick<ObjectWriter, 'writeCommit'>;
  readonly mergeTree: Pick<MergeTree, 'merge'>;
  /** Whether `ancestor` is reachable from `descendant`. */
  readonly isAncestor: (ancestor: ObjectId, descendant: ObjectId) => Promise<boolean>;
  readonly identity: Identity;
  /** Links kept; default 10 000 (about 3 MB). */
  readonly capacity?: number;
}

export interface MergeChain {
  /** All commits named must be here. */
  merge(base: ObjectId, steps: readonly ChainStep[]): Promise<ChainOutcome>;
  /** Merges really made so far. */
  merges(): number;
  /** Forgets all links, after objects were pruned. */
  forget(): void;
}

export function createMergeChain(deps: MergeChainDeps): MergeChain {
  const links = createLru<string, Promise<LinkOutcome>>(deps.capacity ?? 10_000);
  let merges = 0;

  /** The link, made now or remembered; a failure to make it is not remembered. */
  function linkOf(before: State, step: ChainStep): Promise<LinkOutcome> {
    const key = JSON.stringify([before.commit, step.change, step.mode ?? 'merge', step.message]);
    const known = links.get(key);
    if (known !== undefined) return known;
    const made = makeLink(before, step);
    links.set(key, made);
    made.catch(() => links.delete(key));
    return made;
  }

  async function makeLink(before: State, step: ChainStep): Promise<LinkOutcome> {
    merges += 1;
    const [merged, change] = await Promise.all([
      deps.mergeTree.merge(before.commit, step.change),
      deps.reader.commit(step.change),
    ]);
    switch (merged.kind) {
      case 'clean':
        return writeLink(before, step, merged.tree, change.committedAt);
      case 'conflict':
      case 'unrelated':
        return merged;
      default:
        return assertNever(merged);
    }
  }

  async function writeLink(
    before: State,
    step: ChainStep,
    tree: ObjectId,
    changedAt: number,
  ): Promise<LinkOutcome> {
    // A contained change leaves the tree as it was, so the question is only worth a process then.
    if (tree === before.tree && (await deps.isAncestor(step.change, before.commit)))
      return { kind: 'link', state: before };
    const date = Math.max(before.committedAt, changedAt);
    const parents = [before.commit, step.change];
    const commit = await deps.writer.writeCommit({
      tree,
      parents,
      identity: deps.identity,
      date,
      message: step.message,
    });
    return { kind: 'link', state: { commit, tree, committedAt: date } };
  }

  return {
    merges: () => merges,
    forget: () => links.clear(),
    async merge(base, steps) {
      const unsupported = steps.findIndex(step => (step.mode ?? 'merge') !== 'merge');
      const mode = steps[unsupported]?.mode;
      if (mode !== undefined) return { kind: 'unsupported-mode', at: unsupported, mode };
      const done: ChainLink[] = [];
      const { tree, committedAt } = await deps.reader.commit(base);
      let before: State = { commit: base, tree, committedAt };
      for (const [at, step] of steps.entries()) {
        const link = await linkOf(before, step);
        if (link.kind !== 'link') return { ...link, at, links: done };
        before = link.state;
        done.push({ commit: before.commit, tree: before.tree });
      }
      return { kind: 'merged', links: done };
    },
  };
}
