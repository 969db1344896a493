/**
 * An item whose merge is pending is judged by the answer for an item behind, which was requested with the same chain below it. So all
 * conflicts of one answer are known in one turn, in any order of the answers.
 */
import type { MergeConflict } from '../model/merge.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { ChainAnswer } from './chain-answer.ts';
import { withoutWait } from './host-wait.ts';
import { isOutOfTheWay } from './past-conflicts.ts';
import { complete } from './prepare-item.ts';
import type { QueuePass } from './queue-pass.ts';
import { withdrawRequest } from './stop-work.ts';
import type { TurnDraft } from './turn-draft.ts';

/** @param item at its place. */
export function judgeByLaterAnswer(draft: TurnDraft, pass: QueuePass, item: QueueItem): QueueItem {
  const { stage } = item.buildset;
  if ((stage.state !== 'new' && stage.state !== 'merging') || pass.changed.has(item.uuid)) return item;
  // The answer is about another order.
  if (draft.reordered.has(item.uuid)) return item;
  for (const answer of draft.answersAbout.get(item.uuid) ?? []) {
    const conflict = answer.leftOut.get(item.uuid);
    if (conflict !== undefined && hasSameBelow(draft, pass, item, answer))
      return judged(draft, item, conflict, answer.worker);
  }
  return item;
}

/** Not when an item ahead has landed since: the item is judged on top of the present branch. */
function hasSameBelow(draft: TurnDraft, pass: QueuePass, item: QueueItem, answer: ChainAnswer): boolean {
  const { ahead, leftOut } = answer;
  return ahead.slice(0, ahead.indexOf(item.uuid)).every(uuid => {
    const isOut = isOutOfTheWay(draft, pass, answer, uuid);
    return leftOut.has(uuid) === isOut && (isOut || draft.item(uuid) !== undefined);
  });
}

/** Its own request is withdrawn; the merge counts as done by the merger that answered. */
function judged(draft: TurnDraft, item: QueueItem, conflict: MergeConflict, worker: string): QueueItem {
  const { now } = draft.input;
  const served = item.hostWait?.doing === 'merge' ? withoutWait(draft, item) : item;
  const { buildset } = served;
  const request = buildset.stage.state === 'merging' ? buildset.stage.request : null;
  const mergerWork = withdrawRequest(draft, buildset, now).map(work =>
    work.request === request
      ? { ...work, done: { at: now, outcome: 'conflict' as const, worker, steps: [] } }
      : work,
  );
  return complete(draft, { ...served, buildset: { ...buildset, mergerWork, conflict } }, 'MERGE_CONFLICT');
}
