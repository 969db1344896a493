/**
 * What an item is about. Its changes merge together or not at all; most items have one. Whoever wants "the" change of an item
 * asks here, so that what it means for several is said once.
 */
import type { Uuid } from '../lib/ids.ts';
import { type Change, changeText } from './change.ts';
import type { QueueItem } from './queue-item.ts';

type Changes = Pick<QueueItem, 'changes'>;

/** The one that stands for all: its queue and its project's jobs are the item's, and what is told of the item is filed under it. */
export function leadChange({ changes: [lead] }: Changes): Change {
  return lead;
}

/** What a decision about the item names. @param event that brought it about, if one did. */
export function aboutItem(
  item: Changes & Pick<QueueItem, 'uuid'>,
  event: Uuid | null = null,
): { readonly change: Change; readonly item: Uuid; readonly event: Uuid | null } {
  return { change: leadChange(item), item: item.uuid, event };
}

/** How people read it: the texts of its changes. */
export function changesText({ changes }: Changes): string {
  return changes.map(changeText).join(' + ');
}
