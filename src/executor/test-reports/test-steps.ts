/**
 * Results of tests as steps of their build: a `TestSuite` below the playbook during which its file was written, with a `TestCase` for each case that failed.
 * The files name durations, seldom times that can be trusted: a suite ends when its file was written, and began as long before as its cases took.
 */
import { addMilliseconds, fromMilliseconds, type Nanoseconds } from '../../lib/clock.ts';
import type { Step } from '../../model/step.ts';
import type { CollectedTests, TestSuite } from './test-cases.ts';

/** @param steps of the build, in their order. */
export function withTestSteps(steps: readonly Step[], { suites }: CollectedTests): readonly Step[] {
  const playbooks = steps.filter(({ kind }) => kind === 'Playbook');
  const below = Map.groupBy(suites, suite => playbookOf(playbooks, writtenAt(suite)));
  return steps.map(step => {
    const own = below.get(step);
    if (own === undefined) return step;
    return { ...step, steps: [...(step.steps ?? []), ...own.map(stepOfSuite)] };
  });
}

/** The last one that had begun; the first one where none had: its clock, or the job, set another time. */
function playbookOf(playbooks: readonly Step[], at: Nanoseconds): Step | undefined {
  return playbooks.findLast(({ startedAt }) => BigInt(startedAt) <= BigInt(at)) ?? playbooks[0];
}

function writtenAt(suite: TestSuite): Nanoseconds {
  return fromMilliseconds(suite.writtenAt);
}

function stepOfSuite(suite: TestSuite): Step {
  const endedAt = writtenAt(suite);
  const { cases, failed, skipped } = suite;
  const suiteStatus = failed > 0 ? 'failure' : skipped === cases ? 'skipped' : 'success';
  return {
    kind: 'TestSuite',
    subject: suite.name,
    startedAt: addMilliseconds(endedAt, -suite.ms),
    endedAt,
    result: failed > 0 ? 'FAILURE' : 'SUCCESS',
    facts: { cases, failed, skipped, suiteStatus },
    ...(suite.failures.length === 0 ? {} : { steps: suite.failures.map(each => stepOfCase(suite, each)) }),
  };
}

function stepOfCase(suite: TestSuite, { name, ms, message }: TestSuite['failures'][number]): Step {
  const endedAt = writtenAt(suite);
  return {
    kind: 'TestCase',
    subject: name,
    startedAt: addMilliseconds(endedAt, -ms),
    endedAt,
    result: 'FAILURE',
    facts: { caseStatus: 'fail', suite: suite.name, ...(message === '' ? {} : { message }) },
  };
}
