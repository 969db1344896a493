import { OverBudget } from '../git/tree-budget.ts';
import { assertNever } from '../lib/assert-never.ts';
import { stripUserinfo } from '../lib/redact.ts';
import type { MergerOutcome, MergerRequest } from '../model/merge.ts';
import { createStepRecorder, type StepRecorder } from '../tracing/step-recorder.ts';
import type { ServeDeps } from './deps.ts';
import type { Failure } from './failure.ts';
import { mergeChanges } from './merge-changes.ts';
import { readConfigFiles, readRepoState } from './read-state.ts';

/** Its trees cost more time than a request may take: no verdict yet, another merger may be faster. */
export interface Overdue {
  readonly kind: 'overdue';
  readonly text: string;
}

/**
 * Serves one request. An unexpected error (a full disk, a damaged mirror) is a `failed` outcome that may be retried: the request
 * must not stay unanswered, and another merger may not have the problem.
 */
export async function serveRequest(
  deps: ServeDeps,
  request: MergerRequest,
): Promise<MergerOutcome | Overdue> {
  const steps = createStepRecorder(deps.clock);
  const answer = await answerOrFailure(deps, steps, request);
  return answer.kind === 'overdue' ? answer : { ...answer, steps: steps.steps(), worker: deps.worker };
}

async function answerOrFailure(deps: ServeDeps, steps: StepRecorder, request: MergerRequest) {
  try {
    return await answerTo(deps, steps, request);
  } catch (error) {
    const reason = stripUserinfo(error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
    const text = `Unable to serve the request: ${reason}`;
    if (error instanceof OverBudget && error.of === 'time') {
      const overdue: Overdue = { kind: 'overdue', text };
      return overdue;
    }
    const failure: Failure = { kind: 'failed', text, retryable: !(error instanceof OverBudget) };
    return failure;
  }
}

function answerTo(deps: ServeDeps, steps: StepRecorder, request: MergerRequest) {
  switch (request.kind) {
    case 'merge':
      return mergeChanges(deps, steps, request);
    case 'repo-state':
      return readRepoState(deps, steps, request);
    case 'config-files':
      return readConfigFiles(deps, steps, request);
    default:
      return assertNever(request, 'merger request');
  }
}
