import { describe, expect, test } from 'vitest';
import type { PullMemory } from '../../../../../drivers/github/reading/pull-memory.ts';
import { pullDifference, seenOf, suspects } from '../../../../../drivers/github/sweep/differences.ts';
import type { ListedPull, ListedRepository } from '../../../../../drivers/github/sweep/listing-query.ts';
import { nextPause } from '../../../../../drivers/github/sweep/pace.ts';
import { openRuns } from '../../../../../drivers/github/sweep/stray-runs.ts';
import { fromMilliseconds } from '../../../../../src/lib/clock.ts';

const HEAD = 'a'.repeat(40);
const T0 = Date.UTC(2026, 10, 20);
const at = (seconds: number) => new Date(T0 + seconds * 1000).toISOString();

const listed = (number: number, facts: Partial<ListedPull> = {}): ListedPull => ({
  number,
  state: 'OPEN',
  isDraft: false,
  updatedAt: at(0),
  createdAt: at(0),
  baseRefName: 'main',
  headRefOid: HEAD,
  labels: { nodes: [] },
  latestOpinionatedReviews: { nodes: [] },
  commits: { nodes: [] },
  ...facts,
});
const repository = (pulls: readonly ListedPull[]): ListedRepository => ({
  nameWithOwner: 'acme/app',
  pullRequests: { nodes: pulls },
  refs: { nodes: [] },
});
const remembered = (facts: Partial<PullMemory> = {}): PullMemory => ({
  announced: true,
  head: HEAD,
  base: 'main',
  status: 'open',
  draft: false,
  title: '',
  body: '',
  labels: [],
  reviews: [],
  contexts: new Map(),
  done: [],
  record: '',
  ...facts,
});
const rollup = (state: string): ListedPull['commits'] => ({
  nodes: [{ commit: { oid: HEAD, statusCheckRollup: { state } } }],
});

describe('a sweep compares a listing with the memory', () => {
  const before = seenOf(repository([listed(1)]));

  test('and finds nothing where no event was missed', () => {
    expect(suspects(repository([listed(1)]), before)).toEqual({ isWhole: false, pulls: [] });
    expect(pullDifference(listed(1), remembered(), before)).toBeUndefined();
  });

  test.each<[string, Partial<ListedPull>]>([
    ['a push', { headRefOid: 'b'.repeat(40) }],
    ['a close', { state: 'CLOSED' }],
    ['a merge', { state: 'MERGED' }],
    ['a draft', { isDraft: true }],
    ['another base', { baseRefName: 'stable' }],
    ['a label', { labels: { nodes: [{ name: 'gate' }] } }],
    [
      'a review',
      {
        latestOpinionatedReviews: {
          nodes: [
            {
              state: 'APPROVED',
              submittedAt: at(5),
              authorAssociation: 'MEMBER',
              authorCanPushToRepository: true,
              author: { login: 'bob' },
              commit: { oid: HEAD },
            },
          ],
        },
      },
    ],
  ])('and finds %s that was not delivered', (_, facts) => {
    const pull = listed(1, { updatedAt: at(60), ...facts });
    expect(suspects(repository([pull]), before)).toEqual({ isWhole: false, pulls: [pull] });
    expect(pullDifference(pull, remembered(), before)).toEqual({ number: 1, isNew: false, isMissed: true });
  });

  test('and takes a part of many labels for what it is', () => {
    const names = Array.from({ length: 60 }, (_, at) => `label-${at}`);
    const memory = remembered({ labels: names });
    const with50 = (labels: readonly string[]) =>
      listed(1, { labels: { nodes: labels.slice(0, 50).map(name => ({ name })) } });
    expect(pullDifference(with50(names), memory, before)).toBeUndefined();
    expect(pullDifference(with50(['other', ...names]), memory, before)).toMatchObject({ isMissed: true });
    expect(pullDifference(with50(names), remembered({ labels: names.slice(0, 49) }), before)).toBeDefined();
  });

  test.each<[string, Partial<ListedPull>]>([
    ['a comment', { updatedAt: at(60) }],
    ['the end of a check', { commits: rollup('SUCCESS') }],
  ])('and reads again what may be %s, which the memory does not show', (_, facts) => {
    const pull = listed(1, facts);
    expect(suspects(repository([pull]), before)).toEqual({ isWhole: false, pulls: [pull] });
    expect(pullDifference(pull, remembered(), before)).toEqual({ number: 1, isNew: false, isMissed: false });
  });

  test('and reads the repository as a whole at first, and when all that is listed differs', () => {
    const closed = listed(2, { state: 'CLOSED' });
    expect(suspects(repository([listed(1), closed]), undefined)).toEqual({ isWhole: true, pulls: [closed] });
    const many = (updatedAt: string) =>
      repository(Array.from({ length: 30 }, (_, index) => listed(index, { updatedAt })));
    const then = seenOf(many(at(0)));
    expect(suspects(many(at(0)), then)).toEqual({ isWhole: false, pulls: [] });
    expect(suspects(many(at(60)), then)).toEqual({ isWhole: true, pulls: [] });
  });

  test('and knows which pull requests are new', () => {
    const fresh = listed(2, { createdAt: at(30), updatedAt: at(30) });
    expect(pullDifference(fresh, undefined, before)).toEqual({ number: 2, isNew: true, isMissed: true });
    const old = listed(3, { createdAt: at(-30), updatedAt: at(30) });
    expect(pullDifference(old, undefined, before)).toEqual({ number: 3, isNew: false, isMissed: true });
    expect(pullDifference(listed(4, { state: 'MERGED' }), undefined, before)).toBeUndefined();
  });
});

test('only check runs for an item can be stray', () => {
  const item = 'ab'.repeat(16);
  const run = (externalId: string | null, databaseId: number | null = 5) => ({ databaseId, externalId });
  const nodes = [
    run(`acme/gate/${item}`),
    run('acme/gate/refused'),
    run(null),
    run(`acme/gate/${item}`, null),
  ];
  const commit = { oid: HEAD, statusCheckRollup: null, checkSuites: { nodes: [{ checkRuns: { nodes } }] } };
  const pulls = [listed(1, { commits: { nodes: [{ commit }] } }), listed(2, { commits: rollup('PENDING') })];
  expect(openRuns(repository(pulls))).toEqual([{ id: 5, tenant: 'acme', pipeline: 'gate', item }]);
});

test('sweeps are a minute apart while webhooks cannot be relied on', () => {
  const now = fromMilliseconds(T0);
  const justNow = fromMilliseconds(T0 - 1_000);
  const calm = { isFailing: false, missed: 0 };
  expect(nextPause(calm, justNow, now, 600_000)).toBe(600_000);
  expect(nextPause({ ...calm, isFailing: true }, justNow, now, 600_000)).toBe(60_000);
  expect(nextPause({ ...calm, missed: 1 }, justNow, now, 600_000)).toBe(60_000);
  expect(nextPause(calm, fromMilliseconds(T0 - 301_000), now, 600_000)).toBe(60_000);
  expect(nextPause(calm, null, now, 600_000)).toBe(60_000);
  expect(nextPause(calm, null, now, 10_000)).toBe(10_000);
});
