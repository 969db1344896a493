/**
 * Tests of a project that failed lately. From then on builds report when one of them passes, too, so that its failures can be put beside its runs;
 * of all other tests only failures are kept. Stored as the record `watched-tests`.
 *
 *     failed ──► watched ──► each run of it is a row of the history ──► two weeks without a failure ──► not watched
 *
 * Pure.
 */
import { addMilliseconds, type Nanoseconds, toMilliseconds } from '../lib/clock.ts';
import { ELSEWHERE_DAYS } from './test-results.ts';

/** By the names that its failures are kept with. */
export interface TestName {
  readonly suite: string;
  readonly name: string;
}

/** Of one project in one tenant, those that failed last first. */
export interface WatchedTests {
  readonly tests: readonly (TestName & {
    /** Of its newest failure, up to a day. */
    readonly at: Nanoseconds;
  })[];
}

/** Each may be a row for each build. */
const MOST = 30;
const DAY_MS = 86_400_000;

/** Those that still count. */
export function watchedAt({ tests }: WatchedTests, now: Nanoseconds): readonly TestName[] {
  const since = toMilliseconds(addMilliseconds(now, -ELSEWHERE_DAYS * DAY_MS));
  return tests.filter(({ at }) => toMilliseconds(at) >= since).map(({ suite, name }) => ({ suite, name }));
}

/** @returns undefined: nothing is to be written; all of them failed within a day before, and are watched. */
export function withFailures(
  watched: WatchedTests,
  failures: readonly TestName[],
  now: Nanoseconds,
): WatchedTests | undefined {
  const known = new Map(watched.tests.map(({ suite, name, at }) => [keyOf({ suite, name }), at]));
  const fresh = toMilliseconds(addMilliseconds(now, -DAY_MS));
  const wanted = failures.slice(0, MOST);
  const isKnown = (failure: TestName) => {
    const at = known.get(keyOf(failure));
    return at !== undefined && toMilliseconds(at) > fresh;
  };
  if (wanted.every(isKnown)) return undefined;
  const failed = new Map(wanted.map(({ suite, name }) => [keyOf({ suite, name }), { suite, name, at: now }]));
  const alive = new Set(watchedAt(watched, now).map(keyOf));
  const others = watched.tests.filter(each => alive.has(keyOf(each)) && !failed.has(keyOf(each)));
  return { tests: [...failed.values(), ...others].slice(0, MOST) };
}

function keyOf({ suite, name }: TestName): string {
  return JSON.stringify([suite, name]);
}
