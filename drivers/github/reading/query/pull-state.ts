/** The one query by which a pull request is read, and the form of its answer. */

/** Of each connection below: GitHub returns no more than 100 nodes at a time. */
export const PAGE = 100;

/** Fields of a context of a commit. */
export const CONTEXT_FIELDS = `
  pageInfo { hasNextPage endCursor }
  nodes {
    __typename
    ... on StatusContext { context state createdAt creator { __typename login } }
    ... on CheckRun { databaseId name status conclusion checkSuite { app { databaseId slug } } }
  }`;

/** Fields of a branch's protection. */
export const PROTECTION_FIELDS = `branchProtectionRule {
      requiresStatusChecks requiresStrictStatusChecks requiredStatusChecks { context app { databaseId } }
      requiresApprovingReviews requiredApprovingReviewCount requiresCodeOwnerReviews
      requiresConversationResolution requiresLinearHistory requiresCommitSignatures
      lockBranch restrictsPushes
    }`;

/** Fields of the conversations of a pull request. */
export const THREAD_FIELDS = 'pageInfo { hasNextPage endCursor } nodes { isResolved }';

/** Fields of a pull request; a query that uses them has `$email: Boolean!`. */
export const PULL_FIELDS = `fragment PullFields on PullRequest {
  id number title body url state isDraft createdAt updatedAt
  author { __typename login }
  baseRefName baseRefOid headRefName headRefOid
  headRepository { nameWithOwner }
  mergeable reviewDecision changedFiles
  labels(first: ${PAGE}) { nodes { name } }
  latestOpinionatedReviews(first: ${PAGE}) {
    nodes {
      state submittedAt authorAssociation authorCanPushToRepository
      author { __typename login ... on User { email @include(if: $email) } }
      commit { oid }
    }
  }
  reviewThreads(first: ${PAGE}) { ${THREAD_FIELDS} }
  files(first: ${PAGE}) { nodes { path } }
  baseRef {
    ${PROTECTION_FIELDS}
  }
  commits(last: 1) {
    nodes { commit { oid statusCheckRollup { contexts(first: ${PAGE}) { ${CONTEXT_FIELDS} } } } }
  }
}`;

/** Fields of the repository that decide how a pull request may land. */
export const REPOSITORY_FIELDS =
  'nameWithOwner isArchived mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed';

/** `email`: addresses of profiles, which a token without the scope for them is refused. */
export const PULL_STATE = `query PullState($owner: String!, $name: String!, $number: Int!, $email: Boolean!) {
  repository(owner: $owner, name: $name) {
    ${REPOSITORY_FIELDS}
    pullRequest(number: $number) {
      ...PullFields
      comments(last: ${PAGE}) { totalCount nodes { id viewerDidAuthor } }
    }
  }
}
${PULL_FIELDS}`;

/** A list without its empty places. */
export interface NodeList<T> {
  readonly nodes: readonly (T | null)[] | null;
}

/** A list that may go on. */
export interface NodePage<T> extends NodeList<T> {
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** A person, an App or an organization. */
export interface Account {
  /** `Bot`: the account of an App, whose `login` lacks its `[bot]` here. Absent: not asked for. */
  readonly __typename?: string;
  readonly login: string;
  /** Empty: hidden. Absent: not asked for, or the account is no person. */
  readonly email?: string;
}

/** An answer's context; which fields there are depends on `__typename`. */
export type ContextNode =
  | {
      readonly __typename: 'StatusContext';
      readonly context: string;
      readonly state: string;
      readonly createdAt: string;
      readonly creator: Account | null;
    }
  | {
      readonly __typename: 'CheckRun';
      readonly databaseId: number | null;
      readonly name: string;
      readonly status: string;
      readonly conclusion: string | null;
      readonly checkSuite: {
        readonly app: { readonly databaseId: number | null; readonly slug: string } | null;
      } | null;
    };

/** A review that approves, requests changes, or did so before it was dismissed. */
export interface ReviewNode {
  readonly state: string;
  readonly submittedAt: string | null;
  readonly authorAssociation: string;
  readonly authorCanPushToRepository: boolean;
  readonly author: Account | null;
  readonly commit: { readonly oid: string } | null;
}

/** A conversation about a line. */
export interface ThreadNode {
  readonly isResolved: boolean;
}

/** Branch protection, as far as the credentials may see it. */
export interface ProtectionNode {
  readonly requiresStatusChecks: boolean;
  readonly requiresStrictStatusChecks: boolean;
  readonly requiredStatusChecks:
    | readonly { readonly context: string; readonly app: { readonly databaseId: number | null } | null }[]
    | null;
  readonly requiresApprovingReviews: boolean;
  readonly requiredApprovingReviewCount: number | null;
  readonly requiresCodeOwnerReviews: boolean;
  readonly requiresConversationResolution: boolean;
  readonly requiresLinearHistory: boolean;
  readonly requiresCommitSignatures: boolean;
  readonly lockBranch: boolean;
  readonly restrictsPushes: boolean;
}

/** The fields of {@link PULL_FIELDS}. */
export interface PullNode {
  readonly id: string;
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly url: string;
  readonly state: 'OPEN' | 'CLOSED' | 'MERGED';
  readonly isDraft: boolean;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly author: Account | null;
  readonly baseRefName: string;
  readonly baseRefOid: string;
  readonly headRefName: string;
  readonly headRefOid: string;
  readonly headRepository: { readonly nameWithOwner: string } | null;
  readonly mergeable: string;
  readonly reviewDecision: string | null;
  readonly changedFiles: number;
  readonly labels: NodeList<{ readonly name: string }> | null;
  readonly latestOpinionatedReviews: NodeList<ReviewNode> | null;
  readonly reviewThreads: NodePage<ThreadNode>;
  readonly files: NodeList<{ readonly path: string }> | null;
  readonly baseRef: { readonly branchProtectionRule: ProtectionNode | null } | null;
  readonly commits: NodeList<{
    readonly commit: {
      readonly oid: string;
      readonly statusCheckRollup: { readonly contexts: NodePage<ContextNode> } | null;
    };
  }>;
}

/** The fields of {@link REPOSITORY_FIELDS}. */
export interface RepositoryNode {
  /** Another than asked for: the repository was renamed or transferred. */
  readonly nameWithOwner: string;
  readonly isArchived: boolean;
  readonly mergeCommitAllowed: boolean;
  readonly squashMergeAllowed: boolean;
  readonly rebaseMergeAllowed: boolean;
}

/** The last comments of a pull request. */
export interface CommentsNode {
  readonly comments: NodeList<{ readonly id: string; readonly viewerDidAuthor: boolean }> & {
    readonly totalCount: number;
  };
}

/** The answer to {@link PULL_STATE}. */
export interface PullStateAnswer {
  readonly repository: (RepositoryNode & { readonly pullRequest: (PullNode & CommentsNode) | null }) | null;
}

/** The values of a list that are there. */
export function nodesOf<T>(list: NodeList<T> | null | undefined): readonly T[] {
  return (list?.nodes ?? []).filter(node => node !== null);
}
