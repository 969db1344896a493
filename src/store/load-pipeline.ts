/** Reads a pipeline's stored contents as a whole. Call under the pipeline's fence, or accept a slightly outdated view. */
import type { Uuid } from '../lib/ids.ts';
import { pipelineCountersCodec, queueItemCodec } from '../model/codec/records.ts';
import { EMPTY_PIPELINE, type PipelineState } from '../model/pipeline-state.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { ensureNode } from './ensure-node.ts';
import type { StorePaths } from './paths.ts';
import type { Store } from './port.ts';
import type { Quarantine } from './quarantine.ts';

type PipelinePlaces = ReturnType<StorePaths['pipeline']>;

/** Creates the nodes a pipeline's commits set or create below. */
export async function preparePipeline(
  store: Store,
  places: PipelinePlaces,
  signal: AbortSignal,
): Promise<void> {
  for (const path of [places.items, places.state, places.eventQueue, places.staged])
    await ensureNode(store, path, signal);
}

/** @throws RecordError `newer` when any part of it was written by an upgraded process. Broken parts are quarantined. */
export async function loadPipeline(
  store: Store,
  places: PipelinePlaces,
  quarantine: Quarantine,
): Promise<PipelineState> {
  const counters = await quarantine.read(pipelineCountersCodec, places.state, await store.get(places.state), {
    keepNode: true,
  });
  const paths = ((await store.children(places.items)) ?? []).map(name => `${places.items}/${name}`);
  const nodes = await store.getMany(paths);
  const items = new Map<Uuid, QueueItem>();
  for (const [index, path] of paths.entries()) {
    const item = await quarantine.read(queueItemCodec, path, nodes[index]);
    if (item !== undefined) items.set(item.uuid, item);
  }
  return { ...(counters ?? EMPTY_PIPELINE), items };
}
