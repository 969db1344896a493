/**
 * Makes one link of a chain: the state after one change, in the way the project merges (Zuul's merge modes).
 *
 *     merge, merge-ort, merge-recursive   a merge commit; one strategy of git today
 *     merge-resolve                       the same without following renames
 *     squash-merge                        one commit on the state before, by the author of the change's head
 *     rebase, cherry-pick                 the change's commits one by one, see pick-series.ts
 *
 * A change that the state before already contains adds nothing in any mode. Every commit made here is a function of the state
 * before, the change, the mode and the message: the committer is our identity, the date the later one of state and change.
 */
import { assertNever } from '../../lib/assert-never.ts';
import { authorInUtf8, authorshipOf } from '../objects/authorship.ts';
import type { NewCommit } from '../objects/commit.ts';
import type { ObjectId } from '../objects/object-id.ts';
import type { LinkResult, LinkState } from './link.ts';
import type { MergeTree } from './merge-tree.ts';
import { type PickDeps, pickSeries, readCommit } from './pick-series.ts';

/** How a change becomes part of its branch, by Zuul's names. */
export type LinkMode =
  | 'merge'
  | 'merge-resolve'
  | 'merge-ort'
  | 'merge-recursive'
  | 'squash-merge'
  | 'rebase'
  | 'cherry-pick';

/** A change to put on a state. */
export interface LinkStep {
  readonly change: ObjectId;
  /** Message of a merge or squash commit. */
  readonly message: string;
  readonly mode: LinkMode;
}

/** The mirror the link is made in. */
export interface MakeLinkDeps extends PickDeps {
  /** Does not follow renames. */
  readonly resolve: Pick<MergeTree, 'merge'>;
  /** Whether `ancestor` is reachable from `descendant`. */
  readonly isAncestor: (ancestor: ObjectId, descendant: ObjectId) => Promise<boolean>;
}

/** @throws Error when git fails for another reason than the change. */
export async function makeLink(deps: MakeLinkDeps, before: LinkState, step: LinkStep): Promise<LinkResult> {
  const { mode } = step;
  switch (mode) {
    case 'merge':
    case 'merge-ort':
    case 'merge-recursive':
      return mergeLink(deps, before, step, deps.mergeTree);
    case 'merge-resolve':
      return mergeLink(deps, before, step, deps.resolve);
    case 'squash-merge':
      return squashLink(deps, before, step);
    case 'rebase':
    case 'cherry-pick': {
      const picked = await pickSeries(deps, before, step.change, mode);
      return picked.kind === 'has-merges' ? mergeLink(deps, before, step, deps.resolve) : picked;
    }
    default:
      return assertNever(mode, 'merge mode');
  }
}

async function mergeLink(
  deps: MakeLinkDeps,
  before: LinkState,
  step: LinkStep,
  mergeTree: Pick<MergeTree, 'merge'>,
): Promise<LinkResult> {
  const [merged, { committedAt }] = await Promise.all([
    mergeTree.merge(before.commit, step.change),
    deps.reader.commit(step.change),
  ]);
  if (merged.kind !== 'clean') return merged;
  const parents = [before.commit, step.change];
  return writeLink(deps, before, step, { tree: merged.tree, parents, committedAt, message: step.message });
}

async function squashLink(deps: MakeLinkDeps, before: LinkState, step: LinkStep): Promise<LinkResult> {
  const [merged, { committedAt }, bytes] = await Promise.all([
    deps.mergeTree.merge(before.commit, step.change),
    deps.reader.commit(step.change),
    readCommit(deps.reader, step.change),
  ]);
  if (merged.kind !== 'clean') return merged;
  const author = bytes === undefined ? undefined : authorInUtf8(authorshipOf(bytes));
  return writeLink(deps, before, step, {
    tree: merged.tree,
    parents: [before.commit],
    committedAt,
    message: step.message,
    ...(author === undefined ? {} : { author }),
  });
}

async function writeLink(
  deps: MakeLinkDeps,
  before: LinkState,
  { change }: LinkStep,
  { committedAt, ...commit }: Omit<NewCommit, 'identity' | 'date'> & { readonly committedAt: number },
): Promise<LinkResult> {
  // A contained change leaves the tree as it was; only then is a process worth its cost.
  if (commit.tree === before.tree && (await deps.isAncestor(change, before.commit)))
    return { kind: 'link', state: before };
  const date = Math.max(before.committedAt, committedAt);
  const id = await deps.writer.writeCommit({ ...commit, identity: deps.identity, date });
  return { kind: 'link', state: { commit: id, tree: commit.tree, committedAt: date } };
}
