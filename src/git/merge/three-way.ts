/**
 * Merges three trees: what changed from `base` to `theirs` is applied to `ours`. `git merge-tree` finds the base by itself, from the
 * history of two commits (one can be given since 2.40 only). So each tree gets a commit of its own that nothing refers to: the base a
 * root, the others its children.
 */

import { type ObjectId, parseObjectId } from '../objects/object-id.ts';
import type { ObjectWriter } from '../objects/object-writer.ts';
import type { Identity } from '../process/environment.ts';
import type { MergeTree, MergeTreeResult } from './merge-tree.ts';

/** The tree of no files; git knows it without having it. */
export const EMPTY_TREE = parseObjectId('4b825dc642cb6eb9a060e54bf8d69288fbee4904');

/** The repository of the trees. */
export interface ThreeWayDeps {
  readonly mergeTree: Pick<MergeTree, 'merge'>;
  readonly writer: Pick<ObjectWriter, 'writeCommit'>;
  readonly identity: Identity;
}

/** Never `unrelated`. @throws Error as `MergeTree.merge`. */
export async function mergeTrees(
  deps: ThreeWayDeps,
  { base, ours, theirs }: { readonly base: ObjectId; readonly ours: ObjectId; readonly theirs: ObjectId },
): Promise<MergeTreeResult> {
  if (base === theirs || ours === theirs) return { kind: 'clean', tree: ours };
  if (base === ours) return { kind: 'clean', tree: theirs };
  const commit = (tree: ObjectId, parents: readonly ObjectId[]) =>
    deps.writer.writeCommit({ tree, parents, identity: deps.identity, date: 0, message: 'merge base' });
  const root = await commit(base, []);
  const [left, right] = await Promise.all([commit(ours, [root]), commit(theirs, [root])]);
  return deps.mergeTree.merge(left, right);
}
