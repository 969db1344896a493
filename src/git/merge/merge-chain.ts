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
 * In the mode `merge` links equal those of `git merge --no-ff -m <message> <change>` with our identity and the date below, so plain
 * git makes the same ids: always a merge commit, with parents [commit before, change]; only a change the commit before already
 * contains adds none. The other modes are in make-link.ts. Author and committer date: the later committer date of the two parents.
 * Such a date never depends on when the merge was made, and never lies before a parent.
 */
import { lastToTouch } from '../objects/last-to-touch.ts';
import type { ObjectId } from '../objects/object-id.ts';
import { createLru } from '../support/lru.ts';
import type { LinkState } from './link.ts';
import { type LinkMode, type MakeLinkDeps, makeLink } from './make-link.ts';

/** A change to merge, and how. */
export interface ChainStep {
  readonly change: ObjectId;
  /** Message of the merge commit. */
  readonly message: string;
  /** Default `merge`. */
  readonly mode?: LinkMode;
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
  /** See `LinkResult`. */
  | {
      readonly kind: 'refused';
      readonly at: number;
      readonly text: string;
      readonly links: readonly ChainLink[];
    };

/** Why a step could not be merged. */
type StepFailure =
  /** `with`: the last change of the chain that touched one of the files; undefined: none did. */
  | { readonly kind: 'conflict'; readonly files: readonly string[]; readonly with: ObjectId | undefined }
  | { readonly kind: 'unrelated' }
  | { readonly kind: 'refused'; readonly text: string };

/** The outcome of steps that are merged together or not at all. */
export type GroupOutcome =
  | { readonly kind: 'merged' /** One per step, in order. */; readonly links: readonly ChainLink[] }
  /** `at` is the index of the step that failed. */
  | { readonly kind: 'left-out'; readonly at: number; readonly because: StepFailure };

type LinkOutcome = { readonly kind: 'link'; readonly state: State } | StepFailure;

interface State extends LinkState {
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
export interface MergeChainDeps extends MakeLinkDeps {
  /** Links kept; default 10 000 (about 3 MB). */
  readonly capacity?: number;
}

/** The cached merges of one mirror, in the memory of one process. */
export interface MergeChain {
  /** All commits must be in the mirror. */
  merge(base: ObjectId, steps: readonly ChainStep[]): Promise<ChainOutcome>;
  /** Continues past groups that cannot be merged: one outcome per group, each on top of those before it that were merged. */
  mergePast(base: ObjectId, groups: readonly (readonly ChainStep[])[]): Promise<readonly GroupOutcome[]>;
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
    const made = make(trail, step);
    links.set(key, made);
    made.catch(() => links.delete(key));
    return made;
  }

  async function make(trail: Trail, { mode = 'merge', ...step }: ChainStep): Promise<LinkOutcome> {
    merges += 1;
    const made = await makeLink(deps, lastOf(trail), { ...step, mode });
    if (made.kind === 'link') return { kind: 'link', state: { ...made.state, change: step.change } };
    if (made.kind !== 'conflict') return made;
    return { ...made, with: await lastToTouch(deps.reader, trail, made.files) };
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
      const made = await extend(await startOf(base), steps);
      const done = linksFrom(made.trail, 1);
      if (made.kind === 'merged') return { kind: 'merged', links: done };
      const { at, because } = made;
      return because.kind === 'conflict'
        ? { kind: 'conflict', at, files: because.files, links: done }
        : { ...because, at, links: done };
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
