/**
 * One pass over a queue, oldest first, carrying the nearest non-failing item ahead.
 *
 * One pass is enough: everything an item does (fail, move, leave, hold) concerns only items behind it, and those have not
 * been looked at yet. The single thing that works forward, a dependency item nobody waits behind, is settled at the end.
 * Cost is linear in the queue's length: what was found out about items ahead is in maps, nobody walks up the chain.
 */
import type { Uuid } from '../lib/ids.ts';
import type { ResetCause } from '../model/cause.ts';
import type { ChangeKey } from '../model/change.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { leaveEarly } from './leave-item.ts';
import { processItem } from './process-item.ts';
import type { Blame, QueueDraft, TurnDraft } from './turn-draft.ts';

/** What a pass has found out about the items ahead. */
export interface QueuePass {
  readonly queue: QueueDraft;
  /** Nearest non-failing item ahead: what the next one is tested on top of. */
  nearest: QueueItem | null;
  /** Live item directly ahead, failing or not. */
  directlyAhead: QueueItem | null;
  /** Live items ahead. */
  position: number;
  /** Why each failing item ahead fails. */
  readonly failing: Map<Uuid, Blame>;
  /** Changes of failing items ahead. */
  readonly failingChanges: Map<ChangeKey, QueueItem>;
  /** What these are tested as is different from before this turn; why. */
  readonly changed: Map<Uuid, ResetCause>;
  /** Per item ahead: the item whose hold-following job holds those behind it. */
  readonly heldBehind: Map<Uuid, QueueItem>;
}

export function processQueue(draft: TurnDraft, queue: QueueDraft): void {
  const pass: QueuePass = {
    queue,
    nearest: null,
    directlyAhead: null,
    position: 0,
    failing: new Map(),
    failingChanges: new Map(),
    changed: new Map(draft.retested),
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
