/**
 * What an item is about. Its changes merge together or not at all; most items have one. Code that needs "the" change of an item
 * asks here, so that one file decides what that means for several changes.
 */
import type { Uuid } from '../lib/ids.ts';
import { type Change, changeText } from './change.ts';
import type { FrozenJob } from './job.ts';
import type { QueueItem } from './queue-item.ts';

type Changes = Pick<QueueItem, 'changes'>;

/** The change that stands for all: the item has the queue and the jobs of its project, and logs and decisions name it. */
export function leadChange({ changes: [lead] }: Changes): Change {
  return lead;
}

/** The change whose job it is: that is what the job runs for, on its branch. */
export function changeOfJob(item: Changes, { change }: Pick<FrozenJob, 'change'>): Change {
  return item.changes[change ?? 0] ?? leadChange(item);
}

/** The subject of a decision about the item. @param event the event that caused the decision; null: none. */
export function aboutItem(
  item: Changes & Pick<QueueItem, 'uuid'>,
  event: Uuid | null = null,
): {
  readonly change: Change;
  /** Its other changes: the decision is found by each of them. */
  readonly others: readonly Change[];
  readonly item: Uuid;
  readonly event: Uuid | null;
} {
  const [change, ...others] = item.changes;
  return { change, others, item: item.uuid, event };
}

/** For people: the texts of its changes, joined with ` + `. */
export function changesText({ changes }: Changes): string {
  return changes.map(changeText).join(' + ');
}
