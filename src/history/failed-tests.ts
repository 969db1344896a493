/**
 * Tests that failed: by them a failure is new, or was seen in other changes lately.
 *
 *     failedTestsOf(item)       the rows of an item, for its last buildset alone: what was tested with changes that were thrown out says nothing
 *     failedElsewhere(…)        how many other changes failed the same test since a time
 */
import { sha256 } from '../lib/ids.ts';
import { type Build, endOfBuild, isRetried, resultOf } from '../model/build.ts';
import type { ProjectKey } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { type FailedElsewhere, type FailedTest, testResultsOf } from '../model/test-results.ts';
import type { Database } from './schema.ts';

/** Failures of one test that are read. */
const MOST_READ = 200;

/** Of one build, before the database has numbered it. */
export interface FailedTestRow {
  readonly build: string;
  readonly test_key: string;
  readonly change_key: string;
  readonly at: string;
}

/** The same test, whichever job ran it. */
export function testKey(project: ProjectKey, { suite, name }: Pick<FailedTest, 'suite' | 'name'>): string {
  return sha256(JSON.stringify([project, suite, name])).slice(0, 32);
}

/** Empty where a failure of its tests was not counted: the item left before they had a result. */
export function failedTestsOf(item: QueueItem): readonly FailedTestRow[] {
  const [change] = item.changes;
  if (change === undefined || item.buildset.stage.state !== 'complete') return [];
  return item.buildset.builds.flatMap(build => {
    const keys = failuresOf(build).map(each => testKey(change.project, each));
    const at = endOfBuild(build) ?? build.requestedAt;
    return [...new Set(keys)].map(key => ({
      build: build.uuid,
      test_key: key,
      change_key: change.key,
      at,
    }));
  });
}

function failuresOf(build: Build): readonly FailedTest[] {
  if (build.state.state !== 'completed' || isRetried(build) || resultOf(build) === 'SUCCESS') return [];
  return testResultsOf(build.state.execution)?.failures ?? [];
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
