/**
 * Items that conflict do not delay the items behind: mergers go on past them (src/merger/merge-lanes.ts), so the pending merge of an
 * item behind is made without them already.
 *
 *     B conflicts with A: C and D, whose merges are asked for, move behind A, and their requests stay out    waitOn
 *     the answer left out exactly the items that no longer count                                            accept
 *     it left out less or more, or ended at a conflict (a merger of 0.3)                                     asked again
 *     it left out an item whose own merge was made: one of the two saw another branch tip                   a conflict for now; judged
 *                                                                                                            again when that item is gone
 *
 * An item that has a result by then was tested with what conflicts: it is reset (follow-nearest.ts), in the same turn.
 */
import type { Uuid } from '../lib/ids.ts';
import type { ResetCause } from '../model/cause.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { ChainAnswer } from './chain-answer.ts';
import { moveBehind } from './move-behind.ts';
import { askAgain, complete, mergeOnLanded, withStage } from './prepare-item.ts';
import type { QueuePass } from './queue-pass.ts';
import type { TurnDraft } from './turn-draft.ts';

/** The changes below the item. */
export interface Below {
  /** It is behind the same item as before. */
  readonly stays: boolean;
  /** Null: nothing that it is tested with. */
  readonly cause: ResetCause | null;
  /** Why the item it is behind keeps its buildset although conflicting items were dropped below it; null: none were. */
  readonly passed: ResetCause | null;
}

/** @returns null: no conflict was passed, or the item has to be reset. */
export function pastConflicts(
  draft: TurnDraft,
  pass: QueuePass,
  item: QueueItem,
  below: Below,
): QueueItem | null {
  if (draft.requeued.has(item.uuid) || (pass.nearest !== null && pass.changed.has(pass.nearest.uuid)))
    return null;
  const answer = draft.answers.get(item.uuid);
  if (answer !== undefined) return accept(draft, pass, item, below, answer);
  if (below.stays && below.cause !== null) return null;
  const cause = below.cause ?? below.passed;
  return cause === null || !leadsPast(draft, pass, item) ? null : waitOn(draft, pass, item, cause);
}

/** Nothing but conflicts came between the item and the nearest non-failing one. */
function leadsPast(draft: TurnDraft, pass: QueuePass, item: QueueItem): boolean {
  let at = item.behind;
  while (at !== null && conflicts(draft, pass, at)) at = draft.item(at)?.behind ?? null;
  return at === (pass.nearest?.uuid ?? null);
}

function conflicts(draft: TurnDraft, pass: QueuePass, uuid: Uuid): boolean {
  return (pass.failing.get(uuid) ?? draft.departed.get(uuid))?.code === 'item-ahead-conflict';
}

function waitOn(draft: TurnDraft, pass: QueuePass, item: QueueItem, cause: ResetCause): QueueItem | null {
  const { stage } = item.buildset;
  if (stage.state === 'new') return place(draft, pass, item, cause);
  if (stage.state !== 'merging' || stage.ahead === undefined) return null;
  const { ahead, leftOut: known = [] } = stage;
  const isKnown = (uuid: Uuid) => known.includes(uuid);
  // The merger leaves out conflicts only, not items that fail for another reason.
  if (ahead.some(uuid => !isKnown(uuid) && isGone(draft, pass, uuid) && !conflicts(draft, pass, uuid)))
    return null;
  const isOut = (uuid: Uuid) => isKnown(uuid) || conflicts(draft, pass, uuid);
  const placed = withStage(place(draft, pass, item, cause), { ...stage, leftOut: ahead.filter(isOut) });
  return standsOnLanded(draft, pass, ahead, isOut) ? mergeOnLanded(draft, placed) : placed;
}

/** An item below has landed since the request: the answer does not name the tip that its merge began at. */
function standsOnLanded(
  draft: TurnDraft,
  pass: QueuePass,
  ahead: readonly Uuid[],
  isOut: (uuid: Uuid) => boolean,
): boolean {
  return pass.nearest === null && ahead.some(uuid => !isOut(uuid) && draft.item(uuid) === undefined);
}

function accept(
  draft: TurnDraft,
  pass: QueuePass,
  item: QueueItem,
  below: Below,
  answer: ChainAnswer,
): QueueItem | null {
  const { ahead, leftOut, known } = answer;
  const isOut = (uuid: Uuid) => isOutOfTheWay(draft, pass, answer, uuid);
  const isLost = (uuid: Uuid) =>
    isOut(uuid) && !known.has(uuid) && !leftOut.has(uuid) && !conflicts(draft, pass, uuid);
  const last = ahead.findLast(uuid => !isOut(uuid) && draft.item(uuid) !== undefined) ?? null;
  const cause = below.cause ?? below.passed;
  // The chain has changed in another way.
  if (ahead.some(isLost) || last !== (pass.nearest?.uuid ?? null))
    return cause === null ? askAgain(item) : null;
  if (!answer.unfinished && ahead.every(uuid => leftOut.has(uuid) === isOut(uuid))) {
    if (cause === null || (below.stays && below.cause !== null)) return null;
    const placed = place(draft, pass, item, cause);
    return standsOnLanded(draft, pass, ahead, isOut) ? askAgain(placed) : placed;
  }
  const placed = cause === null ? item : place(draft, pass, item, cause);
  const at = ahead.findIndex(uuid => leftOut.has(uuid) && !isOut(uuid));
  const inTheWay = ahead[at];
  const conflict = inTheWay === undefined ? undefined : leftOut.get(inTheWay);
  const isOfThisChain = ahead.slice(0, Math.max(at, 0)).every(uuid => leftOut.has(uuid) || !isOut(uuid));
  if (inTheWay === undefined || conflict === undefined || !isOfThisChain || !isMerged(draft, inTheWay))
    return askAgain(placed);
  const judged = { ...placed, buildset: { ...placed.buildset, conflict } };
  return complete(draft, withStage(judged, { state: 'new' }), 'MERGE_CONFLICT');
}

/** The items behind are no longer tested on top of it; a landed item is not among these. */
export function isOutOfTheWay(
  draft: TurnDraft,
  pass: QueuePass,
  { known }: ChainAnswer,
  uuid: Uuid,
): boolean {
  return known.has(uuid) || isGone(draft, pass, uuid);
}

function isGone(draft: TurnDraft, pass: QueuePass, uuid: Uuid): boolean {
  return pass.failing.has(uuid) || draft.departed.has(uuid) || draft.requeued.has(uuid);
}

function isMerged(draft: TurnDraft, uuid: Uuid): boolean {
  const stage = draft.item(uuid)?.buildset.stage.state ?? 'new';
  return stage !== 'new' && stage !== 'merging';
}

/** Behind the nearest item, with the buildset it has. */
function place(draft: TurnDraft, pass: QueuePass, item: QueueItem, cause: ResetCause): QueueItem {
  const { nearest } = pass;
  pass.passedBelow.set(item.uuid, cause);
  const placed = item.behind === (nearest?.uuid ?? null) ? item : moveBehind(draft, item, nearest, cause);
  if (placed.buildset.stackedOn === undefined) return placed;
  return { ...placed, buildset: { ...placed.buildset, stackedOn: nearest?.buildset.uuid ?? null } };
}
