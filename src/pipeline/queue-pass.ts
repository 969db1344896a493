/** What a pass over one queue carries from item to item, so that nobody looks up the chain again. */
import type { Uuid } from '../lib/ids.ts';
import type { ResetCause } from '../model/cause.ts';
import type { ChangeKey } from '../model/change.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { Blame, QueueDraft } from './turn-draft.ts';

/** What a pass has found out about the items ahead. */
export interface QueuePass {
  readonly queue: QueueDraft;
  /** Nearest non-failing item ahead: what the next one is tested on top of. Null where one item is tested at a time. */
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
  /** These keep their buildsets, although items that conflict are out of their way now; why. */
  readonly passedBelow: Map<Uuid, ResetCause>;
  /** Per item ahead: the item whose hold-following job holds those behind it. */
  readonly heldBehind: Map<Uuid, QueueItem>;
}
