import { OverBudget } from '../git/objects/tree-budget.ts';
import { assertNever } from '../lib/assert-never.ts';
import { stripUserinfo } from '../lib/redact.ts';
import { createWorkCount, type WorkCount } from '../lib/work-count.ts';
import { createWorkGate } from '../lib/work-gate.ts';
import { MERGERS_PER_REQUEST, type MergerOutcome, type MergerRequest } from '../model/merge.ts';
import { mergerRequestLogFacts } from '../tracing/log-facts.ts';
import { createStepRecorder, type StepRecorder } from '../tracing/step-recorder.ts';
import type { ClaimedRequest, MergerDeps, MergerLog, ServeDeps } from './deps.ts';
import type { Failure } from './failure.ts';
import { mergeChanges } from './merge-changes.ts';
import { readConfigFiles, readRepoState } from './read-state.ts';

/** A running merger; `src/cmd` pauses and closes it. */
export interface Merger {
  /** The requests it holds. */
  readonly work: Pick<WorkCount, 'isAtWork' | 'begun'>;
  /** Resolves after `close` when all claimed requests are answered; rejects when no more can be claimed (the session is over). */
  readonly ended: Promise<void>;
  /** Claims nothing until `resume`; claimed requests are answered. */
  pause(): void;
  resume(): void;
  /** Claims no more requests and waits for the claimed ones. Never fails; may be called again. */
  close(): Promise<void>;
}

/** Requests served at the same time: enough for a whole window of items to share one fetch. */
const AT_ONCE = 64;

/**
 * Starts the merger's loop: claim all waiting requests, serve them side by side, answer each as soon as it is done. Requests that
 * arrive meanwhile are claimed immediately, and join the next fetch of their project.
 */
export function createMerger(deps: MergerDeps): Merger {
  const gate = createWorkGate();
  const work = createWorkCount();
  const working = new Set<Promise<void>>();

  function logOf({ request }: ClaimedRequest): MergerLog {
    const { tenant, kind } = request;
    return deps.log.child({ ...mergerRequestLogFacts(request), tenant, kind });
  }

  async function serve(claimed: ClaimedRequest): Promise<void> {
    using _work = work.hold();
    const served = await serveRequest(deps, claimed.request);
    const log = logOf(claimed);
    if (served.kind === 'overdue' && claimed.attempt < MERGERS_PER_REQUEST) {
      log.warn({ attempt: claimed.attempt }, `${served.text}; it is put back for another merger`);
      await claimed.again(claimed.attempt + 1);
      return;
    }
    if (served.kind === 'failed' && (await deps.room.trouble()) !== undefined) {
      // No verdict on the change: the request waits for space here, or for another merger.
      log.warn({}, `${served.text}; a disk is full here, so it is put back`);
      await claimed.again(claimed.attempt);
      return;
    }
    const outcome = served.kind === 'overdue' ? givenUp(served.text) : served;
    if (outcome.kind === 'failed') log.warn({}, outcome.text);
    try {
      await claimed.complete(outcome);
    } catch (error) {
      log.warn({ error: String(error) }, 'the answer to a merger request could not be stored');
      await giveUp(claimed, outcome, error);
    }
  }

  function givenUp(text: string): MergerOutcome {
    return { kind: 'failed', text, retryable: false, steps: [], worker: deps.worker };
  }

  /** A request must not stay claimed for ever: it gets a short answer instead, or none where even that cannot be stored. */
  async function giveUp(claimed: ClaimedRequest, outcome: MergerOutcome, cause: unknown): Promise<void> {
    const { steps, worker } = outcome;
    const text = `Unable to store the answer of the merger: ${cause instanceof Error ? cause.message : String(cause)}`;
    try {
      await claimed.complete({ kind: 'failed', text, retryable: false, steps, worker });
    } catch (error) {
      logOf(claimed).warn({ error: String(error) }, 'a merger request is dropped');
      await claimed.drop();
    }
  }

  async function loop(): Promise<void> {
    while (await gate.passed()) {
      await deps.room.found(gate.signal);
      for (const claimed of await deps.requests.claim(AT_ONCE - working.size, gate.signal)) {
        // The request may have killed its merger: served alone, it puts no other request at risk.
        const isSuspect = claimed.attempt > 1;
        if (isSuspect) await Promise.all(working);
        const served = serve(claimed)
          // Only dropping can fail here, without the store; the claim ends with the session.
          .catch(error => logOf(claimed).warn({ error: String(error) }, 'a merger request was let go'))
          .finally(() => working.delete(served));
        working.add(served);
        if (isSuspect) await served;
      }
      if (working.size >= AT_ONCE) await Promise.race(working);
    }
    await Promise.all(working);
  }

  const ended = loop();
  return {
    work,
    ended,
    pause: () => gate.pause(),
    resume: () => gate.resume(),
    async close() {
      gate.shut();
      // `ended` reports why the loop ended, after the claimed requests are done.
      await Promise.allSettled([ended]);
      await Promise.all(working);
    },
  };
}

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
