/** Removes job graphs no item names any more. */
import { graphOf } from '../model/build-set.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { StorePaths } from '../store/paths.ts';
import { remove, type Store, StoreError } from '../store/port.ts';

/**
 * A blob written for a turn that is not committed yet would look unused: only blobs that were unused in the sweep before are
 * removed, and turns take far less than the time between two sweeps.
 */
export function createBlobSweeper(
  store: Store,
  paths: StorePaths,
): (states: readonly PipelineState[]) => Promise<void> {
  let candidates: ReadonlySet<string> = new Set();
  return async states => {
    const used = new Set(
      states.flatMap(state => [...state.items.values()].flatMap(item => graphOf(item.buildset)?.blob ?? [])),
    );
    const unused = ((await store.children(paths.blobs)) ?? []).filter(blob => !used.has(blob));
    for (const blob of unused.filter(each => candidates.has(each))) {
      try {
        await store.multi([remove(paths.blob(blob))]);
      } catch (error) {
        if (!(error instanceof StoreError && error.code === 'NoNode')) throw error;
      }
    }
    candidates = new Set(unused);
  };
}
