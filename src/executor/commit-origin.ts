/**
 * Where a commit of a build came from, determined from the queue item the build is for. Pure.
 *
 *     merged    the tested merge of a branch: base and changes, in order      (`TestedMerge.branches`)
 *     at-ref    the tip of a branch, or the commit of a ref update            (`TestedMerge.heads`, `RefUpdate`)
 *
 * The result is self-contained: no other item, merger or event is needed to obtain the commit.
 */
import { type ObjectId, parseObjectId } from '../git/objects/object-id.ts';
import { parseRefName, type RefName } from '../git/objects/ref-name.ts';
import type { MergeRecipe } from '../git/remake-merge.ts';
import { testedMergeOf } from '../model/build-set.ts';
import type { MergedBranch } from '../model/merge.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { RepositoryRequest } from './deps.ts';

/** How a commit that is not in the mirror can be had: made again, fetched from a ref, or not at all. */
export type CommitOrigin =
  | { readonly kind: 'merged'; readonly recipe: MergeRecipe }
  | { readonly kind: 'at-ref'; readonly ref: RefName; readonly commit: ObjectId }
  /** Unknown, and why: an English clause. */
  | { readonly kind: 'unknown'; readonly reason: string };

/**
 * @param item undefined: it has left its pipeline.
 * @throws RangeError for a name or id git would refuse; the merger lets none through.
 */
export function commitOrigin(request: RepositoryRequest, item: QueueItem | undefined): CommitOrigin {
  const { build, project, commit, branch } = request;
  if (item === undefined) return unknown(`item ${build.item} has left the queue`);
  if (item.buildset.uuid !== build.buildset)
    return unknown(`buildset ${build.buildset} was replaced by ${item.buildset.uuid}`);
  const tested = testedMergeOf(item.buildset);
  const merged = tested?.branches.find(each => each.project === project && each.commit === commit);
  if (merged !== undefined) return mergedOrigin(merged);
  for (const change of item.changes) {
    if (change.kind === 'ref' && change.project === project && change.newCommit === commit)
      return atRef(change.ref, commit);
  }
  const head = tested?.heads.find(each => each.project === project && each.commit === commit);
  const name = head?.branch ?? branch;
  if (name === null) return unknown('it is neither a merge of this item nor the tip of a branch');
  return atRef(branchRef(name), commit);
}

function mergedOrigin({ branch, base, commit, inputs }: MergedBranch): CommitOrigin {
  // A change the branch already holds adds no merge: what is tested is the tip.
  if (commit === base) return atRef(branchRef(branch), commit);
  if (inputs === undefined) return unknown('how it was merged is not recorded any more');
  return {
    kind: 'merged',
    recipe: {
      branch: parseRefName(branchRef(branch)),
      base: parseObjectId(base),
      commit: parseObjectId(commit),
      inputs: inputs.map(input => ({
        ref: parseRefName(input.ref),
        commit: parseObjectId(input.commit),
        message: input.message,
        ...(input.mode === undefined ? {} : { mode: input.mode }),
      })),
    },
  };
}

function atRef(ref: string, commit: string): CommitOrigin {
  return { kind: 'at-ref', ref: parseRefName(ref), commit: parseObjectId(commit) };
}

function branchRef(branch: string): string {
  return `refs/heads/${branch}`;
}

function unknown(reason: string): CommitOrigin {
  return { kind: 'unknown', reason };
}
