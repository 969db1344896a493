/** How many conversations of a pull request are open, where its branch wants them resolved. */
import type { GithubAnswer, GithubApi, GithubCall } from '../api/port.ts';
import { MORE_THREADS, type MoreThreadsAnswer } from './query/more-threads.ts';
import { type NodePage, nodesOf, type PullNode, type ThreadNode } from './query/pull-state.ts';

/** Further pages: up to 1,000 conversations in all. Those beyond count as resolved. */
const MOST_PAGES = 9;

/**
 * Of those that were read with the pull request; where all of these are resolved the next ones are asked for, because one that is
 * open is reason enough to wait.
 *
 * @param mustBeResolved false: no rule asks for it, and nothing more is read.
 */
export async function openConversations(
  { number, reviewThreads }: Pick<PullNode, 'number' | 'reviewThreads'>,
  mustBeResolved: boolean,
  call: GithubCall,
  api: Pick<GithubApi, 'graphql'>,
): Promise<GithubAnswer<number>> {
  const [owner = '', name = ''] = call.repository.split('/');
  let page: NodePage<ThreadNode> | undefined = reviewThreads;
  let open = openOf(page);
  for (let pages = 0; mustBeResolved && open === 0 && pages < MOST_PAGES; pages += 1) {
    if (page?.pageInfo.hasNextPage !== true) break;
    const variables: { readonly [name: string]: unknown } = {
      owner,
      name,
      number,
      after: page.pageInfo.endCursor,
    };
    const answer: GithubAnswer<MoreThreadsAnswer> = await api.graphql(
      'more-threads',
      MORE_THREADS,
      variables,
      call,
    );
    if (answer.kind !== 'ok') return answer;
    page = answer.data.repository?.pullRequest?.reviewThreads;
    open = openOf(page);
  }
  return { kind: 'ok', status: 200, data: open };
}

function openOf(page: NodePage<ThreadNode> | undefined): number {
  return nodesOf(page).filter(({ isResolved }) => !isResolved).length;
}
