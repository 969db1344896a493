/**
 * Results of tests as steps of their build: a `TestSuite` below the playbook during which its file was written, with a `TestCase` for each case that failed.
 * The files name durations, seldom times that can be trusted, and a job dates its files as it likes: a suite ends when its file was written and began
 * as long before as its cases took, both within its playbook. How long they took is a fact of its own.
 */
import { fromMilliseconds, toMilliseconds } from '../../lib/clock.ts';
import type { Step } from '../../model/step.ts';
import type { CollectedTests, TestSuite } from './test-cases.ts';

/** @param steps of the build, in their order. */
export function withTestSteps(steps: readonly Step[], { suites }: CollectedTests): readonly Step[] {
  const playbooks = steps.filter(({ kind }) => kind === 'Playbook');
  const below = Map.groupBy(suites, suite => playbookOf(playbooks, suite.writtenAt));
  return steps.map(step => {
    const own = below.get(step);
    if (own === undefined) return step;
    return { ...step, steps: [...(step.steps ?? []), ...own.map(suite => stepOfSuite(suite, step))] };
  });
}

/** The last one that had begun; the first one where none had: its clock, or the job, set another time. */
function playbookOf(playbooks: readonly Step[], at: number): Step | undefined {
  return playbooks.findLast(({ startedAt }) => toMilliseconds(startedAt) <= at) ?? playbooks[0];
}

type Times = Pick<Step, 'startedAt' | 'endedAt'>;

/** @param writtenAt any number. */
function timesWithin({ startedAt, endedAt }: Times, writtenAt: number, ms: number): Times {
  const [from, to] = [toMilliseconds(startedAt), toMilliseconds(endedAt)];
  const end = writtenAt >= from && writtenAt <= to ? writtenAt : to;
  const begin = Math.max(from, end - ms);
  return {
    startedAt: begin === from ? startedAt : fromMilliseconds(begin),
    endedAt: end === to ? endedAt : fromMilliseconds(end),
  };
}

function stepOfSuite(suite: TestSuite, playbook: Step): Step {
  const { cases, failed, skipped, ms } = suite;
  const suiteStatus = failed > 0 ? 'failure' : skipped === cases ? 'skipped' : 'success';
  const step: Step = {
    kind: 'TestSuite',
    subject: suite.name,
    ...timesWithin(playbook, suite.writtenAt, ms),
    result: failed > 0 ? 'FAILURE' : 'SUCCESS',
    facts: { cases, failed, skipped, ms, suiteStatus },
  };
  if (suite.failures.length === 0) return step;
  return { ...step, steps: suite.failures.map(each => stepOfCase(step, each)) };
}

function stepOfCase(suite: Step, { name, ms, message }: TestSuite['failures'][number]): Step {
  return {
    kind: 'TestCase',
    subject: name,
    ...timesWithin(suite, toMilliseconds(suite.endedAt), ms),
    result: 'FAILURE',
    facts: { caseStatus: 'fail', suite: suite.subject, ms, ...(message === '' ? {} : { message }) },
  };
}
