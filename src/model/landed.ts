/**
 * What a code host says its branches hold after it landed a change.
 *
 * The tree is what was tested; the commit is the host's choice. A host that takes a push has exactly the tested commit, one that
 * merges by itself makes another. Items behind were tested on the tree, so the tree decides whether they go on.
 */
import type { TestedMerge } from './build-set.ts';
import type { BranchName, CommitId, ProjectKey } from './project.ts';

/** `push`: exactly the tested commit. `api`: the host merges and makes a commit of its own. */
export type LandingMode = 'push' | 'api';

/** One branch after a landing, as its host reported it. */
export interface LandedBranch {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  readonly commit: CommitId;
  /** Of that commit, as the host has it. */
  readonly tree: string;
}

/**
 * Empty: nothing has landed. `as-tested`: exactly the tested commits, which the record does not name.
 */
export type Landed = readonly LandedBranch[] | 'as-tested';

/** Whether anything landed. */
export function hasLanded(landed: Landed): boolean {
  return landed === 'as-tested' || landed.length > 0;
}

interface Snapshot {
  readonly commit: CommitId;
  readonly tree: string;
}

/** A branch of a change that has landed: what it was tested as, and what the branch holds now. */
export interface BranchAfter {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  readonly tested: Snapshot;
  readonly now: Snapshot;
}

/** Every branch of the tested merge; one that did not move in this landing holds what was tested, one that moved twice its last state. */
export function branchesAfter(tested: TestedMerge | null, landed: Landed): readonly BranchAfter[] {
  return (tested?.branches ?? []).map(({ project, branch, commit, tree }) => {
    const own =
      landed === 'as-tested'
        ? undefined
        : landed.findLast(each => each.project === project && each.branch === branch);
    const now = own === undefined ? { commit, tree } : { commit: own.commit, tree: own.tree };
    return { project, branch, tested: { commit, tree }, now };
  });
}
