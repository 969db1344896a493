/** The query for the open pull requests of a repository, by their numbers alone. */
import { type NodePage, PAGE } from './pull-state.ts';

/** One page. */
export const OPEN_NUMBERS = `query OpenNumbers($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    pullRequests(states: OPEN, first: ${PAGE}, after: $after) { pageInfo { hasNextPage endCursor } nodes { number } }
  }
}`;

/** The answer to {@link OPEN_NUMBERS}. */
export interface OpenNumbersAnswer {
  readonly repository: { readonly pullRequests: NodePage<{ readonly number: number }> } | null;
}
