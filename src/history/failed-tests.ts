/**
 * Tests that failed, and passed although they failed lately: by them a failure is new, or was seen in other changes, in so many of its runs.
 *
 *     runTestsOf(item)          the rows of an item, for its last buildset, and those before it that a person had repeated: what was tested with
 *                               changes that were thrown out says nothing
 *     failedElsewhere(…)        how many other changes failed the same test since a time
 *     testRuns(…)               how many of its runs failed since, and who passed it unchanged
 */
import { sha256 } from '../lib/ids.ts';
import { type Build, endOfBuild, hasResultRetry, resultOf } from '../model/build.ts';
import type { BuildSet } from '../model/build-set.ts';
import type { ProjectKey } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import {
  type FailedElsewhere,
  type TestResults,
  type TestRuns,
  testResultsOf,
} from '../model/test-results.ts';
import type { TestName } from '../model/watched-tests.ts';
import type { Database } from './schema.ts';

/** Failures of one test that are read. */
const MOST_READ = 200;

/** Passes of one test that are counted. */
const MOST_COUNTED = 10_000;

/** Of one build, before the database has numbered it. */
export interface RunTestRow {
  readonly table: 'failed_test' | 'passed_test';
  readonly build: string;
  readonly test_key: string;
  readonly change_key: string;
  readonly at: string;
}

/** The same test, whichever job ran it. */
export function testKey(project: ProjectKey, { suite, name }: TestName): string {
  return sha256(JSON.stringify([project, suite, name])).slice(0, 32);
}

/** Empty where its tests were not counted: the item left before they had a result. */
export function runTestsOf(item: QueueItem): readonly RunTestRow[] {
  const [change] = item.changes;
  if (change === undefined || item.buildset.stage.state !== 'complete') return [];
  const repeated = item.earlier.filter(isRepeated).flatMap(({ builds }) => builds);
  return [...repeated, ...item.buildset.builds].flatMap(build => {
    const at = endOfBuild(build) ?? build.requestedAt;
    const rows = (table: RunTestRow['table'], tests: readonly TestName[]): readonly RunTestRow[] => {
      const keys = new Set(tests.map(each => testKey(change.project, each)));
      return [...keys].map(key => ({ table, build: build.uuid, test_key: key, change_key: change.key, at }));
    };
    const { failures, passed } = testsOf(build);
    return [...rows('failed_test', failures), ...rows('passed_test', passed)];
  });
}

/** A person had what failed in it run again, in the same tested state. Those behind it were tested with it, and are none. */
function isRepeated({ stage }: BuildSet): boolean {
  return stage.state === 'superseded' && stage.cause.code === 'rerun' && stage.cause.culprit === null;
}

function testsOf(build: Build): Pick<TestResults, 'failures' | 'passed'> {
  const { state, outdatedBy = build.job } = build;
  const results =
    state.state !== 'completed' || hasResultRetry(build) || outdatedBy !== build.job
      ? undefined
      : testResultsOf(state.execution);
  if (results === undefined) return { failures: [], passed: [] };
  const { failures, passed } = results;
  // What a playbook passed over was no failure.
  return { failures: resultOf(build) === 'SUCCESS' ? [] : failures, passed };
}

/** Which tests, and whose failures count. */
export interface ElsewhereQuestion {
  readonly tenant: string;
  /** By {@link testKey}; a few dozen. */
  readonly keys: readonly string[];
  /** Failures of this change do not count. */
  readonly but: string;
  readonly since: string;
}

/** By key; one that failed nowhere else is absent. Each test is one query of an index. */
export async function failedElsewhere(
  database: Database,
  { tenant, keys, but, since }: ElsewhereQuestion,
): Promise<ReadonlyMap<string, FailedElsewhere>> {
  const found = new Map<string, FailedElsewhere>();
  for (const key of keys) {
    const rows = await database
      .selectFrom('failed_test')
      .innerJoin('build', 'build.id', 'failed_test.build_id')
      .select(['failed_test.change_key as change', 'failed_test.at as at', 'build.uuid as build'])
      .where('failed_test.tenant', '=', tenant)
      .where('failed_test.test_key', '=', key)
      .where('failed_test.at', '>=', since)
      .where('failed_test.change_key', '!=', but)
      .orderBy('failed_test.at', 'desc')
      .limit(MOST_READ)
      .execute();
    const [last] = rows;
    if (last !== undefined) found.set(key, { changes: new Set(rows.map(({ change }) => change)).size, last });
  }
  return found;
}

/** Which tests, and what "unchanged" means for the change that asks. */
export interface TestRunsQuestion extends ElsewhereQuestion {
  /** Of the change `but`, as it is now; null: it has none. */
  readonly patchset: string | null;
}

/** By key; one without any run is absent. Each test is a few queries of indexes, which read a bounded number of rows. */
export async function testRuns(
  database: Database,
  question: TestRunsQuestion,
): Promise<ReadonlyMap<string, TestRuns>> {
  const found = new Map<string, TestRuns>();
  for (const key of question.keys) {
    const failures = await changesOf(database, 'failed_test', key, question, MOST_READ);
    const others = failures.filter(({ change }) => change !== question.but);
    const passed = await countPassed(database, key, question);
    const names = [...new Set([question.but, ...others.map(({ change }) => change)])];
    const passes = await changesOf(database, 'passed_test', key, question, MOST_COUNTED, names);
    const states = new Set(passes.map(stateOf));
    const unchanged = new Set(others.filter(each => states.has(stateOf(each))).map(({ change }) => change));
    const own = stateOf({ change: question.but, patchset: question.patchset });
    const here = passes.filter(each => stateOf(each) === own).length;
    if (others.length + passed + here === 0) continue;
    found.set(key, { failed: others.length, passed, unchanged: unchanged.size, here });
  }
  return found;
}

interface RunOfChange {
  readonly change: string;
  readonly patchset: string | null;
}

function stateOf({ change, patchset }: RunOfChange): string {
  return JSON.stringify([change, patchset]);
}

/** Runs with the state of the change that they tested, the newest first. @param changes undefined: of all. */
async function changesOf(
  database: Database,
  table: RunTestRow['table'],
  key: string,
  { tenant, since }: TestRunsQuestion,
  most: number,
  changes?: readonly string[],
): Promise<readonly RunOfChange[]> {
  const runs = database
    .selectFrom(`${table} as run`)
    .innerJoin('build', 'build.id', 'run.build_id')
    .innerJoin('buildset_ref as ref', 'ref.buildset_id', 'build.buildset_id')
    .select(['run.change_key as change', 'ref.patchset as patchset'])
    .where('ref.position', '=', 0)
    .where('run.tenant', '=', tenant)
    .where('run.test_key', '=', key)
    .where('run.at', '>=', since);
  const wanted = changes === undefined ? runs : runs.where('run.change_key', 'in', [...changes]);
  return await wanted.orderBy('run.at', 'desc').limit(most).execute();
}

async function countPassed(
  database: Database,
  key: string,
  { tenant, but, since }: TestRunsQuestion,
): Promise<number> {
  const some = database
    .selectFrom('passed_test')
    .select('id')
    .where('tenant', '=', tenant)
    .where('test_key', '=', key)
    .where('at', '>=', since)
    .where('change_key', '!=', but)
    .limit(MOST_COUNTED);
  const { passed } = await database
    .selectFrom(some.as('some'))
    .select(({ fn }) => fn.countAll<number | string>().as('passed'))
    .executeTakeFirstOrThrow();
  return Number(passed);
}
