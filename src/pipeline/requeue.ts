/**
 * Items follow their projects: where the configuration now names another change queue, they go to the end of that one, in
 * the order they had, and keep their job graphs and builds. The pass then resets those that are tested with other changes
 * than before, there and in the queue they come from.
 *
 *     queues app: A B, lib: C; app and lib now share a queue    →    integrated: A B C, C is tested again, behind B
 *
 * A new queue begins with the window of the queue the first item comes from, so that a rename costs nothing.
 */
import { aboutItem, changesText, leadChange } from '../model/about-item.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { QueueName } from './manager/manager.ts';
import type { QueueDraft } from './queue-draft.ts';
import type { TurnDraft } from './turn-draft.ts';

/** Moves nothing out of a queue with an item that is being reported, nor in a pipeline that left the configuration. */
export function requeueMoved(draft: TurnDraft): void {
  if (!draft.manager.queuesFollow || draft.input.retired === true) return;
  for (const queue of [...draft.queues.due()]) {
    const items = draft.itemsOf(queue);
    // The host's answer decides what the items behind are tested with; it comes first.
    if (items.some(item => item.phase.phase === 'reporting')) continue;
    for (const item of items) {
      const wanted = queueOf(draft, item);
      if (wanted !== null && wanted.key !== queue.key) move(draft, item, queue, wanted);
    }
  }
}

/** Null: its project is not in the tenant any more. */
function queueOf(draft: TurnDraft, item: QueueItem): QueueName | null {
  const change = leadChange(item);
  const shared = draft.facts(change.key)?.queue ?? null;
  return shared === null ? null : draft.manager.queueFor({ change, shared, event: item.origin.event });
}

function move(draft: TurnDraft, item: QueueItem, from: QueueDraft, { key, name }: QueueName): void {
  const to = draft.queues.get(key) ?? draft.queues.add(key, name, from.window);
  draft.moveToEnd({ ...item, queue: key }, from, to);
  const culprit = { item: item.uuid, change: changesText(item) };
  draft.requeued.set(item.uuid, { code: 'queue-changed', culprit });
  draft.departuresDue = true;
  draft.decide(
    'requeued',
    aboutItem(item),
    `${changesText(item)} moved from queue ${from.name} to queue ${name}: its project is in that one now`,
  );
}
