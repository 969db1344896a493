import { assertNever } from '../lib/assert-never.ts';
import { stripUserinfo } from '../lib/redact.ts';
import type { MergerOutcome, MergerRequest } from '../model/merge.ts';
import { createStepRecorder, type StepRecorder } from '../tracing/step-recorder.ts';
import type { ServeDeps } from './deps.ts';
import type { Failure } from './failure.ts';
import { mergeChanges } from './merge-changes.ts';
import { readConfigFiles, readRepoState } from './read-state.ts';

/**
 * Serves one request; always gives an outcome. What nobody foresaw (a full disk, a damaged mirror) is a `failed` outcome that
 * may be retried: the request must not stay unanswered, and another merger may not have the trouble.
 */
export async function serveRequest(deps: ServeDeps, request: MergerRequest): Promise<MergerOutcome> {
  const steps = createStepRecorder(deps.clock);
  const answer = await answerOrFailure(deps, steps, request);
  return { ...answer, steps: steps.steps(), worker: deps.worker };
}

async function answerOrFailure(deps: ServeDeps, steps: StepRecorder, request: MergerRequest) {
  try {
    return await answerTo(deps, steps, request);
  } catch (error) {
    const reason = stripUserinfo(error instanceof Error ? error.message : String(error)).split('\n')[0] ?? '';
    const failure: Failure = {
      kind: 'failed',
      text: `Unable to serve the request: ${reason}`,
      retryable: true,
    };
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
