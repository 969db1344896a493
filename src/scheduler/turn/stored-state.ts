/** A pipeline as the store has it, for its holder: whole, in order, with its job graphs at hand. */

import type { Clock } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { graphOf } from '../../model/build-set.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import { repairQueues } from '../../model/repair-queues.ts';
import type { Fence } from '../../store/fence.ts';
import { loadPipeline } from '../../store/load-pipeline.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import { createQuarantine } from '../../store/quarantine.ts';
import { finishStaged } from '../../store/staged-commit.ts';
import type { PipelineContext } from './pipeline-context.ts';

export interface StoredStateDeps {
  readonly tenant: string;
  readonly pipeline: string;
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  context(): PipelineContext;
}

/**
 * A commit that was decided and not finished is finished first. What cannot be read is laid aside: an item alone, or with the
 * graph it cannot go on without; the others go on.
 */
export async function storedState(deps: StoredStateDeps, fence: Fence): Promise<PipelineState> {
  const { store, paths, ids, log } = deps;
  const { graphs, pipeline, clock } = deps.context();
  const places = paths.pipeline(deps.tenant, deps.pipeline);
  const done = await finishStaged({ fence, store, path: places.staged, newId: () => ids.uuid() });
  if (done === 'carried-out') log.info({}, 'a commit that was interrupted is finished');
  const quarantine = createQuarantine({ ...deps, path: paths.quarantine });
  const stored = await loadPipeline(store, places, quarantine);
  const failed = await graphs.load(blobsOf(stored));
  const items = new Map(stored.items);
  for (const item of stored.items.values()) {
    const failure = failed.get(graphOf(item.buildset)?.blob ?? '');
    if (failure === undefined) continue;
    items.delete(item.uuid);
    const path = places.item(item.uuid);
    const node = await store.get(path);
    if (node !== undefined) await quarantine.move(path, node, failure);
  }
  clock.catchUp(items.values());
  return repairQueues({ ...stored, items }, pipeline.window.initial);
}

/** Names of the job graphs its items cannot go on without. */
export function blobsOf(state: PipelineState): readonly string[] {
  return [...state.items.values()].flatMap(item => graphOf(item.buildset)?.blob ?? []);
}
