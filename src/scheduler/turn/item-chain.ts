/**
 * The items an item is tested behind, oldest first, ending with the item itself.
 *
 * `behind` links name the item whose tested state is extended. A link to an item that is no longer there ends the chain:
 * it has merged, and its changes are in the branch tip.
 */
import type { Uuid } from '../../lib/ids.ts';
import type { QueueItem } from '../../model/queue-item.ts';

/** @param items of the pipeline, as after the pass that set the links. */
export function chainOf(items: ReadonlyMap<Uuid, QueueItem>, item: QueueItem): readonly QueueItem[] {
  const chain: QueueItem[] = [item];
  for (let ahead = item.behind; ahead !== null; ) {
    const found = items.get(ahead);
    if (found === undefined) break;
    chain.push(found);
    ahead = found.behind;
  }
  return chain.reverse();
}
