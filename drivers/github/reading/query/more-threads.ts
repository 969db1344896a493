/** The query for the conversations of a pull request behind those that are read with it. */
import { type NodePage, PAGE, THREAD_FIELDS, type ThreadNode } from './pull-state.ts';

/** One further page. */
export const MORE_THREADS = `query MoreThreads($owner: String!, $name: String!, $number: Int!, $after: String!) {
  repository(owner: $owner, name: $name) {
    pullRequest(number: $number) { reviewThreads(first: ${PAGE}, after: $after) { ${THREAD_FIELDS} } }
  }
}`;

/** The answer to {@link MORE_THREADS}. */
export interface MoreThreadsAnswer {
  readonly repository: {
    readonly pullRequest: { readonly reviewThreads: NodePage<ThreadNode> } | null;
  } | null;
}
