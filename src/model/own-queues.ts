/**
 * The queues of a pipeline in which each change has one of its own, thousands of them, are not written down: their items say all
 * there is to know, and a pipeline's record is written whole whenever it changes.
 *
 *     queues [a: 1] [b: 2 3] [c: 4]  of items 1 (own queue a), 2, 3, 4 (own queue c)      stored: [b: 2 3]
 *
 * A queue with more than one item is stored, for the order of its items.
 */
import { sameList } from '../lib/same-list.ts';
import { isBefore } from '../lib/time-window.ts';
import type { ChangeQueue, PipelineState } from './pipeline-state.ts';
import type { QueueItem } from './queue-item.ts';

/** What is stored of the queues; {@link withOwnQueues} brings back the others. */
export function storedQueues({ queues, items }: PipelineState): readonly ChangeQueue[] {
  return queues.filter(queue => {
    const [head, ...others] = queue.items;
    const item = head === undefined || others.length > 0 ? undefined : items.get(head);
    const own = item === undefined ? undefined : ownQueue(item);
    return (
      own === undefined || own.key !== queue.key || own.name !== queue.name || own.window !== queue.window
    );
  });
}

/** Whether the stored part of the queues is the same in both. */
export function storesSameQueues(before: PipelineState, after: PipelineState): boolean {
  return before.queues === after.queues || sameList(storedQueues(before), storedQueues(after));
}

/**
 * Puts each item that no queue names into its own one, and then all queues into the order in which their first items entered. Where
 * another item is, or should be, in the same queue, their order is not known here: `repair-queues.ts`.
 *
 * @returns the same object when there is no such item.
 */
export function withOwnQueues(state: PipelineState): PipelineState {
  const placed = new Set(state.queues.flatMap(queue => queue.items));
  const known = new Set(state.queues.map(({ key }) => key));
  const unplaced = [...state.items.values()].filter(({ uuid }) => !placed.has(uuid));
  const own = unplaced.flatMap(item => ownQueue(item) ?? []).filter(({ key }) => !known.has(key));
  const added = [...Map.groupBy(own, ({ key }) => key).values()].flatMap(same =>
    same.length === 1 ? same : [],
  );
  if (added.length === 0) return state;
  const headOf = ({ items: [head] }: ChangeQueue) => (head === undefined ? undefined : state.items.get(head));
  const queues = [...state.queues, ...added]
    .map(queue => ({ queue, head: headOf(queue) }))
    .sort((a, b) => byEntry(a.head, b.head))
    .map(({ queue }) => queue);
  return { ...state, queues };
}

/** Undefined: it shares its queue. */
function ownQueue({ uuid, queue, ownQueue: name }: QueueItem): ChangeQueue | undefined {
  return name === undefined ? undefined : { key: queue, name, window: 0, items: [uuid] };
}

/** Items that one turn took in are in the order of their events. Empty queues come first. */
function byEntry(a: QueueItem | undefined, b: QueueItem | undefined): number {
  if (a === undefined || b === undefined) return Number(a !== undefined) - Number(b !== undefined);
  const [timeA, timeB] =
    a.enqueuedAt === b.enqueuedAt ? [a.origin.receivedAt, b.origin.receivedAt] : [a.enqueuedAt, b.enqueuedAt];
  if (timeA !== timeB) return isBefore(timeA, timeB) ? -1 : 1;
  return a.uuid < b.uuid ? -1 : 1;
}
