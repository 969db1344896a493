/**
 * `[scheduler] relative_priority`: how far back a request stands among those of its own projects, so that the first change
 * of every project is served before the second of any. As in Zuul it is the index among the pipeline's live items of the
 * same change queue (of the same project, where it names none), and coarse in long queues:
 *
 *     index     0–9    10–19  20–29  …  90–99   100–199  200–299  …
 *     rank      0–9    10     11     …  18      19       20       …  99 at most
 *
 * A rank is added to the priority of the pipeline (100, 200, 300); within a rank the oldest request comes first.
 */
import type { Uuid } from '../lib/ids.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { QueueItem } from '../model/queue-item.ts';

/** Priorities of two precedences are a hundred apart. */
const LAST = 99;

/** @returns 0–99 for every live item. @param groupOf names the projects that share: a change queue, or a project. */
export function ranksOf(
  { queues, items }: Pick<PipelineState, 'queues' | 'items'>,
  groupOf: (item: QueueItem) => string,
): ReadonlyMap<Uuid, number> {
  const ranks = new Map<Uuid, number>();
  const sizes = new Map<string, number>();
  for (const uuid of queues.flatMap(queue => queue.items)) {
    const item = items.get(uuid);
    if (item?.role !== 'live') continue;
    const group = groupOf(item);
    const index = sizes.get(group) ?? 0;
    sizes.set(group, index + 1);
    ranks.set(uuid, rankOf(index));
  }
  return ranks;
}

/** @param index among the live items of the group, 0 for the oldest. */
export function rankOf(index: number): number {
  if (index < 10) return index;
  if (index < 100) return 9 + Math.floor(index / 10);
  return Math.min(18 + Math.floor(index / 100), LAST);
}
