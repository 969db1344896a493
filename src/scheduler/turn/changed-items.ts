/** Which items a turn changed: found once, for all that is written and measured of them. */
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { WholeTurn } from '../../pipeline/turn.ts';

/** A turn whose commit is composed. */
export interface ChangedTurn extends WholeTurn {
  /** Items in the state that are new or others than before. Those that left are in `left`. */
  readonly changed: readonly QueueItem[];
}

export function withChanged(before: PipelineState, turn: WholeTurn): ChangedTurn {
  const changed: QueueItem[] = [];
  if (turn.state.items !== before.items)
    for (const [uuid, item] of turn.state.items) if (before.items.get(uuid) !== item) changed.push(item);
  return { ...turn, changed };
}
