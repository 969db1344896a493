/** Results of the tests of a build, as its steps have them (`src/executor/test-reports/`). */
import type { Execution } from './build.ts';
import type { Step } from './step.ts';

/** All of a build that left results. */
export interface TestResults {
  readonly totals: {
    readonly files: number;
    readonly suites: number;
    readonly cases: number;
    readonly failed: number;
    readonly skipped: number;
  };
  /** What was left out or could not be read: sentences for people. */
  readonly problems: readonly string[];
  /** Those with most failures first; not all where there are many. */
  readonly suites: readonly {
    readonly name: string;
    readonly cases: number;
    readonly failed: number;
    readonly skipped: number;
    /** Milliseconds of its cases. */
    readonly ms: number;
  }[];
  /** The first ones. */
  readonly failures: readonly FailedTest[];
  /** Those that failed lately in other builds of the project. */
  readonly passed: readonly Pick<FailedTest, 'suite' | 'name'>[];
}

/** A test that failed. */
interface FailedTest {
  readonly suite: string;
  readonly name: string;
  /** Why, as the job's own tools say it; may be empty. */
  readonly message: string;
  readonly ms: number;
}

/** Days for which a failure of another change counts. */
export const ELSEWHERE_DAYS = 14;

/** Other changes that failed the same test lately. */
export interface FailedElsewhere {
  /** At least 1. Of many failures only the newest are looked at. */
  readonly changes: number;
  /** The newest failure. */
  readonly last: { readonly at: string; readonly build: string; readonly change: string };
}

/** Runs of one test lately, as far as they are counted: from its first failure on. */
export interface TestRuns {
  /** Of other changes. */
  readonly failed: number;
  /** Likewise. */
  readonly passed: number;
  /** Other changes that failed it and passed it as they were. */
  readonly unchanged: number;
  /** Runs of the same change, as it is, that passed it. */
  readonly here: number;
}

/** A failure, and whether it is new. */
export interface JudgedFailure extends FailedTest {
  /** Null: no other change failed it in the last {@link ELSEWHERE_DAYS} days. */
  readonly elsewhere: FailedElsewhere | null;
  readonly runs: TestRuns;
}

/** What that means, for people. @param judged without `runs`: of a service that does not count them. */
export function elsewhereText({
  elsewhere,
  runs = { failed: 0, passed: 0, unchanged: 0, here: 0 },
}: Pick<JudgedFailure, 'elsewhere'> & Partial<Pick<JudgedFailure, 'runs'>>): string {
  const here = runs.here === 0 ? '' : `; this change passed it unchanged ${times(runs.here)}`;
  if (elsewhere === null) {
    const passed = runs.passed === 0 ? '' : `, ${runs.passed} ${runs.passed === 1 ? 'run' : 'runs'} passed`;
    return `new: no other change failed it in ${ELSEWHERE_DAYS} days${passed}${here}`;
  }
  const { changes } = elsewhere;
  const others = `${changes} other ${changes === 1 ? 'change' : 'changes'}`;
  // Until one passes, nothing is known of runs that passed before they were counted.
  if (runs.passed === 0) return `also failed in ${others} in ${ELSEWHERE_DAYS} days${here}`;
  const unchanged = runs.unchanged === 0 ? '' : `; ${runs.unchanged} of them passed it unchanged`;
  return `failed ${runs.failed} of ${runs.failed + runs.passed} runs in ${ELSEWHERE_DAYS} days, on ${others}${unchanged}${here}`;
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** Undefined: the job left none. */
export function testResultsOf(execution: Pick<Execution, 'steps'> | null): TestResults | undefined {
  const steps = execution?.steps ?? [];
  const sum = steps.findLast(({ kind }) => kind === 'TestResults');
  if (sum === undefined) return undefined;
  const count = (name: string) => countOf(sum, name);
  const suites = steps.flatMap(step => (step.steps ?? []).filter(({ kind }) => kind === 'TestSuite'));
  const problems = String(sum.facts?.problems ?? '');
  return {
    totals: {
      files: count('files'),
      suites: count('suites'),
      cases: count('cases'),
      failed: count('failed'),
      skipped: count('skipped'),
    },
    problems: problems === '' ? [] : problems.split('\n'),
    suites: suites.map(suite => ({
      name: suite.subject,
      cases: countOf(suite, 'cases'),
      failed: countOf(suite, 'failed'),
      skipped: countOf(suite, 'skipped'),
      ms: countOf(suite, 'ms'),
    })),
    failures: suites.flatMap(({ subject, steps: cases = [] }) =>
      cases.map(each => ({
        suite: subject,
        name: each.subject,
        message: String(each.facts?.message ?? ''),
        ms: countOf(each, 'ms'),
      })),
    ),
    passed: passedOf(sum),
  };
}

/** Written by executors, as JSON. */
function passedOf({ facts }: Step): TestResults['passed'] {
  const text = facts?.passed;
  return typeof text === 'string' ? JSON.parse(text) : [];
}

function countOf({ facts }: Step, name: string): number {
  const value = facts?.[name];
  return typeof value === 'number' ? value : 0;
}

const NAMED = 3;

/** How the tests went, one clause for people; the first failures by name. */
export function testsText({ totals, failures }: Pick<TestResults, 'totals' | 'failures'>): string {
  const { cases, failed } = totals;
  if (failed === 0) return `${cases} ${cases === 1 ? 'test' : 'tests'}, none failed`;
  const named = failures.slice(0, NAMED).map(({ suite, name }) => `${suite}: ${name}`);
  const more = failed > named.length ? [`${failed - named.length} more`] : [];
  return `${failed} of ${cases} ${cases === 1 ? 'test' : 'tests'} failed: ${[...named, ...more].join(', ')}`;
}
