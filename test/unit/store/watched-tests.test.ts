/** Tests of a project that failed lately: which are watched, for how long, and what that costs the store. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Nanoseconds } from '../../../src/lib/clock.ts';
import { addMilliseconds } from '../../../src/lib/clock.ts';
import { watchedTestsCodec } from '../../../src/model/codec/records.ts';
import { type WatchedTests, watchedAt, withFailures } from '../../../src/model/watched-tests.ts';
import { openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { type Store, set } from '../../../src/store/port.ts';
import { outdatedWatches, readWatched, watchFailures } from '../../../src/store/watched-tests.ts';
import { newerRecord } from '../../fake/newer-record.ts';
import { manualClock } from './test-bench.ts';

const DAY = 86_400_000;
const now = manualClock().now();
const after = (days: number): Nanoseconds => addMilliseconds(now, days * DAY);
const named = (name: string) => ({ suite: 'app', name });
const NONE: WatchedTests = { tests: [] };

test('a test is watched for two weeks from its newest failure on', () => {
  const first = withFailures(NONE, [named('login')], now) ?? NONE;
  expect(watchedAt(first, after(13.9))).toEqual([named('login')]);
  expect(watchedAt(first, after(14.1))).toEqual([]);
  const again = withFailures(first, [named('login')], after(10)) ?? NONE;
  expect(again.tests).toHaveLength(1);
  expect(watchedAt(again, after(20))).toEqual([named('login')]);
});

test('nothing is written for what failed within a day before', () => {
  const first = withFailures(NONE, [named('login')], now) ?? NONE;
  expect(withFailures(first, [named('login')], after(0.9))).toBeUndefined();
  expect(withFailures(first, [named('login')], after(1.1))).toBeDefined();
  expect(withFailures(first, [named('login'), named('search')], after(0.1))?.tests).toHaveLength(2);
});

test('thirty are watched at most, those that failed last, however many a job fails', () => {
  const many = Array.from({ length: 500 }, (_, index) => named(`test ${index}`));
  let watched = withFailures(NONE, [named('login')], now) ?? NONE;
  watched = withFailures(watched, many, after(1)) ?? NONE;
  expect(watched.tests).toHaveLength(30);
  expect(watchedAt(watched, after(1))).not.toContainEqual(named('login'));
  expect(watchedAt(withFailures(watched, [named('login')], after(2)) ?? NONE, after(2))[0]).toEqual(
    named('login'),
  );
});

const paths = storePaths();
let server: ReturnType<typeof openEmbeddedStore>;
let store: Store;
beforeEach(() => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
});
afterEach(() => server.close());

const place = (project = 'git.example.org/app', tenant = 'acme') => ({ store, paths, tenant, project });

test('failures of builds that end at the same time are all watched, for their project and tenant alone', async () => {
  await Promise.all(
    ['login', 'search', 'logout', 'start'].map(name => watchFailures(place(), [named(name)], now)),
  );
  const found = await readWatched(place(), now);
  expect(found.map(({ name }) => name).toSorted()).toEqual(['login', 'logout', 'search', 'start']);
  expect(await readWatched(place('git.example.org/lib'), now)).toEqual([]);
  expect(await readWatched(place('git.example.org/app', 'other'), now)).toEqual([]);
});

test('a record of a newer version is left as it is, a broken one is replaced', async () => {
  await watchFailures(place(), [named('login')], now);
  const path = paths.watchedTestsOf('acme', 'git.example.org/app');
  const newer = newerRecord(watchedTestsCodec);
  await store.multi([set(path, newer)]);
  await watchFailures(place(), [named('search')], now);
  expect([await readWatched(place(), now), (await store.get(path))?.data]).toEqual([[], newer]);
  expect(await outdatedWatches({ store, paths }, after(100))).toEqual([]);
  await store.multi([set(path, new TextEncoder().encode('?'))]);
  await watchFailures(place(), [named('search')], now);
  expect(await readWatched(place(), now)).toEqual([named('search')]);
});

test('a project that failed nothing for two weeks leaves nothing behind', async () => {
  await watchFailures(place(), [named('login')], now);
  await watchFailures(place('git.example.org/lib'), [named('login')], after(10));
  const old = await outdatedWatches({ store, paths }, after(15));
  await store.multi([...old]);
  expect(await store.children(paths.watchedTests)).toEqual(['acme@git.example.org%2Flib']);
  expect(await outdatedWatches({ store, paths: storePaths('/nothing') }, now)).toEqual([]);
});
