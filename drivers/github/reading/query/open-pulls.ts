/** The query that reads open pull requests, some at a time, those updated last first. */
import {
  type NodePage,
  PULL_FIELDS,
  type PullNode,
  REPOSITORY_FIELDS,
  type RepositoryNode,
} from './pull-state.ts';

/** Pull requests of one page: each has up to 600 nodes below it, of which GitHub allows 500 000 in one query. */
const AT_ONCE = 25;

/** Open pull requests with all that {@link import('./pull-state.ts').PULL_STATE} reads. */
export const OPEN_PULLS = `query OpenPulls($owner: String!, $name: String!, $after: String, $email: Boolean!) {
  repository(owner: $owner, name: $name) {
    ${REPOSITORY_FIELDS}
    pullRequests(states: OPEN, first: ${AT_ONCE}, after: $after, orderBy: { field: UPDATED_AT, direction: DESC }) {
      pageInfo { hasNextPage endCursor }
      nodes { ...PullFields }
    }
  }
}
${PULL_FIELDS}`;

/** The answer to {@link OPEN_PULLS}. */
export interface OpenPullsAnswer {
  readonly repository: (RepositoryNode & { readonly pullRequests: NodePage<PullNode> }) | null;
}
