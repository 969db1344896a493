/** The query for branches that their protection makes read-only. */
import type { NodeList, NodePage } from './pull-state.ts';

/** Protection rules with the branches they are for. */
export const LOCKED_BRANCHES = `query LockedBranches($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    branchProtectionRules(first: 25, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { lockBranch matchingRefs(first: 100) { nodes { name } } }
    }
  }
}`;

/** One rule, with the first hundred of its branches. */
export interface LockRule {
  readonly lockBranch: boolean;
  readonly matchingRefs: NodeList<{ readonly name: string }>;
}

/** The answer to {@link LOCKED_BRANCHES}. */
export interface LockedBranchesAnswer {
  readonly repository: { readonly branchProtectionRules: NodePage<LockRule> } | null;
}
