/**
 * A question to a merger that is not about an item: submitted like any request, answered in a node of the tenant.
 * The answer outlives the asker; whoever asks again after a crash asks under a new id and leftovers are swept at start.
 */
import { mergerOutcomeCodec } from '../model/codec/records.ts';
import type { MergerOutcome, MergerRequest } from '../model/merge.ts';
import { ensureNode } from '../store/ensure-node.ts';
import type { StorePaths } from '../store/paths.ts';
import { remove, type Store } from '../store/port.ts';
import type { RequestQueue } from '../store/request-queue.ts';

export interface AskDeps {
  readonly store: Store;
  readonly paths: StorePaths;
  readonly mergeRequests: RequestQueue<MergerRequest>;
}

/** Rejects with the signal's reason when aborted. */
export async function askMerger(
  request: MergerRequest,
  deps: AskDeps,
  signal: AbortSignal,
): Promise<MergerOutcome> {
  const places = deps.paths.tenant(request.tenant);
  const path = places.answer(request.uuid);
  await ensureNode(deps.store, places.answers, signal);
  const answered = Promise.withResolvers<void>();
  const abort = () => answered.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  using watch = deps.store.watch(path, () => answered.resolve());
  void watch;
  try {
    await deps.mergeRequests.submitNow(request);
    for (;;) {
      const node = await deps.store.get(path);
      if (node !== undefined) {
        await deps.store.multi([remove(path)]);
        return mergerOutcomeCodec.decode(node.data);
      }
      await answered.promise;
    }
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
