/**
 * The long tail of a queue: items that were never merged, outside the window, each behind the one ahead of it. A pass leaves such an item
 * as it is, as long as it stays outside and nothing that it depends on is failing or lost. So it is stepped over, for a fraction of what
 * it costs to find that out by processing it (process-item.ts). What it means for the items behind is noted here in the same way:
 * compare `settle` there and `followNearest`.
 *
 * A turn without a memory processes every item: the tests compare the two.
 */
import type { QueueItem } from '../model/queue-item.ts';
import type { QueuePass } from './queue-pass.ts';
import type { TurnDraft } from './turn-draft.ts';
import { isInside } from './window.ts';

/** @returns false: the item has to be processed. */
export function stepsOver(draft: TurnDraft, pass: QueuePass, item: QueueItem): boolean {
  const { nearest, queue, position } = pass;
  if (!draft.due.hasMemory || draft.manager.window === 'one') return false;
  if (isInside(queue.window, position) || item.behind !== (nearest?.uuid ?? null)) return false;
  if (!onlyWaits(item) || isConcerned(draft, pass, item)) return false;
  if (nearest !== null) handOn(pass, nearest, item);
  pass.nearest = item;
  pass.directlyAhead = item;
  pass.position += 1;
  // Until its job graph is known it may have a job that holds those behind it.
  pass.heldBehind.set(item.uuid, item);
  return true;
}

/** For the window, with a buildset in which nothing was done yet. */
function onlyWaits({ role, phase, buildset, timeline, hostWait }: QueueItem): boolean {
  if (role !== 'live' || phase.phase !== 'queued' || hostWait !== undefined) return false;
  if (buildset.stage.state !== 'new' || buildset.stackedOn !== undefined || buildset.builds.length > 0)
    return false;
  const last = timeline[timeline.length - 1] ?? timeline[0];
  return last.state === 'window' && last.subject === undefined && last.item === undefined;
}

/** Something of this turn is about it. */
function isConcerned(draft: TurnDraft, pass: QueuePass, { uuid, dependsOn }: QueueItem): boolean {
  if (draft.answers.has(uuid) || draft.answersAbout.has(uuid)) return true;
  if (draft.requeued.size > 0 || draft.promoted.size > 0) return true;
  return dependsOn.length > 0 && (draft.lostChanges.size > 0 || pass.failingChanges.size > 0);
}

/** What was changed ahead of it. */
function handOn(pass: QueuePass, nearest: QueueItem, item: QueueItem): void {
  const cause = pass.changed.get(nearest.uuid);
  const passed = pass.passedBelow.get(nearest.uuid);
  if (cause !== undefined) pass.changed.set(item.uuid, cause);
  else if (passed !== undefined) pass.passedBelow.set(item.uuid, passed);
  if (pass.onGone.has(nearest.uuid)) pass.onGone.add(item.uuid);
}
