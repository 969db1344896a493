/**
 * Puts the commits of a change on another state, one by one, oldest first: `rebase` as `git rebase <state> <change>`, `cherry-pick` as
 * `git cherry-pick` for each. The author, the author's date and the message of each stay.
 *
 *     its patch is on the other side already, or it changes nothing any more   left out
 *     it was empty from the start                                              kept, empty
 *     a merge                                                                  rebase leaves it out, with what was resolved in it;
 *                                                                              cherry-pick: the change is merged as a whole, as in Zuul
 *     its parent is the state already                                          rebase takes the commit itself, as git does
 */
import { authorshipOf } from '../objects/authorship.ts';
import type { ObjectId } from '../objects/object-id.ts';
import type { ObjectReader } from '../objects/object-reader.ts';
import { OverBudget } from '../objects/tree-budget.ts';
import type { LinkResult, LinkState } from './link.ts';
import type { OwnCommit, OwnCommits } from './own-commits.ts';
import { EMPTY_TREE, mergeTrees, type ThreeWayDeps } from './three-way.ts';

/** The mirror. */
export interface PickDeps extends ThreeWayDeps {
  readonly reader: Pick<ObjectReader, 'commit' | 'entry' | 'read'>;
  readonly ownCommits: OwnCommits;
  /** Checks that what the second tree changes in the first is small enough for git to read. @throws OverBudget */
  readonly weighTrees: (before: ObjectId, after: ObjectId) => Promise<void>;
}

/** `has-merges`: only for `cherry-pick`. */
export type PickResult = LinkResult | { readonly kind: 'has-merges' };

/** A commit of the change with its trees. */
interface Patch extends OwnCommit {
  readonly tree: ObjectId;
  readonly parentTree: ObjectId;
  readonly committedAt: number;
}

/** @throws Error when git fails for another reason than the change. */
export async function pickSeries(
  deps: PickDeps,
  before: LinkState,
  change: ObjectId,
  mode: 'rebase' | 'cherry-pick',
): Promise<PickResult> {
  const own = await deps.ownCommits.list(before.commit, change);
  if (own.kind === 'unrelated') return own;
  if (own.kind === 'too-many')
    return { kind: 'refused', text: `has more than ${own.limit} commits, too many to ${mode}` };
  if (own.commits.length === 0) return { kind: 'link', state: before };
  const single = own.commits.filter(({ parents }) => parents.length < 2);
  if (mode === 'cherry-pick' && single.length < own.commits.length) return { kind: 'has-merges' };
  const patches = await Promise.all(single.map(commit => patchOf(deps, commit)));
  const heavy = await tooHeavy(deps, patches);
  if (heavy !== undefined) return { kind: 'refused', text: heavy };
  const applied = await deps.ownCommits.applied(before.commit, change);
  return pickAll(deps, before, patches.filter(isWanted(applied)), mode);
}

/** An empty commit has the patch of every other empty one. */
function isWanted(applied: ReadonlySet<ObjectId>): (patch: Patch) => boolean {
  return ({ id, tree, parentTree }) => tree === parentTree || !applied.has(id);
}

async function patchOf({ reader }: PickDeps, commit: OwnCommit): Promise<Patch> {
  const [parent] = commit.parents;
  const { tree, committedAt } = await reader.commit(commit.id);
  const parentTree = parent === undefined ? EMPTY_TREE : (await reader.commit(parent)).tree;
  return { ...commit, tree, parentTree, committedAt };
}

/** git compares the trees of each commit: a change may be small as a whole, and hold a commit that is not. */
async function tooHeavy(deps: PickDeps, patches: readonly Patch[]): Promise<string | undefined> {
  for (const { id, parentTree, tree } of patches) {
    try {
      await deps.weighTrees(parentTree, tree);
    } catch (error) {
      if (!(error instanceof OverBudget) || error.of === 'time') throw error;
      return `has a commit, ${id.slice(0, 8)}, that cannot be picked: ${error.message}`;
    }
  }
  return undefined;
}

async function pickAll(
  deps: PickDeps,
  before: LinkState,
  patches: readonly Patch[],
  mode: 'rebase' | 'cherry-pick',
): Promise<LinkResult> {
  let state = before;
  for (const patch of patches) {
    const { id, tree, parentTree, committedAt } = patch;
    if (mode === 'rebase' && patch.parents[0] === state.commit) {
      state = { commit: id, tree, committedAt };
      continue;
    }
    const merged = await mergeTrees(deps, { base: parentTree, ours: state.tree, theirs: tree });
    if (merged.kind !== 'clean') return merged;
    if (merged.tree === state.tree && tree !== parentTree) continue;
    const next = await writePick(deps, state, patch, merged.tree);
    if (next === undefined)
      return {
        kind: 'refused',
        text: `has a commit, ${id.slice(0, 8)}, of more than ${LONGEST_COMMIT} bytes`,
      };
    state = next;
  }
  return { kind: 'link', state };
}

/** @returns undefined for a commit that is too long to be copied. */
async function writePick(
  { reader, writer, identity }: PickDeps,
  on: LinkState,
  { id, committedAt }: Patch,
  tree: ObjectId,
): Promise<LinkState | undefined> {
  const bytes = await readCommit(reader, id);
  if (bytes === undefined) return undefined;
  const { author, ...rest } = authorshipOf(bytes);
  const date = Math.max(on.committedAt, committedAt);
  const commit = await writer.writeCommit({
    ...{ tree, parents: [on.commit], identity, date },
    ...rest,
    ...(author === undefined ? {} : { author }),
  });
  return { commit, tree, committedAt: date };
}

/** Bytes of a commit that is copied, its message included. */
const LONGEST_COMMIT = 1024 * 1024;

/** The content of a commit object; undefined: it is longer than 1 MiB. */
export async function readCommit(
  reader: Pick<ObjectReader, 'read'>,
  id: ObjectId,
): Promise<Buffer | undefined> {
  const found = await reader.read(id, LONGEST_COMMIT);
  return found.kind === 'object' ? found.data : undefined;
}
