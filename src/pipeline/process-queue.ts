/**
 * One pass over a queue, oldest first, carrying the nearest non-failing item ahead.
 *
 * One pass is enough: a step of an item (fail, move, leave, hold) concerns only items behind it, which the pass has not reached. The
 * exception, a dependency item without an item behind it, is handled at the end. Cost is linear in the queue's length: facts about
 * items ahead are in maps, no step walks up the chain.
 */
import { leaveEarly } from './leave-item.ts';
import { processItem } from './process-item.ts';
import type { QueuePass } from './queue-pass.ts';
import type { QueueDraft, TurnDraft } from './turn-draft.ts';

/** Called once per queue and call of `decideTurn`, after the events. */
export function processQueue(draft: TurnDraft, queue: QueueDraft): void {
  const pass: QueuePass = {
    queue,
    nearest: null,
    directlyAhead: null,
    position: 0,
    landing: null,
    failing: new Map(),
    failingChanges: new Map(),
    changed: new Map(draft.retested),
    passedBelow: new Map(),
    heldBehind: new Map(),
  };
  for (const uuid of queue.items) {
    const item = draft.item(uuid);
    if (item !== undefined) processItem(draft, pass, item);
  }
  dropIdleDependencies(draft, queue);
}

function dropIdleDependencies(draft: TurnDraft, queue: QueueDraft): void {
  for (const uuid of queue.items.toReversed()) {
    const item = draft.item(uuid);
    if (item === undefined) continue;
    if (item.role === 'live') return;
    leaveEarly(draft, item, 'no-longer-needed', null);
  }
}
