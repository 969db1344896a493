/** What a pass over one queue carries from item to item, so that no step walks up the chain. */
import type { Uuid } from '../lib/ids.ts';
import type { ResetCause } from '../model/cause.ts';
import type { ChangeKey } from '../model/change.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { QueueDraft } from './queue-draft.ts';
import type { Blame, TurnDraft } from './turn-draft.ts';

/** Items that are landed together, so far. */
export interface JointLanding {
  /** The report of the first. */
  readonly report: Uuid;
  /** The item that the next one has to be tested on. */
  readonly last: Uuid;
  readonly size: number;
}

/** What a pass knows of the items ahead. */
export interface QueuePass {
  readonly queue: QueueDraft;
  /** Nearest non-failing item ahead: what the next one is tested on top of. Null where one item is tested at a time. */
  nearest: QueueItem | null;
  /** Live item directly ahead, failing or not. */
  directlyAhead: QueueItem | null;
  /** Live items ahead. */
  position: number;
  /** Items at the head that are reported in this pass, to land in one go; null: none, or nothing may join them. */
  landing: JointLanding | null;
  /** Why each failing item ahead fails. */
  readonly failing: Map<Uuid, Blame>;
  /** Changes of failing items ahead. */
  readonly failingChanges: Map<ChangeKey, QueueItem>;
  /** Items that are tested differently since this turn; why. */
  readonly changed: Map<Uuid, ResetCause>;
  /** Items that keep their buildsets although conflicting items below were dropped; why. */
  readonly passedBelow: Map<Uuid, ResetCause>;
  /** Per item ahead: the item whose hold-following job holds those behind it. */
  readonly heldBehind: Map<Uuid, QueueItem>;
  /**
   * Items that are being reported and were tested on one that has left without landing, and all behind them: they come back unsent, with
   * the next answer. A merge on top of them would be in vain.
   */
  readonly onGone: Set<Uuid>;
}

/** At the head, with nothing ahead. */
export function beginPass(draft: TurnDraft, queue: QueueDraft): QueuePass {
  return {
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
    onGone: new Set(),
  };
}
