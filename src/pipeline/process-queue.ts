/**
 * One pass over a queue, oldest first, carrying the nearest non-failing item ahead.
 *
 * One pass is enough: everything an item does (fail, move, leave, hold) concerns only items behind it, and those have not
 * been looked at yet. The single thing that works forward, a dependency item nobody waits behind, is settled at the end.
 * Cost is linear in the queue's length: what was found out about items ahead is in maps, nobody walks up the chain.
 */
import { leaveEarly } from './leave-item.ts';
import { processItem } from './process-item.ts';
import type { QueuePass } from './queue-pass.ts';
import type { QueueDraft, TurnDraft } from './turn-draft.ts';

export function processQueue(draft: TurnDraft, queue: QueueDraft): void {
  const pass: QueuePass = {
    queue,
    nearest: null,
    directlyAhead: null,
    position: 0,
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
