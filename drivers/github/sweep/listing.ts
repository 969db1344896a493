/** Asks GitHub for listings of many repositories, in batches of one owner: an installation of the App has one owner. */
import type { GithubAnswer, GithubApi, GithubCall } from '../api/port.ts';
import {
  type ListedRepository,
  type ListingAnswer,
  listingQuery,
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
    for (const [name, listed] of await listBatch(batch, api, call)) listings.set(name, listed);
  }
  return listings;
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
