/** Listings of many repositories, in queries that GitHub can answer in its time. */
import { expect, test } from 'vitest';
import type { GithubAnswer } from '../../../../../drivers/github/api/port.ts';
import { listRepositories } from '../../../../../drivers/github/sweep/listing.ts';

const call = { weight: 'event', signal: AbortSignal.timeout(5_000) } as const;
const LATER = { kind: 'later', later: { reason: 'unreachable', text: 'GitHub answered 502' } } as const;

/** @param answer by the number of repositories that a query asks for. */
function openApi(answer: (names: readonly string[]) => 'served' | 'later' | 'refused') {
  const asked: string[][] = [];
  const graphql = async <T>(
    _operation: string,
    _query: string,
    variables: object,
  ): Promise<GithubAnswer<T>> => {
    const names = Object.entries(variables).flatMap(([key, value]) =>
      key.startsWith('name') ? [String(value)] : [],
    );
    asked.push(names);
    const kind = answer(names);
    if (kind === 'later') return LATER;
    if (kind === 'refused') return { kind, status: 404, text: 'Could not resolve', errors: [] };
    const data = Object.fromEntries(names.map((name, at) => [`r${at}`, { nameWithOwner: `acme/${name}` }]));
    return { kind: 'ok', status: 200, data: data as T };
  };
  return { asked, api: { graphql } };
}

const repositories = Array.from({ length: 10 }, (_, at) => `acme/r${at}`);

test('a repository that takes GitHub too long takes the others of its query with it for a few passes only', async () => {
  const { api } = openApi(names => (names.includes('r3') ? 'later' : 'served'));
  const missing: number[] = [];
  let atOnce = 10;
  for (let pass = 0; pass < 5; pass++) {
    const { byName, nextAtOnce } = await listRepositories(repositories, atOnce, { api, call, app: 7 });
    missing.push([...byName.values()].filter(listed => listed === undefined).length);
    atOnce = nextAtOnce;
  }
  expect(missing).toEqual([10, 5, 2, 1, 1]);
});

test('queries grow again when all were served, and an outage costs no more queries than the next pass has', async () => {
  let serves = false;
  const { api, asked } = openApi(() => (serves ? 'served' : 'later'));
  const sizes: number[] = [];
  let atOnce = 10;
  for (const does of [false, false, true, true, true]) {
    serves = does;
    ({ nextAtOnce: atOnce } = await listRepositories(repositories, atOnce, { api, call, app: 7 }));
    sizes.push(atOnce);
  }
  expect(sizes).toEqual([5, 2, 4, 8, 10]);
  expect(asked.map(({ length }) => length)).toEqual([10, 5, 5, 2, 2, 2, 2, 2, 4, 4, 2, 8, 2]);
});

test('a query with a repository that GitHub does not show is asked again for each alone', async () => {
  const { api } = openApi(names => (names.includes('r1') ? 'refused' : 'served'));
  const { byName, nextAtOnce } = await listRepositories(repositories.slice(0, 3), 10, {
    api,
    call,
    app: null,
  });
  expect([...byName].map(([name, listed]) => [name, listed?.nameWithOwner])).toEqual([
    ['acme/r0', 'acme/r0'],
    ['acme/r1', undefined],
    ['acme/r2', 'acme/r2'],
  ]);
  expect(nextAtOnce).toBe(10);
});
