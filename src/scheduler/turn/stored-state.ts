/** Loads a pipeline from the store, for its holder: whole, in order, with its job graphs in memory. */

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

/** Of one pipeline, for its holder; `context` gives the graphs and the clock that are brought up to date. */
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
 * An unfinished staged commit is finished first. An unreadable item is quarantined, and so is an item whose job graph is unreadable;
 * the others go on.
 */
export async function storedState(deps: StoredStateDeps, fence: Fence): Promise<PipelineState> {
  const { store, paths, ids, log } = deps;
  const { graphs, pipeline, clock } = deps.context();
  const places = paths.pipeline(deps.tenant, deps.pipeline);
  const done = await finishStaged({ fence, store, path: places.staged, newId: () => ids.uuid() });
  if (done === 'carried-out') log.info({}, 'an interrupted commit was finished');
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

/** Names of the job graphs that its items need. */
export function blobsOf(state: PipelineState): ReadonlySet<string> {
  const blobs = new Set<string>();
  for (const { buildset } of state.items.values()) {
    const blob = graphOf(buildset)?.blob;
    if (blob !== undefined) blobs.add(blob);
  }
  return blobs;
}
