/** Queries about a commit: further contexts of it, and the pull requests that it is the head of. */
import { CONTEXT_FIELDS, type ContextNode, type NodeList, type NodePage, PAGE } from './pull-state.ts';

/** The contexts of a commit behind those that {@link import('./pull-state.ts').PULL_STATE} answers. */
export const MORE_CONTEXTS = `query MoreContexts($owner: String!, $name: String!, $commit: GitObjectID!, $after: String!) {
  repository(owner: $owner, name: $name) {
    object(oid: $commit) {
      ... on Commit { statusCheckRollup { contexts(first: ${PAGE}, after: $after) { ${CONTEXT_FIELDS} } } }
    }
  }
}`;

/** The answer to {@link MORE_CONTEXTS}. */
export interface MoreContextsAnswer {
  readonly repository: {
    readonly object: {
      readonly statusCheckRollup?: { readonly contexts: NodePage<ContextNode> } | null;
    } | null;
  } | null;
}

/** Pull requests that GitHub associates with a commit; those that have it as their head are among them. */
export const COMMIT_PULLS = `query CommitPulls($owner: String!, $name: String!, $commit: GitObjectID!) {
  repository(owner: $owner, name: $name) {
    object(oid: $commit) {
      ... on Commit { associatedPullRequests(first: 25) { nodes { number state headRefOid } } }
    }
  }
}`;

/** The answer to {@link COMMIT_PULLS}. */
export interface CommitPullsAnswer {
  readonly repository: {
    readonly object: {
      readonly associatedPullRequests?: NodeList<{
        readonly number: number;
        readonly state: string;
        readonly headRefOid: string;
      }> | null;
    } | null;
  } | null;
}
