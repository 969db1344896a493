import { aboutItem, changesText } from '../model/about-item.ts';
import { briefResetText, type ResetCause } from '../model/cause.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { withEvent } from './timeline.ts';
import type { TurnDraft } from './turn-draft.ts';

/** The move of an item is a decision and an event; a new item just takes its place. */
export function moveBehind(
  draft: TurnDraft,
  item: QueueItem,
  nearest: QueueItem | null,
  cause: ResetCause,
): QueueItem {
  const moved = { ...item, behind: nearest?.uuid ?? null };
  if (!draft.isKnown(item.uuid)) return moved;
  const to = nearest === null ? 'the tip of the branch' : changesText(nearest);
  const why = cause.culprit === null ? '' : ` because ${briefResetText(cause)}`;
  draft.decide('moved-behind', aboutItem(item), `${changesText(item)} is now behind ${to}${why}`);
  return withEvent(moved, { at: draft.input.now, name: 'moved', facts: { behind: to, cause: cause.code } });
}
