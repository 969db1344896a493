/** A pipeline's stored contents, read whole. Call under the pipeline's fence, or accept a view that is a moment old. */
import { pipelineCountersCodec, queueItemCodec } from '../model/codec/records.ts';
import { EMPTY_PIPELINE, type PipelineState } from '../model/pipeline-state.ts';
import { ensureNode } from './ensure-node.ts';
import type { StorePaths } from './paths.ts';
import type { Store } from './port.ts';

type PipelinePlaces = ReturnType<StorePaths['pipeline']>;

/** Makes the nodes a pipeline's commits set or create below. */
export async function preparePipeline(
  store: Store,
  places: PipelinePlaces,
  signal: AbortSignal,
): Promise<void> {
  for (const path of [places.items, places.state, places.eventQueue]) await ensureNode(store, path, signal);
}

export async function loadPipeline(store: Store, places: PipelinePlaces): Promise<PipelineState> {
  const counters = await store.get(places.state);
  const names = (await store.children(places.items)) ?? [];
  const nodes = await store.getMany(names.map(name => `${places.items}/${name}`));
  const items = nodes.flatMap(node => (node === undefined ? [] : [queueItemCodec.decode(node.data)]));
  return {
    ...(counters === undefined || counters.data.length === 0
      ? EMPTY_PIPELINE
      : pipelineCountersCodec.decode(counters.data)),
    items: new Map(items.map(item => [item.uuid, item])),
  };
}
