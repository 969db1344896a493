import { createWorkGate } from '../lib/work-gate.ts';
import { MERGERS_PER_REQUEST, type MergerOutcome } from '../model/merge.ts';
import { mergerRequestLogFacts } from '../tracing/log-facts.ts';
import type { ClaimedRequest, MergerDeps, MergerLog } from './deps.ts';
import { serveRequest } from './serve-request.ts';

export interface Merger {
  /** Ends when everything claimed is answered, after `close`; rejects when no more requests can be claimed (the session is over). */
  readonly ended: Promise<void>;
  /** Claims nothing until `resume`; what it has claimed is answered. */
  pause(): void;
  resume(): void;
  /** Claims no more requests and waits for those at work. Never fails; may be called again. */
  close(): Promise<void>;
}

/** Requests served at the same time: enough for a whole window of items to share one fetch. */
const AT_ONCE = 64;

/**
 * Starts the merger's loop: claim what waits, serve it together, answer each request as soon as it is done. Requests that
 * arrive while others are at work are claimed at once, too, and join the next fetch of their project.
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
      // Says nothing about the change: it waits for room here, or for a merger that has some.
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

  /** A request must not stay claimed for ever: a short answer instead, and where even that has no place, none. */
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
        // It may be what killed its merger: nobody else's work is at risk when it does it again.
        const isSuspect = claimed.attempt > 1;
        if (isSuspect) await Promise.all(working);
        const work = serve(claimed)
          // Only dropping can fail here, for want of a store; the claim ends with the session.
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
    pause: () => gate.pause(),
    resume: () => gate.resume(),
    async close() {
      gate.shut();
      // Whoever reads `ended` learns why the loop ended; what it had claimed is waited for all the same.
      await Promise.allSettled([ended]);
      await Promise.all(working);
    },
  };
}
