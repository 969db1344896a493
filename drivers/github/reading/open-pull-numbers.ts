/** Lists the open pull requests of a repository. A page of a hundred numbers costs GitHub a point. */
import { HostAway } from '../../../src/driver/host-away.ts';
import type { FoundChanges } from '../../../src/driver/source.ts';
import { changeKey } from '../../../src/model/change.ts';
import type { ProjectKey } from '../../../src/model/project.ts';
import type { GithubAnswer, GithubApi, GithubCall } from '../api/port.ts';
import { OPEN_NUMBERS, type OpenNumbersAnswer } from './query/open-numbers.ts';
import { type NodePage, nodesOf } from './query/pull-state.ts';

/** @throws HostAway when GitHub does not serve, or shows no such repository. */
export async function listOpenPulls(
  project: ProjectKey,
  most: number,
  call: GithubCall,
  api: Pick<GithubApi, 'graphql'>,
): Promise<FoundChanges> {
  const [owner = '', name = ''] = call.repository.split('/');
  const numbers = new Set<number>();
  let after: string | null = null;
  for (;;) {
    const answer: GithubAnswer<OpenNumbersAnswer> = await api.graphql<OpenNumbersAnswer>(
      'open-numbers',
      OPEN_NUMBERS,
      { owner, name, after },
      call,
    );
    if (answer.kind === 'refused')
      throw new HostAway({ reason: 'denied', text: `${call.repository}: ${answer.text}` });
    if (answer.kind !== 'ok') throw new HostAway(answer.later);
    const page: NodePage<{ readonly number: number }> | undefined = answer.data.repository?.pullRequests;
    const before = numbers.size;
    for (const { number } of nodesOf(page)) numbers.add(number);
    const isMore = page?.pageInfo.hasNextPage === true;
    // A page without a new one would come again for ever.
    if (!isMore || numbers.size >= most || numbers.size === before) {
      const changes = [...numbers].slice(0, most).map(number => changeKey(project, String(number)));
      return { changes, isMore: isMore || numbers.size > most };
    }
    after = page.pageInfo.endCursor;
  }
}
