/** How the tests of a build went, with what the history knows of those that failed. */
import type { Router } from 'express';
import type { BuildDocument } from '../api/build-schema.ts';
import { testsDocument } from '../api/tests.ts';
import type { BuildFacts } from '../history/build-facts.ts';
import { testKey } from '../history/failed-tests.ts';
import { addMilliseconds } from '../lib/clock.ts';
import type { Build } from '../model/build.ts';
import { buildsetsOf, type QueueItem } from '../model/queue-item.ts';
import {
  ELSEWHERE_DAYS,
  type JudgedFailure,
  type TestResults,
  type TestRuns,
  testResultsOf,
} from '../model/test-results.ts';
import { jsonAnswer, notFound } from './answer.ts';
import type { WebDeps } from './deps.ts';
import { type FoundTenant, findBuild, findItemOfTenant, inTenant } from './tenant-access.ts';

const MS_PER_DAY = 86_400_000;

/** @param router of a tenant. */
export function addTestRoutes(router: Router, deps: WebDeps): void {
  router.get(
    '/build/:uuid/tests',
    inTenant(deps, async (tenant, { parameter }) => {
      const uuid = parameter('uuid');
      const build = await findBuild(deps, tenant, uuid);
      if (build === undefined)
        return notFound(`there is no build ${uuid.slice(0, 64)} in tenant ${tenant.name}`, 'path: build');
      const found = await testsOfBuild(deps, tenant, build);
      if (found === undefined) return notFound('the job left no results of tests', 'path: build');
      const facts = { build: build.uuid, job: build.job_name, result: build.result };
      return jsonAnswer(testsDocument(facts, found.results, found.failures));
    }),
  );
}

const NO_RUNS: TestRuns = { failed: 0, passed: 0, unchanged: 0, here: 0 };

interface JudgedResults {
  readonly results: TestResults;
  readonly failures: readonly JudgedFailure[];
}

/** Undefined: the job left none. */
async function testsOfBuild(
  deps: WebDeps,
  tenant: FoundTenant,
  { uuid, buildset }: BuildFacts,
): Promise<JudgedResults | undefined> {
  const found = await findItemOfTenant(deps, tenant, buildset.item);
  if (found.kind === 'refused') return undefined;
  const build = buildsetsOf(found.item)
    .flatMap(({ builds }) => builds)
    .find(each => each.uuid === uuid);
  return build === undefined ? undefined : judgedResults(deps, tenant, found.item, build);
}

/** Undefined: the job left none. */
export async function judgedResults(
  deps: Pick<WebDeps, 'history' | 'clock'>,
  tenant: FoundTenant,
  item: QueueItem,
  { state }: Build,
): Promise<JudgedResults | undefined> {
  const results = state.state === 'completed' ? testResultsOf(state.execution) : undefined;
  const [change] = item.changes;
  if (results === undefined || change === undefined) return undefined;
  const keys = results.failures.map(each => testKey(change.project, each));
  const since = addMilliseconds(deps.clock.now(), -ELSEWHERE_DAYS * MS_PER_DAY);
  const question = { tenant: tenant.name, keys: [...new Set(keys)], but: change.key, since };
  const elsewhere = await deps.history.failedElsewhere(question);
  const patchset = 'patchset' in change ? (change.patchset ?? null) : null;
  const runs = await deps.history.testRuns({ ...question, patchset });
  const failures = results.failures.map((each, index) => ({
    ...each,
    elsewhere: elsewhere.get(keys[index] ?? '') ?? null,
    runs: runs.get(keys[index] ?? '') ?? NO_RUNS,
  }));
  return { results, failures };
}

/** Sums for the document of a build; null: the job left none. */
export async function testSums(
  deps: WebDeps,
  tenant: FoundTenant,
  build: BuildFacts,
): Promise<NonNullable<BuildDocument['gatehouse']['tests']> | null> {
  const found = await testsOfBuild(deps, tenant, build);
  if (found === undefined) return null;
  const { cases, failed, skipped } = found.results.totals;
  const failedElsewhere = found.failures.filter(({ elsewhere }) => elsewhere !== null).length;
  return { cases, failed, skipped, failed_elsewhere: failedElsewhere };
}
