/** The query that a landing asks directly before it writes: pull request, branch and staging branch in one answer. */

/** `branch`, `staging`: full names. */
export const LANDING_STATE = `query LandingState($owner: String!, $name: String!, $number: Int!, $branch: String!, $staging: String!) {
  repository(owner: $owner, name: $name) {
    branch: ref(qualifiedName: $branch) { target { oid ... on Commit { tree { oid } } } }
    staging: ref(qualifiedName: $staging) { target { oid } }
    pullRequest(number: $number) {
      state merged mergeable headRefOid baseRefName
      mergeCommit { oid tree { oid } }
    }
  }
}`;

/** The answer to {@link LANDING_STATE}. */
export interface LandingStateAnswer {
  readonly repository: {
    /** Null: there is no such branch. */
    readonly branch: { readonly target: CommitNode | null } | null;
    readonly staging: { readonly target: { readonly oid: string } | null } | null;
    readonly pullRequest: {
      readonly state: 'OPEN' | 'CLOSED' | 'MERGED';
      readonly merged: boolean;
      readonly mergeable: 'MERGEABLE' | 'CONFLICTING' | 'UNKNOWN';
      readonly headRefOid: string;
      readonly baseRefName: string;
      /** Null: it is not merged, or GitHub does not show the commit yet. */
      readonly mergeCommit: (CommitNode & { readonly tree: TreeNode }) | null;
    } | null;
  } | null;
}

interface TreeNode {
  readonly oid: string;
}

interface CommitNode {
  readonly oid: string;
  readonly tree?: TreeNode;
}
