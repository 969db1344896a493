/**
 * A supercedent pipeline: the head of a queue runs, the newest item waits, and what waits between them is out of date.
 *
 *     A B C   →   A C
 *
 * Checked after every change that enters, as in Zuul: which items are overtaken does not depend on the number of events in a turn.
 */
import { changesText } from '../model/about-item.ts';
import { leaveEarly } from './leave-item.ts';
import { overtakingItem } from './remover.ts';
import type { TurnDraft } from './turn-draft.ts';

/** Does nothing in a pipeline of any other manager. */
export function dropOvertaken(draft: TurnDraft): void {
  if (!draft.manager.overtakes) return;
  for (const queue of draft.queues.due()) {
    const items = draft.itemsOf(queue);
    const newest = items.at(-1);
    if (newest === undefined) continue;
    for (const item of items.slice(1, -1)) {
      // The host is deciding about it already.
      if (item.phase.phase !== 'queued') continue;
      const by = { event: newest.origin.event, remover: overtakingItem(newest) };
      leaveEarly(draft, item, 'overtaken', changesText(newest), by);
    }
  }
}
