/**
 * Queues and items are separate nodes; when a node is lost or quarantined, the two disagree. Every item must be in exactly
 * one queue, and every name in a queue must be an item, before a turn may look at them.
 *
 *     queues [a: 1 2 3], items 1 3 4          →          queues [a: 1 3] [b: 4]
 *
 * Queues that are not written down, because items have them for themselves, are no disagreement (`own-queues.ts`).
 * What an item was tested with is judged by the turn itself: items behind a vanished one are tested again.
 */
import type { Uuid } from '../lib/ids.ts';
import { withOwnQueues } from './own-queues.ts';
import type { ChangeQueue, PipelineState } from './pipeline-state.ts';
import type { QueueItem } from './queue-item.ts';

/**
 * @param window for a queue whose own is lost.
 * @returns the same object when nothing disagrees.
 */
export function repairQueues(state: PipelineState, window: number): PipelineState {
  const named = new Set<Uuid>();
  const queues = state.queues.map(queue => withKnownItems(queue, state, named));
  const isWhole = queues.every((queue, index) => queue === state.queues[index]);
  const known = withOwnQueues(isWhole ? state : { ...state, queues });
  const placed = new Set(known.queues.flatMap(({ items }) => items));
  const lost = [...state.items.values()].filter(({ uuid }) => !placed.has(uuid)).sort(byAge);
  if (lost.length === 0) return known;
  let whole = known.queues;
  for (const item of lost) whole = withItem(whole, item, window);
  return { ...known, queues: whole };
}

/** @param placed the items that are in a queue; those kept here are added. */
function withKnownItems(queue: ChangeQueue, state: PipelineState, placed: Set<Uuid>): ChangeQueue {
  const items = queue.items.filter(uuid => {
    const isKept = state.items.has(uuid) && !placed.has(uuid);
    if (isKept) placed.add(uuid);
    return isKept;
  });
  return items.length === queue.items.length ? queue : { ...queue, items };
}

function byAge(a: QueueItem, b: QueueItem): number {
  const difference = BigInt(a.enqueuedAt) - BigInt(b.enqueuedAt);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

function withItem(queues: readonly ChangeQueue[], item: QueueItem, window: number): readonly ChangeQueue[] {
  const { queue: key, uuid, ownQueue } = item;
  if (!queues.some(queue => queue.key === key)) {
    const shape = ownQueue === undefined ? { name: key, window } : { name: ownQueue, window: 0 };
    return [...queues, { key, ...shape, items: [uuid] }];
  }
  return queues.map(queue => (queue.key === key ? { ...queue, items: [...queue.items, uuid] } : queue));
}
