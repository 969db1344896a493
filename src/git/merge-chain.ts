/**
 * Speculative merges that are never made twice.
 *
 * A queue of changes A, B, C on a branch tip T is a chain of merge commits: (T+A), ((T+A)+B), … Each link is a pure
 * function of the commit before it, the change, the mode and the message, so it is cached under exactly these, and a
 * request for the item at position k finds k−1 links: one merge, at any depth. After the gate landed A, the tip *is*
 * the link (T+A) and B's link is found again under it.
 *
 *     await chain.merge(tip, [a, b])      → two merges
 *     await chain.merge(tip, [a, b, c])   → one more
 *     await chain.merge(tip, [a, c])      → B fell out: one more, C on (T+A)
 *     await chain.mergePast(tip, [[a], [b], [c]])   → the same if B conflicts, and B's verdict
 *
 * Links equal those of `git merge --no-ff -m <message> <change>` with our identity and the date below, so plain git makes the
 * same ids. Always a merge commit, with parents [commit before, change]; only a change the
 * commit before already contains adds none. Author and committer date: the later committer date of the two parents. Such a
 * date never depends on when the merge was made, and never lies before a parent.
 */
import { assertNever } from '../lib/assert-never.ts';
import type { Identity } from './environment.ts';
import { lastToTouch } from './last-to-touch.ts';
import { createLru } from './lru.ts';
import type { MergeTree } from './merge-tree.ts';
import type { ObjectId } from './object-id.ts';
import type { ObjectReader } from './object-reader.ts';
import type { ObjectWriter } from './object-writer.ts';

/** Zuul's merge modes; all but `merge` are refused with a typed outcome. */
type MergeMode = 'merge' | 'merge-resolve' | 'cherry-pick' | 'squash-merge' | 'rebase';

interface ChainStep {
  readonly change: ObjectId;
  /** Message of the merge commit. */
  readonly message: string;
  /** Default `merge`. */
  readonly mode?: MergeMode;
}

/** The state after one step. */
interface ChainLink {
  readonly commit: ObjectId;
  readonly tree: ObjectId;
}

/** Of steps on one base. All `links` are commits in the mirror, also those before a step that failed. */
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

/** Why a step could not be merged. */
type StepFailure =
  /** `with`: the last change of the chain that touched one of the files; undefined: none did. */
  | { readonly kind: 'conflict'; readonly files: readonly string[]; readonly with: ObjectId | undefined }
  | { readonly kind: 'unrelated' };

/** The outcome of steps that are merged together or not at all. */
export type GroupOutcome =
  | { readonly kind: 'merged' /** One per step, in order. */; readonly links: readonly ChainLink[] }
  /** `at` is the index of the step that failed. */
  | { readonly kind: 'left-out'; readonly at: number; readonly because: StepFailure };

type LinkOutcome = { readonly kind: 'link'; readonly state: State } | StepFailure;

/** A link and its date, before which its successor must not lie: kept here so that it need not be read back. */
interface State extends ChainLink {
  readonly committedAt: number;
  /** What was merged last; null: this is the base. */
  readonly change: ObjectId | null;
}

/** States from the base on. Never empty. */
type Trail = readonly [State, ...State[]];

type Extension =
  | { readonly kind: 'merged'; readonly trail: Trail }
  /** `trail` ends before the step that failed. */
  | { readonly kind: 'failed'; readonly at: number; readonly because: StepFailure; readonly trail: Trail };

/** The mirror the chains are in. */
export interface MergeChainDeps {
  readonly reader: Pick<ObjectReader, 'commit' | 'entry'>;
  readonly writer: Pick<ObjectWriter, 'writeCommit'>;
  readonly mergeTree: Pick<MergeTree, 'merge'>;
  /** Whether `ancestor` is reachable from `descendant`. */
  readonly isAncestor: (ancestor: ObjectId, descendant: ObjectId) => Promise<boolean>;
  readonly identity: Identity;
  /** Links kept; default 10 000 (about 3 MB). */
  readonly capacity?: number;
}

/** The cached merges of one mirror, in the memory of one process. */
export interface MergeChain {
  /** All commits must be in the mirror. */
  merge(base: ObjectId, steps: readonly ChainStep[]): Promise<ChainOutcome>;
  /** Continues past groups that cannot be merged: one outcome per group, each on top of those before it that were merged. All modes are `merge`. */
  mergePast(
    base: ObjectId,
    groups: readonly (readonly Omit<ChainStep, 'mode'>[])[],
  ): Promise<readonly GroupOutcome[]>;
  /** Merges made so far, without those found in the cache. */
  merges(): number;
  /** Forgets all links, after objects were pruned. */
  forget(): void;
}

/** Begins with an empty cache: a new process makes its first merges again, with the same ids. */
export function createMergeChain(deps: MergeChainDeps): MergeChain {
  const links = createLru<string, Promise<LinkOutcome>>(deps.capacity ?? 10_000);
  let merges = 0;

  /** The link, from the cache or made now; failures are not cached. */
  function linkOf(trail: Trail, step: ChainStep): Promise<LinkOutcome> {
    const key = JSON.stringify([lastOf(trail).commit, step.change, step.mode ?? 'merge', step.message]);
    const known = links.get(key);
    if (known !== undefined) return known;
    const made = makeLink(trail, step);
    links.set(key, made);
    made.catch(() => links.delete(key));
    return made;
  }

  async function makeLink(trail: Trail, step: ChainStep): Promise<LinkOutcome> {
    merges += 1;
    const before = lastOf(trail);
    const [merged, change] = await Promise.all([
      deps.mergeTree.merge(before.commit, step.change),
      deps.reader.commit(step.change),
    ]);
    switch (merged.kind) {
      case 'clean':
        return writeLink(before, step, merged.tree, change.committedAt);
      case 'conflict':
        return { ...merged, with: await lastToTouch(deps.reader, trail, merged.files) };
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
    // A contained change leaves the tree as it was; only then is a process worth its cost.
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
    return { kind: 'link', state: { commit, tree, committedAt: date, change: step.change } };
  }

  async function startOf(base: ObjectId): Promise<Trail> {
    const { tree, committedAt } = await deps.reader.commit(base);
    return [{ commit: base, tree, committedAt, change: null }];
  }

  async function extend(start: Trail, steps: readonly ChainStep[]): Promise<Extension> {
    const trail: [State, ...State[]] = [...start];
    for (const [at, step] of steps.entries()) {
      const link = await linkOf(trail, step);
      if (link.kind !== 'link') return { kind: 'failed', at, because: link, trail };
      trail.push(link.state);
    }
    return { kind: 'merged', trail };
  }

  return {
    merges: () => merges,
    forget: () => links.clear(),
    async merge(base, steps) {
      const unsupported = steps.findIndex(step => (step.mode ?? 'merge') !== 'merge');
      const mode = steps[unsupported]?.mode;
      if (mode !== undefined) return { kind: 'unsupported-mode', at: unsupported, mode };
      const made = await extend(await startOf(base), steps);
      const done = linksFrom(made.trail, 1);
      if (made.kind === 'merged') return { kind: 'merged', links: done };
      const { at, because } = made;
      return because.kind === 'unrelated'
        ? { kind: 'unrelated', at, links: done }
        : { kind: 'conflict', at, files: because.files, links: done };
    },
    async mergePast(base, groups) {
      const outcomes: GroupOutcome[] = [];
      let trail = await startOf(base);
      for (const steps of groups) {
        const made = await extend(trail, steps);
        if (made.kind === 'failed') {
          outcomes.push({ kind: 'left-out', at: made.at, because: made.because });
          continue;
        }
        outcomes.push({ kind: 'merged', links: linksFrom(made.trail, trail.length) });
        trail = made.trail;
      }
      return outcomes;
    },
  };
}

function lastOf(trail: Trail): State {
  return trail.at(-1) ?? trail[0];
}

function linksFrom(trail: Trail, from: number): readonly ChainLink[] {
  return trail.slice(from).map(({ commit, tree }) => ({ commit, tree }));
}
