/** Asks GitHub for listings of many repositories, in batches of one owner: an installation of the App has one owner. */
import type { GithubAnswer, GithubApi, GithubCall } from '../api/port.ts';
import {
  type ListedRepository,
  type ListingAnswer,
  listingQuery,
  REPOSITORIES_AT_ONCE,
} from './listing-query.ts';

/** What GitHub lists of each repository. */
export interface Listings {
  /** Undefined: it does not serve it now, or shows no such repository. */
  readonly byName: ReadonlyMap<string, ListedRepository | undefined>;
  /** How many repositories the queries of the next pass should have. */
  readonly nextAtOnce: number;
}

/** How GitHub is asked. */
interface ListingQuery {
  readonly api: Pick<GithubApi, 'graphql'>;
  readonly call: Omit<GithubCall, 'repository'>;
  readonly app: number | null;
}

/**
 * @param repositories `owner/name` each.
 * @param atOnce repositories of one query. GitHub gives up a query after ten seconds, so after one that was not served it is halved,
 *   down to one: a repository that takes longest does not take others with it.
 * @param query `call` is without the repository. `app`: id of our App, whose runs in progress are listed; null: we are none.
 */
export async function listRepositories(
  repositories: readonly string[],
  atOnce: number,
  query: ListingQuery,
): Promise<Listings> {
  const byName = new Map<string, ListedRepository | undefined>();
  let isServed = true;
  for (const batch of batchesOf(repositories, atOnce)) {
    query.call.signal.throwIfAborted();
    const listed = await listBatch(batch, query);
    isServed &&= listed !== undefined;
    for (const [index, name] of batch.entries()) byName.set(name, listed?.[index]);
  }
  const nextAtOnce = isServed
    ? Math.min(REPOSITORIES_AT_ONCE, atOnce * 2)
    : Math.max(1, Math.floor(atOnce / 2));
  return { byName, nextAtOnce };
}

/**
 * A query that names a repository GitHub does not show is refused as a whole: then each is asked for alone.
 *
 * @returns in the order of the batch; undefined: GitHub does not serve it now.
 */
async function listBatch(
  batch: readonly string[],
  query: ListingQuery,
): Promise<readonly (ListedRepository | undefined)[] | undefined> {
  const answer = await ask(batch, query);
  if (answer.kind === 'ok') return batch.map((_, index) => answer.data[`r${index}`] ?? undefined);
  if (answer.kind !== 'refused') return undefined;
  if (batch.length === 1) return [undefined];
  const alone: (ListedRepository | undefined)[] = [];
  for (const name of batch) alone.push(...((await listBatch([name], query)) ?? [undefined]));
  return alone;
}

function batchesOf(repositories: readonly string[], size: number): readonly (readonly string[])[] {
  const owners = Map.groupBy(repositories.toSorted(), name => name.split('/')[0]?.toLowerCase());
  return [...owners.values()].flatMap(names =>
    Array.from({ length: Math.ceil(names.length / size) }, (_, index) =>
      names.slice(index * size, (index + 1) * size),
    ),
  );
}

function ask(
  batch: readonly string[],
  { api, call, app }: ListingQuery,
): Promise<GithubAnswer<ListingAnswer>> {
  const names = Object.fromEntries(
    batch.flatMap((full, index) => {
      const [owner = '', name = ''] = full.split('/');
      return [
        [`owner${index}`, owner],
        [`name${index}`, name],
      ];
    }),
  );
  const variables = { ofApp: app !== null, app, ...names };
  return api.graphql<ListingAnswer>('sweep', listingQuery(batch.length), variables, {
    ...call,
    repository: batch[0] ?? '',
  });
}
