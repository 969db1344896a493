/**
 * Leaving: running work is stopped, the buildset ends, the item gets its one final result and is removed from the queue.
 *
 * The items behind are not changed here. The draft records what they need: `landed` (what the branches hold now; where they were
 * tested with that, they go on), or `departed` with the blame (they are tested again without it) and `lostChanges` (dependents
 * leave as well).
 */
import { laterOf } from '../lib/clock.ts';
import { aboutItem, changesText } from '../model/about-item.ts';
import { type BuildSet, graphOf, testedMergeOf } from '../model/build-set.ts';
import { type LeaveCode, leaveText, type Remover } from '../model/cause.ts';
import type { BranchAfter } from '../model/landed.ts';
import type { ReportAction } from '../model/pipeline.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { BuildSetResult } from '../model/results.ts';
import { updateAbout } from './remover.ts';
import { reportOnce } from './request-report.ts';
import { waitsAsTheyWere } from './since-taken.ts';
import { stopWork } from './stop-work.ts';
import type { Blame, TurnDraft } from './turn-draft.ts';

/** How an item ends; the callers are reports and departures, which know the reason. */
export interface Leave {
  readonly reason: LeaveCode;
  readonly result: BuildSetResult;
  /** One clause for the decision. */
  readonly text: string;
  /** For the items tested with it. */
  readonly became:
    | { readonly kind: 'landed'; readonly branches: readonly BranchAfter[] }
    | { readonly kind: 'gone'; readonly blame: Blame };
  /** What removes it, when known. */
  readonly remover?: Remover | undefined;
  /** A last report, without waiting for its answer. */
  readonly report?: { readonly action: ReportAction; readonly text: string };
}

/** @param event that asked for it, for the decision; null: none did, the facts are the reason. */
export function leave(
  draft: TurnDraft,
  item: QueueItem,
  how: Leave,
  event: QueueItem['uuid'] | null = null,
): void {
  const present = waitsAsTheyWere(item);
  const informed =
    how.report === undefined || item.role === 'dependency'
      ? present
      : reportOnce(draft, present, how.report.action, how.result, how.report.text);
  const buildset = endBuildset(draft, informed, how);
  const last = informed.timeline[informed.timeline.length - 1] ?? informed.timeline[0];
  const at = laterOf(draft.input.now, last.since);
  const { hostWait: _, ...leaving } = informed;
  draft.remove({
    ...leaving,
    buildset,
    phase: {
      phase: 'left',
      at,
      reason: how.reason,
      result: how.result,
      ...removerOf(how),
      ...windowOf(draft, item),
    },
  });
  draft.decide('left', aboutItem(item, event), `${changesText(item)} left with ${how.result}: ${how.text}`);
  const { became } = how;
  if (became.kind === 'landed') {
    const culprit = { item: item.uuid, change: changesText(item), buildset: buildset.uuid };
    draft.landed.set(item.uuid, { culprit, branches: became.branches });
    for (const change of item.changes) draft.landedChanges.add(change.key);
    draft.due.all();
    return;
  }
  draft.departuresDue = true;
  draft.departed.set(item.uuid, became.blame);
  if (item.role === 'live' && draft.manager.needsOrder)
    for (const change of item.changes) draft.lostChanges.set(change.key, became.blame);
}

/** Leaving before the item is reported; the reason is reported where the pipeline has reporters for it. */
export function leaveEarly(
  draft: TurnDraft,
  item: QueueItem,
  reason: LeaveCode,
  detail: string | null,
  by: { readonly event: QueueItem['uuid']; readonly remover: Remover } | null = null,
): void {
  const text = detail === null ? leaveText(reason) : `${leaveText(reason)}: ${detail}`;
  const failed = ['requirement-lost', 'cannot-land', 'dependency-lost'].includes(reason);
  const own: Blame = {
    code: 'item-ahead-left',
    culprit: { item: item.uuid, change: changesText(item), left: reason },
  };
  const blame = reason === 'dependency-lost' ? (blameOfLost(draft, item) ?? own) : own;
  const report = {
    action: failed ? 'failure' : 'dequeue',
    text: lastReportText(reason, text, detail),
  } as const;
  const last = isUnreported(reason) ? {} : { report };
  const remover = by?.remover ?? updateAbout(draft, item);
  const result = failed ? 'FAILURE' : 'DEQUEUED';
  const became = { kind: 'gone', blame } as const;
  leave(draft, item, { reason, result, text, became, remover, ...last }, by?.event ?? null);
}

/**
 * Nothing is reported to a project that is no longer in the tenant. An overtaken item never started; as in Zuul, only items whose
 * start was reported have a report. What enters again has its report then, or a refusal of it has.
 */
function isUnreported(reason: LeaveCode): boolean {
  return reason === 'project-removed' || reason === 'overtaken' || reason === 'cycle-changed';
}

/** An item that leaves because another did passes the blame on to the one that began it. */
function blameOfLost(draft: TurnDraft, item: QueueItem): Blame | undefined {
  for (const key of item.dependsOn) {
    const blame = draft.lostChanges.get(key);
    if (blame !== undefined) return blame;
  }
  return undefined;
}

/** The text of the last report; for the two failures in Zuul's words. */
function lastReportText(reason: LeaveCode, text: string, detail: string | null): string {
  const more = detail === null ? '' : `: ${detail}`;
  if (reason === 'requirement-lost' || reason === 'cannot-land')
    return `This change is unable to merge due to a missing merge requirement${more}.`;
  if (reason === 'dependency-lost') return `This change depends on a change that failed to merge${more}.`;
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** What it does to the window comes after it. */
function windowOf({ manager, queues }: TurnDraft, { queue }: QueueItem): { readonly window?: number } {
  const window = manager.window === 'learnt' ? (queues.get(queue)?.window ?? 0) : 0;
  return window === 0 ? {} : { window };
}

function removerOf({ remover }: Leave): { readonly remover?: Remover } {
  return remover === undefined ? {} : { remover };
}

function endBuildset(draft: TurnDraft, item: QueueItem, how: Leave): BuildSet {
  const { buildset } = item;
  if (buildset.stage.state === 'complete' || buildset.stage.state === 'superseded') return buildset;
  const stopped = stopWork(draft, buildset, {
    code: 'item-left',
    at: draft.input.now,
    culprit: null,
    left: how.reason,
    ...removerOf(how),
  });
  const tested = testedMergeOf(buildset);
  return {
    ...stopped,
    stage: { state: 'complete', at: draft.input.now, result: how.result, tested, graph: graphOf(buildset) },
  };
}
