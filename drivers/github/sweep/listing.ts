/** Asks GitHub for listings of many repositories, in batches of one owner: an installation of the App has one owner. */
import type { GithubAnswer, GithubApi, GithubCall } from '../api/port.ts';
import { nodesOf } from '../reading/query/pull-state.ts';
import {
  type ListedRepository,
  type ListingAnswer,
  listingQuery,
  MORE_BRANCHES,
  type MoreBranchesAnswer,
  REPOSITORIES_AT_ONCE,
} from './listing-query.ts';

/** What GitHub lists of one repository; undefined: it does not serve it now, or shows no such repository. */
export type Listings = ReadonlyMap<string, ListedRepository | undefined>;

/** @param repositories `owner/name` each. @param call without the repository. */
export async function listRepositories(
  repositories: readonly string[],
  api: Pick<GithubApi, 'graphql'>,
  call: Omit<GithubCall, 'repository'>,
): Promise<Listings> {
  const listings = new Map<string, ListedRepository | undefined>();
  for (const batch of batchesOf(repositories)) {
    call.signal.throwIfAborted();
    for (const [name, listed] of await listBatch(batch, api, call))
      listings.set(name, listed && (await withMoreBranches(name, listed, api, call)));
  }
  return listings;
}

/**
 * Pages of branches of one repository: 1,000 branches. Pushes to further ones are found when their webhooks are delivered again, and
 * that they are gone is found then only.
 */
const MOST_PAGES = 10;

/** Where GitHub does not serve a page the listing says that there are more branches. */
async function withMoreBranches(
  repository: string,
  listed: ListedRepository,
  api: Pick<GithubApi, 'graphql'>,
  call: Omit<GithubCall, 'repository'>,
): Promise<ListedRepository> {
  const [owner = '', name = ''] = repository.split('/');
  let { refs } = listed;
  for (let pages = 1; pages < MOST_PAGES && refs?.pageInfo.hasNextPage === true; pages += 1) {
    const variables = { owner, name, after: refs.pageInfo.endCursor };
    const answer: GithubAnswer<MoreBranchesAnswer> = await api.graphql<MoreBranchesAnswer>(
      'sweep-branches',
      MORE_BRANCHES,
      variables,
      { ...call, repository },
    );
    const more = answer.kind === 'ok' ? (answer.data.repository?.refs ?? undefined) : undefined;
    if (more === undefined) break;
    refs = { pageInfo: more.pageInfo, nodes: [...nodesOf(refs), ...nodesOf(more)] };
  }
  return { ...listed, refs };
}

/** A query that names a repository GitHub does not show is refused as a whole: then each is asked for alone. */
async function listBatch(
  batch: readonly string[],
  api: Pick<GithubApi, 'graphql'>,
  call: Omit<GithubCall, 'repository'>,
): Promise<readonly (readonly [string, ListedRepository | undefined])[]> {
  const answer = await ask(batch, api, call);
  if (answer.kind === 'ok')
    return batch.map((name, index) => [name, answer.data[`r${index}`] ?? undefined] as const);
  if (answer.kind !== 'refused' || batch.length === 1) return batch.map(name => [name, undefined] as const);
  const alone: (readonly [string, ListedRepository | undefined])[] = [];
  for (const name of batch) alone.push(...(await listBatch([name], api, call)));
  return alone;
}

function batchesOf(repositories: readonly string[]): readonly (readonly string[])[] {
  const owners = Map.groupBy(repositories.toSorted(), name => name.split('/')[0]?.toLowerCase());
  return [...owners.values()].flatMap(names =>
    Array.from({ length: Math.ceil(names.length / REPOSITORIES_AT_ONCE) }, (_, index) =>
      names.slice(index * REPOSITORIES_AT_ONCE, (index + 1) * REPOSITORIES_AT_ONCE),
    ),
  );
}

function ask(
  batch: readonly string[],
  api: Pick<GithubApi, 'graphql'>,
  call: Omit<GithubCall, 'repository'>,
): Promise<GithubAnswer<ListingAnswer>> {
  const variables = Object.fromEntries(
    batch.flatMap((full, index) => {
      const [owner = '', name = ''] = full.split('/');
      return [
        [`owner${index}`, owner],
        [`name${index}`, name],
      ];
    }),
  );
  return api.graphql<ListingAnswer>('sweep', listingQuery(batch.length), variables, {
    ...call,
    repository: batch[0] ?? '',
  });
}
