import type { ClaimedRequest, MergerDeps } from './deps.ts';
import { serveRequest } from './serve-request.ts';

export interface Merger {
  /** Ends when everything claimed is answered, after `close`. */
  readonly ended: Promise<void>;
  /** Claims no more requests and waits for those at work. */
  close(): Promise<void>;
}

/** Requests served at the same time: enough for a whole window of items to share one fetch. */
const AT_ONCE = 64;

/**
 * Starts the merger's loop: claim what waits, serve it together, answer each request as soon as it is done. Requests that
 * arrive while others are at work are claimed at once, too, and join the next fetch of their project.
 */
export function createMerger(deps: MergerDeps): Merger {
  const stop = new AbortController();
  const working = new Set<Promise<void>>();

  async function serve(claimed: ClaimedRequest): Promise<void> {
    const { request } = claimed;
    const outcome = await serveRequest(deps, request);
    if (outcome.kind === 'failed')
      deps.log.warn({ request: request.uuid, tenant: request.tenant }, outcome.text);
    try {
      await claimed.complete(outcome);
    } catch (error) {
      // The claim is gone or the store is away: the queue gives the request to another merger, or to us again.
      deps.log.warn(
        { request: request.uuid, error: String(error) },
        'the answer to a merger request could not be stored',
      );
    }
  }

  async function loop(): Promise<void> {
    while (!stop.signal.aborted) {
      for (const claimed of await deps.requests.claim(AT_ONCE - working.size, stop.signal)) {
        const work = serve(claimed).finally(() => working.delete(work));
        working.add(work);
      }
      if (working.size >= AT_ONCE) await Promise.race(working);
    }
    await Promise.all(working);
  }

  const ended = loop();
  return {
    ended,
    close() {
      stop.abort();
      return ended;
    },
  };
}
