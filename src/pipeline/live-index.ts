/** The live items of each change, oldest first. */
import type { Uuid } from '../lib/ids.ts';
import type { ChangeKey } from '../model/change.ts';
import type { QueueItem } from '../model/queue-item.ts';

/** May have items that left meanwhile. */
export interface LiveIndex {
  of(key: ChangeKey): readonly Uuid[];
  add(item: QueueItem): void;
}

/** @param items of the pipeline; others are added. */
export function liveIndex(items: Iterable<QueueItem>): LiveIndex {
  const live = new Map<ChangeKey, Uuid[]>();
  const add = (item: QueueItem) => {
    if (item.role !== 'live') return;
    for (const { key } of item.changes) {
      const uuids = live.get(key);
      if (uuids === undefined) live.set(key, [item.uuid]);
      else uuids.push(item.uuid);
    }
  };
  for (const item of items) add(item);
  return { of: key => live.get(key) ?? [], add };
}
