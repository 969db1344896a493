/**
 * What the files of a build say about its tests, added up within bounds: sums per suite, and the cases that failed. Readers of one format
 * each (`read-junit.ts`, `read-tap.ts`, `read-go-test.ts`) hand in cases; the files are written by jobs, so names and messages are cut, and what
 * is beyond a bound is counted, never kept.
 */
import { strangersLine } from '../../lib/cut-text.ts';
import type { TestName } from '../../model/watched-tests.ts';

/** One run of one test. */
export interface TestCase {
  readonly suite: string;
  readonly name: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** Null: the file does not say. */
  readonly ms: number | null;
  /** Why it failed, for people. */
  readonly message?: string;
}

/** A case that failed. */
interface FailedCase {
  readonly name: string;
  readonly ms: number;
  /** One line; empty: the file does not say. */
  readonly message: string;
}

/** Cases of one name for their suite, in one file. */
export interface TestSuite {
  readonly name: string;
  /** Milliseconds since 1970 at which its file was written. */
  readonly writtenAt: number;
  readonly ms: number;
  readonly cases: number;
  readonly failed: number;
  readonly skipped: number;
  /** The first of them. */
  readonly failures: readonly FailedCase[];
}

/** All of a build. */
interface TestTotals {
  readonly files: number;
  readonly suites: number;
  readonly cases: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Result of {@link collectCases}; plain data. */
export interface CollectedTests {
  readonly totals: TestTotals;
  /** Those with failures first; further ones are only counted. */
  readonly suites: readonly TestSuite[];
  /** Of the watched ones those that ran, and never failed. */
  readonly passed: readonly TestName[];
  /** What was left out or could not be read: sentences for people. */
  readonly problems: readonly string[];
}

/** Takes the cases of all files. */
export interface CaseCollector {
  /** @param writtenAt as {@link TestSuite.writtenAt}. */
  file(writtenAt: number): void;
  /** Of the last file. @returns false: there are as many as are read. */
  add(found: TestCase): boolean;
  problem(text: string): void;
  end(): CollectedTests;
}

const MOST_CASES = 500_000;
const MOST_SUITES = 5_000;
/** They are stored with the item, which is one node of the store. */
const SHOWN_SUITES = 30;
const SHOWN_FAILURES = 30;
const LONGEST_NAME = 200;
const LONGEST_MESSAGE = 200;
const MOST_PROBLEMS = 5;
/** For suites beyond the bound. */
const OTHER_SUITES = 'other suites';

interface Sum {
  name: string;
  writtenAt: number;
  ms: number;
  cases: number;
  failed: number;
  skipped: number;
  failures: FailedCase[];
}

/** What became of those that failed lately: each other case costs a lookup of its suite. */
function watchedOutcomes(watched: readonly TestName[]) {
  const bySuite = new Map<string, Map<string, 'unseen' | 'passed' | 'failed'>>();
  for (const { suite, name } of watched) {
    const names = bySuite.get(suite) ?? new Map();
    bySuite.set(suite, names.set(name, 'unseen'));
  }
  return {
    note(suite: string, { name, status }: Pick<TestCase, 'name' | 'status'>): void {
      const names = bySuite.get(suite);
      if (names === undefined || status === 'skipped') return;
      const shown = shownName(name);
      const before = names.get(shown);
      if (before !== undefined && before !== 'failed') names.set(shown, status);
    },
    passed: (): readonly TestName[] =>
      watched.filter(({ suite, name }) => bySuite.get(suite)?.get(name) === 'passed'),
  };
}

function shownName(name: string): string {
  return strangersLine(name, LONGEST_NAME) || 'a test without a name';
}

/** One for each build. @param watched whose passes are collected. */
export function collectCases(watched: readonly TestName[] = []): CaseCollector {
  const outcomes = watchedOutcomes(watched);
  const suites = new Map<string, Sum>();
  const problems: string[] = [];
  let files = 0;
  let cases = 0;
  let kept = 0;
  let writtenAt = 0;

  function sumOf(name: string): Sum {
    const key = suites.size < MOST_SUITES ? `${files} ${name}` : OTHER_SUITES;
    const known = suites.get(key);
    if (known !== undefined) return known;
    const shown = key === OTHER_SUITES ? OTHER_SUITES : name;
    const sum = { name: shown, writtenAt, ms: 0, cases: 0, failed: 0, skipped: 0, failures: [] };
    suites.set(key, sum);
    return sum;
  }

  return {
    file(at) {
      files += 1;
      writtenAt = at;
    },
    add({ suite, name, status, ms, message = '' }) {
      if (cases >= MOST_CASES) return false;
      cases += 1;
      const ofSuite = strangersLine(suite, LONGEST_NAME) || 'tests';
      const sum = sumOf(ofSuite);
      outcomes.note(ofSuite, { name, status });
      sum.cases += 1;
      sum.ms += msOf(ms);
      if (status === 'skipped') sum.skipped += 1;
      if (status !== 'failed') return true;
      sum.failed += 1;
      if (kept >= SHOWN_FAILURES) return true;
      kept += 1;
      sum.failures.push({
        name: shownName(name),
        ms: msOf(ms),
        message: strangersLine(message, LONGEST_MESSAGE),
      });
      return true;
    },
    problem(text) {
      if (problems.length < MOST_PROBLEMS) problems.push(strangersLine(text, LONGEST_MESSAGE));
    },
    end() {
      const all = [...suites.values()];
      const total = (of: 'failed' | 'skipped') => all.reduce((sum, suite) => sum + suite[of], 0);
      const shown = all.toSorted((a, b) => b.failed - a.failed).slice(0, SHOWN_SUITES);
      return {
        totals: { files, suites: all.length, cases, failed: total('failed'), skipped: total('skipped') },
        suites: shown,
        passed: outcomes.passed(),
        problems,
      };
    },
  };
}

/** A file may say anything. */
function msOf(ms: number | null): number {
  return ms === null || !Number.isFinite(ms) || ms < 0 ? 0 : Math.min(Math.round(ms), 86_400_000);
}
