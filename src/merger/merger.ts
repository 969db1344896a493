import { createWorkGate } from '../lib/work-gate.ts';
import { MERGERS_PER_REQUEST, type MergerOutcome } from '../model/merge.ts';
import { mergerRequestLogFacts } from '../tracing/log-facts.ts';
import type { ClaimedRequest, MergerDeps, MergerLog } from './deps.ts';
import { serveRequest } from './serve-request.ts';

/** A running merger; `src/cmd` pauses and closes it. */
export interface Merger {
  /** Resolves after `close` when all claimed requests are answered; rejects when no more can be claimed (the session is over). */
  readonly ended: Promise<void>;
  /** It holds requests. */
  readonly isAtWork: boolean;
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
  const working = new Set<Promise<void>>();

  function logOf({ request }: ClaimedRequest): MergerLog {
    const { tenant, kind } = request;
    return deps.log.child({ ...mergerRequestLogFacts(request), tenant, kind });
  }

  async function serve(claimed: ClaimedRequest): Promise<void> {
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
        const work = serve(claimed)
          // Only dropping can fail here, without the store; the claim ends with the session.
          .catch(error => logOf(claimed).warn({ error: String(error) }, 'a merger request was let go'))
          .finally(() => working.delete(work));
        working.add(work);
        if (isSuspect) await work;
      }
      if (working.size >= AT_ONCE) await Promise.race(working);
    }
    await Promise.all(working);
  }

  const ended = loop();
  return {
    ended,
    get isAtWork() {
      return working.size > 0;
    },
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
