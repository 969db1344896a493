/** Reads the results of a build's tests when its playbooks have ended, and notes them in its steps and its log. */
import { type testResultsOf, testsText } from '../../model/test-results.ts';
import type { BuildSteps } from '../build-steps.ts';
import type { TakenBuild } from '../deps.ts';
import type { BuildContext } from '../run-playbook.ts';
import type { CollectedTests } from './test-cases.ts';
import type { TestReader } from './test-reader.ts';

/** Of the project of a build. */
type Watch = Pick<TakenBuild, 'watchedTests' | 'watchTests'>;

const LOGGED = 10;

/**
 * Results never change the verdict, which is that of the playbooks, and no trouble with them does.
 *
 * @returns undefined: the job left none.
 */
export async function noteTests(
  context: Pick<BuildContext, 'places' | 'masks' | 'log' | 'request' | 'deps' | 'halt'>,
  { reader, watch }: { readonly reader: TestReader; readonly watch: Watch },
  steps: BuildSteps,
): Promise<CollectedTests | undefined> {
  const startedAt = steps.end();
  let found: CollectedTests | undefined;
  try {
    found = context.masks.mask(await reader.read(context.places.logs, () => watch.watchedTests()));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await context.log.line(`the results of the tests could not be read: ${reason}`);
  }
  if (found === undefined) return undefined;
  const { totals, problems, passed } = found;
  steps.add({
    kind: 'TestResults',
    subject: context.request.jobName,
    startedAt,
    endedAt: context.deps.clock.now(),
    facts: {
      ...totals,
      ...(problems.length === 0 ? {} : { problems: problems.join('\n') }),
      ...(passed.length === 0 ? {} : { passed: JSON.stringify(passed) }),
    },
  });
  await watchFailed(context, watch, found);
  return found;
}

/** Without it nothing but the count of later runs is lost. */
async function watchFailed(
  { log, halt }: Pick<BuildContext, 'log' | 'halt'>,
  watch: Watch,
  { suites }: CollectedTests,
): Promise<void> {
  const failed = suites.flatMap(({ name: suite, failures }) => failures.map(({ name }) => ({ suite, name })));
  if (failed.length === 0 || halt.signal.aborted) return;
  try {
    await watch.watchTests(failed);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    await log.line(`TESTS: later runs of those that failed may not be counted: ${reason}`);
  }
}

/** @param steps with those of the results. */
export async function logTests(
  { log }: Pick<BuildContext, 'log'>,
  results: NonNullable<ReturnType<typeof testResultsOf>>,
): Promise<void> {
  for (const problem of results.problems) await log.line(`TESTS: ${problem}`);
  await log.line(`TESTS: ${testsText(results)}`);
  for (const { suite, name, message } of results.failures.slice(0, LOGGED))
    await log.line(`TESTS: failed: ${suite}: ${name}${message === '' ? '' : `: ${message}`}`);
}
