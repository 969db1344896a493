/**
 * Where an item stands: behind the nearest non-failing item, tested on top of exactly what that one is tested as.
 *
 * A change below an item resets it, with two exceptions: what it was tested on has landed (that tree, in any commit of the host), or
 * the items that no longer count conflict, and its own merge is made without them (past-conflicts.ts).
 */
import type { Uuid } from '../lib/ids.ts';
import { changesText } from '../model/about-item.ts';
import { testedMergeOf } from '../model/build-set.ts';
import type { ResetCause } from '../model/cause.ts';
import type { BranchAfter } from '../model/landed.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { moveBehind } from './move-behind.ts';
import { pastConflicts } from './past-conflicts.ts';
import { mergeOnLanded } from './prepare-item.ts';
import type { QueuePass } from './queue-pass.ts';
import { resetItem } from './reset-item.ts';
import type { LandedItem, TurnDraft } from './turn-draft.ts';

/** Puts the item behind the nearest non-failing one, with a new buildset if anything was tested otherwise. */
export function followNearest(draft: TurnDraft, pass: QueuePass, item: QueueItem): QueueItem {
  const wanted = pass.nearest?.uuid ?? null;
  const landed = item.behind === null ? undefined : draft.landed.get(item.behind);
  const behind = landed === undefined ? item.behind : null;
  const stays = behind === wanted;
  const { stage } = item.buildset;
  const cause =
    stage.state === 'superseded'
      ? stage.cause
      : stays
        ? changeBelow(draft, pass, item, behind)
        : (requeueCause(draft, item) ?? promotionOf(draft, item) ?? causeOfMove(draft, pass, behind));
  const passed = wanted === null ? null : (pass.passedBelow.get(wanted) ?? null);
  const here = landed === undefined ? item : { ...item, behind };
  const goesOn = pastConflicts(draft, pass, here, { stays, cause, passed });
  if (goesOn !== null) return goesOn;
  const change = cause ?? passed;
  if (change === null) return landed === undefined ? item : mergeOnLanded(draft, here);
  pass.changed.set(item.uuid, change);
  if (stage.state === 'new' && item.buildset.stackedOn === undefined)
    return stays ? item : moveBehind(draft, item, pass.nearest, change);
  const moved = stays ? here : moveBehind(draft, item, pass.nearest, change);
  return resetItem(draft, moved, change);
}

/** An item that is being reported when one ahead of it has landed. It is tested again only if it comes back and its host has moved. */
export function standOnLanded(draft: TurnDraft, item: QueueItem): QueueItem {
  return item.behind !== null && draft.landed.has(item.behind) ? { ...item, behind: null } : item;
}

function changeOf(pass: QueuePass, behind: Uuid | null): ResetCause | null {
  return behind === null ? null : (pass.changed.get(behind) ?? null);
}

/**
 * Why what the item extends is not what it was tested with, although it is still behind the same item.
 *
 * Usually this pass has just reset that item. A big reset is written in several parts, though, and a crash between them leaves this
 * item with its old buildset: then the uuids of the buildsets differ.
 */
function changeBelow(
  draft: TurnDraft,
  pass: QueuePass,
  item: QueueItem,
  behind: Uuid | null,
): ResetCause | null {
  const landed = item.behind === null ? undefined : draft.landed.get(item.behind);
  if (landed !== undefined) {
    const cause = causeOfLanding(draft, item, landed);
    if (cause !== null) return cause;
  }
  const change = changeOf(pass, behind);
  const { stackedOn } = item.buildset;
  if (change !== null || behind === null || pass.nearest === null || typeof stackedOn !== 'string')
    return change;
  if (pass.nearest.buildset.uuid === stackedOn) return null;
  const { cause } = pass.nearest.buildset;
  return cause === null ? causeOfMove(draft, pass, behind) : { ...cause, at: draft.input.now };
}

/** Why what has landed is not what the item was tested on; null: it is. */
function causeOfLanding(
  draft: TurnDraft,
  item: QueueItem,
  { culprit, branches }: LandedItem,
): ResetCause | null {
  const at = draft.input.now;
  const differing = branches.filter(branch => !extendsBranch(item, branch));
  if (differing.some(({ tested, now }) => tested.tree !== now.tree))
    return { code: 'landed-tree-differs', at, culprit };
  if (differing.length > 0 || blamesAnother(item)) return { code: 'base-moved', at, culprit: null };
  return null;
}

/**
 * The tree below the item's own changes is the one the branch holds now, or the item has no changes on this branch. A push may have
 * come between the two merges: the host refuses to land then in the item's own project, but does not check the other projects of its
 * jobs.
 */
function extendsBranch(item: QueueItem, { project, branch, tested, now }: BranchAfter): boolean {
  const above = testedMergeOf(item.buildset)?.branches.find(
    each => each.project === project && each.branch === branch,
  );
  if (above === undefined || above.before === now.commit) return true;
  const below = above.before === tested.commit ? tested.tree : above.beforeTree;
  return below === now.tree;
}

/** Its verdict was a conflict of an item ahead; all items ahead have landed by now. */
function blamesAnother({ buildset: { conflict }, changes }: QueueItem): boolean {
  return conflict !== null && changes.every(({ key }) => key !== conflict.change);
}

/** It came from another queue and is tested behind what it found here. */
function requeueCause(draft: TurnDraft, item: QueueItem): ResetCause | null {
  return draft.requeued.has(item.uuid) ? { code: 'queue-changed', at: draft.input.now, culprit: null } : null;
}

/** It went ahead of what it was behind. */
function promotionOf(draft: TurnDraft, { uuid }: QueueItem): ResetCause | null {
  const promoter = draft.promoted.get(uuid);
  return promoter === undefined ? null : { code: 'promoted', at: draft.input.now, culprit: null, promoter };
}

/** @param other that went past the item. */
function promotionPast(draft: TurnDraft, other: QueueItem | null): ResetCause | null {
  const own = other === null ? null : promotionOf(draft, other);
  return own === null || other === null
    ? null
    : { ...own, culprit: { item: other.uuid, change: changesText(other) } };
}

/** @param other that counts again, as its failed jobs do. */
function rerunOf(draft: TurnDraft, other: QueueItem | null): ResetCause | null {
  const promoter = other === null ? undefined : draft.rerun.get(other.uuid);
  if (promoter === undefined || other === null) return null;
  const culprit = { item: other.uuid, change: changesText(other) };
  return { code: 'rerun', at: draft.input.now, culprit, promoter };
}

/** Why the item cannot stay behind `behind`: that was reset, left or fails, or another item came between. */
function causeOfMove(draft: TurnDraft, pass: QueuePass, behind: Uuid | null): ResetCause {
  const at = draft.input.now;
  const blame =
    behind === null
      ? undefined
      : (draft.departed.get(behind) ?? pass.failing.get(behind) ?? draft.requeued.get(behind));
  if (blame !== undefined) return { ...blame, at };
  const promotion =
    promotionPast(draft, pass.nearest) ??
    (behind === null ? null : promotionPast(draft, draft.item(behind) ?? null));
  if (promotion !== null) return promotion;
  const inherited = changeOf(pass, behind);
  if (inherited !== null) return inherited;
  const { nearest } = pass;
  const rerun = rerunOf(draft, nearest);
  if (rerun !== null) return rerun;
  const culprit = nearest === null ? null : { item: nearest.uuid, change: changesText(nearest) };
  return { code: 'item-ahead-changed', at, culprit };
}
