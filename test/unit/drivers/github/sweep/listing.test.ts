/** Branches of repositories that have more than a page of them. */
import { expect, test } from 'vitest';
import type { GithubAnswer } from '../../../../../drivers/github/api/port.ts';
import { listRepositories } from '../../../../../drivers/github/sweep/listing.ts';
import type { ListedRepository } from '../../../../../drivers/github/sweep/listing-query.ts';

const signal = new AbortController().signal;

/** A GitHub with `count` branches, a hundred to a page. @param served pages that it serves. */
function githubWith(count: number, served = Number.POSITIVE_INFINITY) {
  const asked: string[] = [];
  const refs = (from: number): ListedRepository['refs'] => {
    const end = Math.min(count, from + 100);
    const numbers = Array.from({ length: end - from }, (_, index) => from + index);
    return {
      nodes: numbers.map(number => ({ name: `b${number}`, target: { oid: 'a'.repeat(40) } })),
      pageInfo: { hasNextPage: end < count, endCursor: String(end) },
    };
  };
  const api = {
    async graphql<T>(operation: string, _query: string, variables: { readonly [name: string]: unknown }) {
      asked.push(operation);
      if (asked.length > served)
        return { kind: 'later', later: { reason: 'limited', text: 'not now' } } as GithubAnswer<T>;
      const from = Number(variables.after ?? 0);
      const data =
        operation === 'sweep'
          ? { r0: { nameWithOwner: 'acme/app', pullRequests: { nodes: [] }, refs: refs(from) } }
          : { repository: { refs: refs(from) } };
      return { kind: 'ok', status: 200, data: data as T } as GithubAnswer<T>;
    },
  };
  return { api, asked };
}

test.each([
  [99, 1],
  [100, 1],
  [101, 2],
  [950, 10],
])('all of %i branches are listed with %i requests', async (count, requests) => {
  const { api, asked } = githubWith(count);
  const listed = (await listRepositories(['acme/app'], api, { weight: 'event', signal })).get('acme/app');
  expect(listed?.refs?.nodes).toHaveLength(count);
  expect(new Set(listed?.refs?.nodes?.map(each => each?.name)).size).toBe(count);
  expect(listed?.refs?.pageInfo.hasNextPage).toBe(false);
  expect(asked).toHaveLength(requests);
});

test('beyond ten pages, or where one is not served, the listing says that there are more', async () => {
  const huge = githubWith(1_000_000);
  const first = await listRepositories(['acme/app'], huge.api, { weight: 'event', signal });
  expect(huge.asked).toHaveLength(10);
  expect(first.get('acme/app')?.refs?.pageInfo.hasNextPage).toBe(true);
  const limited = githubWith(500, 2);
  const second = await listRepositories(['acme/app'], limited.api, { weight: 'event', signal });
  expect(second.get('acme/app')?.refs?.nodes).toHaveLength(200);
  expect(second.get('acme/app')?.refs?.pageInfo.hasNextPage).toBe(true);
});
