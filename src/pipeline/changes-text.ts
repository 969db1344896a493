/** How people read an item: the texts of its changes. */
import { changeText } from '../model/change.ts';
import type { QueueItem } from '../model/queue-item.ts';

export function changesText(item: Pick<QueueItem, 'changes'>): string {
  return item.changes.length === 1 ? changeText(item.changes[0]) : item.changes.map(changeText).join(' + ');
}
