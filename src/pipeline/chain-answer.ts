/**
 * A merger's answer about a whole chain: the items it left out because they conflict, and the item itself. A verdict holds for
 * exactly the chain below its item; the answer keeps what is needed to compare chains.
 *
 *     asked for D behind A B C; B conflicts with A, C conflicts with A
 *     answer: leftOut B, C; D merged on top of A
 */
import type { Uuid } from '../lib/ids.ts';
import type { BuildSetStage } from '../model/build-set.ts';
import type { MergeConflict, MergerOutcome } from '../model/merge.ts';
import type { QueueItem } from '../model/queue-item.ts';

/** Kept for the turn in which it comes; the pass draws verdicts from it (past-conflicts.ts, judge-by-later-answer.ts). */
export interface ChainAnswer {
  /** Items that the request named before the item's own changes, oldest first. */
  readonly ahead: readonly Uuid[];
  /** Those of `ahead` that were known to conflict before the answer came. */
  readonly known: ReadonlySet<Uuid>;
  /** Left out by the merger, and why. */
  readonly leftOut: ReadonlyMap<Uuid, MergeConflict>;
  /** A merger of 0.3 stopped at the conflict of an item ahead: the item itself has no verdict. */
  readonly unfinished: boolean;
  readonly worker: string;
}

/** Of a merge request that was served. */
export type ServedMerge = Extract<MergerOutcome, { readonly kind: 'merged' | 'conflict' }>;
type Merging = Extract<BuildSetStage, { readonly state: 'merging' }>;

/**
 * Null: the request was not one that goes on past conflicts.
 *
 * @param find an item that is still there.
 */
export function chainAnswerOf(
  find: (uuid: Uuid) => QueueItem | undefined,
  item: QueueItem,
  stage: Merging,
  outcome: ServedMerge,
): ChainAnswer | null {
  const { ahead, leftOut: known = [] } = stage;
  if (ahead === undefined) return null;
  const common = { ahead, known: new Set(known), worker: outcome.worker };
  if (outcome.kind === 'conflict' && item.changes.every(({ key }) => key !== outcome.change)) {
    const culprit = ahead.find(uuid => find(uuid)?.changes.some(({ key }) => key === outcome.change));
    const leftOut = new Map(culprit === undefined ? [] : [[culprit, conflictOf(outcome)]]);
    return { ...common, leftOut, unfinished: true };
  }
  const leftOut = new Map(
    (outcome.leftOut ?? []).flatMap(each => {
      const uuid = ahead[each.item];
      return uuid === undefined ? [] : [[uuid, conflictOf(each)] as const];
    }),
  );
  return { ...common, leftOut, unfinished: false };
}

/** The conflict without the fields that only the merger's answer has, as the item's record keeps it. */
export function conflictOf({ change, project, files, with: other, reason }: MergeConflict): MergeConflict {
  return {
    ...{ change, project, files },
    ...(other === undefined ? {} : { with: other }),
    ...(reason === undefined ? {} : { reason }),
  };
}
