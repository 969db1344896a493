/** The query for what a repository grants and demands, without its pull requests. */
import {
  PROTECTION_FIELDS,
  type ProtectionNode,
  REPOSITORY_FIELDS,
  type RepositoryNode,
} from './pull-state.ts';

/** The default branch with its protection, and what the credentials may do. */
export const REPOSITORY_STATE = `query RepositoryState($owner: String!, $name: String!) {
  repository(owner: $owner, name: $name) {
    ${REPOSITORY_FIELDS}
    viewerPermission
    defaultBranchRef { name ${PROTECTION_FIELDS} }
  }
}`;

/** A branch with its protection. */
export interface ProtectedRef {
  readonly name: string;
  readonly branchProtectionRule: ProtectionNode | null;
}

/** The answer to {@link REPOSITORY_STATE}. */
export interface RepositoryStateAnswer {
  readonly repository:
    | (RepositoryNode & {
        /** Role of the token's user, e.g. `WRITE`; null: the credentials are no user's. */
        readonly viewerPermission: string | null;
        /** Null: the repository is empty. */
        readonly defaultBranchRef: ProtectedRef | null;
      })
    | null;
}

/** Another branch with its protection. */
export const BRANCH_STATE = `query BranchState($owner: String!, $name: String!, $ref: String!) {
  repository(owner: $owner, name: $name) { ref(qualifiedName: $ref) { name ${PROTECTION_FIELDS} } }
}`;

/** The answer to {@link BRANCH_STATE}; null: GitHub shows no such branch any more. */
export interface BranchStateAnswer {
  readonly repository: { readonly ref: ProtectedRef | null } | null;
}
