/**
 * Every reason an item moves, waits or leaves, in the order they are looked at.
 *
 *   leaves   a change it needs has left without merging        here; lost approvals, new patchsets, abandoned changes and
 *                                                              the like before the pass: departures.ts
 *   stops    a change it needs is failing                      stopForNeed: its work ends, it waits to see what becomes of it
 *   moves    what it was tested on top of is not the nearest   followNearest: reset, with the cause and the culprit
 *            non-failing item any more, or was itself reset
 *   prepares inside the window: merge, freeze, heads           prepare-item.ts
 *   runs     jobs start, retry, are skipped; all ended         start-jobs.ts
 *   reports  at the head with all jobs ended                   report-item.ts
 *
 * A failing item stays in place until it is at the head; it only stops being what those behind are tested with.
 *
 * Worked example: queue A B C D, B's test fails. B: failing, not the nearest any more. C extends B, the nearest is A:
 * moved behind A and reset, culprit B's build. D extends C, which was reset: reset for the same cause. B stays second.
 */
import type { Uuid } from '../lib/ids.ts';
import { type TestedMerge, testedMergeOf } from '../model/build-set.ts';
import { culpritText, type ResetCause } from '../model/cause.ts';
import type { HostWork } from '../model/host-trouble.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { changesText } from './changes-text.ts';
import { lostDependency } from './departures.ts';
import { heldByHost, isDue, mayAskHost } from './host-wait.ts';
import { leaveEarly } from './leave-item.ts';
import { mergeOnLanded, prepareItem } from './prepare-item.ts';
import type { QueuePass } from './queue-pass.ts';
import { reportItem } from './report-item.ts';
import { resetItem, supersede } from './reset-item.ts';
import { runningSinceTaken } from './since-taken.ts';
import { failureOf, holdsFollowing, stateOf } from './standing.ts';
import { startJobs } from './start-jobs.ts';
import { inState, withEvent } from './timeline.ts';
import type { Blame, TurnDraft } from './turn-draft.ts';
import { isInside } from './window.ts';

export function processItem(draft: TurnDraft, pass: QueuePass, item: QueueItem): void {
  const lost = item.phase.phase === 'queued' ? lostDependency(draft, item) : null;
  if (lost !== null) {
    leaveEarly(draft, item, 'dependency-lost', lost);
    return;
  }
  const active = isInside(pass.queue.window, pass.position);
  const failingNeed = neededFailing(pass, item);
  const advanced = item.phase.phase === 'queued' ? advance(draft, pass, item, active, failingNeed) : item;
  const reported = reportWhenDue(draft, pass, advanced);
  if (reported === null) return;
  settle(draft, pass, reported, active, failingNeed);
}

function neededFailing(pass: QueuePass, item: QueueItem): QueueItem | null {
  if (pass.failingChanges.size === 0) return null;
  for (const key of item.dependsOn) {
    const needed = pass.failingChanges.get(key);
    if (needed !== undefined) return needed;
  }
  return null;
}

function advance(
  draft: TurnDraft,
  pass: QueuePass,
  item: QueueItem,
  active: boolean,
  need: QueueItem | null,
): QueueItem {
  if (need !== null) return stopForNeed(draft, pass, item, need);
  const placed = followNearest(draft, pass, item);
  if (placed.role === 'dependency') return placed;
  const prepared = active ? prepareItem(draft, placed) : placed;
  return startJobs(draft, prepared, {
    active,
    heldBy: heldByText(pass, prepared),
    host: hostOfBuilds(draft, prepared),
  });
}

function heldBy(pass: QueuePass, item: QueueItem): QueueItem | null {
  return item.behind === null ? null : (pass.heldBehind.get(item.behind) ?? null);
}

function heldByText(pass: QueuePass, item: QueueItem): string | null {
  const holder = heldBy(pass, item);
  return holder === null ? null : changesText(holder);
}

/** Its jobs end and are not started again while the change it needs is failing. */
function stopForNeed(draft: TurnDraft, pass: QueuePass, item: QueueItem, need: QueueItem): QueueItem {
  const state = item.buildset.stage.state;
  if (state === 'new' || state === 'complete') return followNearest(draft, pass, item);
  const behind = pass.nearest?.uuid ?? null;
  if (state === 'superseded') return item.behind === behind ? item : { ...item, behind };
  const culprit = pass.failing.get(need.uuid)?.culprit ?? null;
  const cause: ResetCause = { code: 'needed-change-failing', at: draft.input.now, culprit };
  pass.changed.set(item.uuid, cause);
  return { ...supersede(draft, item, cause), behind };
}

/** Puts the item behind the nearest non-failing one, with a new buildset if anything was tested otherwise. */
function followNearest(draft: TurnDraft, pass: QueuePass, item: QueueItem): QueueItem {
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
        : (requeueCause(draft, item) ?? causeOfMove(draft, pass, behind));
  if (cause === null) return landed === undefined ? item : mergeOnLanded(draft, { ...item, behind });
  pass.changed.set(item.uuid, cause);
  if (stage.state === 'new') return stays ? item : moveBehind(draft, item, pass.nearest, cause);
  const moved = stays ? { ...item, behind } : moveBehind(draft, item, pass.nearest, cause);
  return resetItem(draft, moved, cause);
}

function changeOf(pass: QueuePass, behind: Uuid | null): ResetCause | null {
  return behind === null ? null : (pass.changed.get(behind) ?? null);
}

/**
 * Why what the item extends is not what it was tested with, although it is still behind the same item.
 *
 * Usually this pass has just reset that item. A big reset is written in several parts, though, and a crash between them
 * leaves this item with its old buildset: then the buildsets themselves tell.
 */
function changeBelow(
  draft: TurnDraft,
  pass: QueuePass,
  item: QueueItem,
  behind: Uuid | null,
): ResetCause | null {
  const landed = item.behind === null ? undefined : draft.landed.get(item.behind);
  if (landed !== undefined && !extendsTested(item, landed))
    return { code: 'base-moved', at: draft.input.now, culprit: null };
  const change = changeOf(pass, behind);
  const { stackedOn } = item.buildset;
  if (change !== null || behind === null || pass.nearest === null || typeof stackedOn !== 'string')
    return change;
  if (pass.nearest.buildset.uuid === stackedOn) return null;
  return pass.nearest.buildset.cause ?? causeOfMove(draft, pass, behind);
}

/**
 * What has landed is what the item was tested on, branch by branch. Somebody may have pushed between the two merges: the
 * host sees that where the item's own project is concerned, but not for the other projects its jobs ran with.
 */
function extendsTested(item: QueueItem, landed: TestedMerge | null): boolean {
  const above = testedMergeOf(item.buildset)?.branches ?? [];
  return (landed?.branches ?? []).every(below => {
    const branch = above.find(entry => entry.project === below.project && entry.branch === below.branch);
    return branch === undefined || branch.before === below.commit;
  });
}

/** It came from another queue and is tested behind what it found here. */
function requeueCause(draft: TurnDraft, item: QueueItem): ResetCause | null {
  return draft.requeued.has(item.uuid) ? { code: 'queue-changed', at: draft.input.now, culprit: null } : null;
}

/** Whose fault it is that the item cannot stay behind `behind`: it was reset, it left, it fails, or another came between. */
function causeOfMove(draft: TurnDraft, pass: QueuePass, behind: Uuid | null): ResetCause {
  const at = draft.input.now;
  const blame =
    behind === null
      ? undefined
      : (draft.departed.get(behind) ?? pass.failing.get(behind) ?? draft.requeued.get(behind));
  if (blame !== undefined) return { ...blame, at };
  const inherited = changeOf(pass, behind);
  if (inherited !== null) return inherited;
  const { nearest } = pass;
  const culprit = nearest === null ? null : { item: nearest.uuid, change: changesText(nearest) };
  return { code: 'item-ahead-changed', at, culprit };
}

/** A new item takes its place without ado; for others the move is recorded. */
function moveBehind(
  draft: TurnDraft,
  item: QueueItem,
  nearest: QueueItem | null,
  cause: ResetCause,
): QueueItem {
  const moved = { ...item, behind: nearest?.uuid ?? null };
  if (!draft.isKnown(item.uuid)) return moved;
  const to = nearest === null ? 'the tip of the branch' : changesText(nearest);
  const why = cause.culprit === null ? '' : ` because of ${culpritText(cause.culprit)}`;
  draft.decide(
    'moved-behind',
    { change: item.changes[0], item: item.uuid, event: null },
    `${changesText(item)} is now behind ${to}${why}`,
  );
  return withEvent(moved, { at: draft.input.now, name: 'moved', facts: { behind: to, cause: cause.code } });
}

/** @returns null: it was reported by saying nothing and has left. */
function reportWhenDue(draft: TurnDraft, pass: QueuePass, item: QueueItem): QueueItem | null {
  const { stage } = item.buildset;
  if (
    item.role !== 'live' ||
    item.phase.phase !== 'queued' ||
    stage.state !== 'complete' ||
    pass.directlyAhead !== null ||
    !mayAskHost(draft, item, 'report')
  )
    return item;
  return reportItem(draft, pass.queue, item, stage.result);
}

/** Notes what this item means for those behind, and in which state it is now. */
function settle(
  draft: TurnDraft,
  pass: QueuePass,
  item: QueueItem,
  active: boolean,
  need: QueueItem | null,
): void {
  const blame = item.role === 'dependency' ? null : need === null ? failureOf(item) : blameOfNeed(pass, need);
  const { directlyAhead } = pass;
  const noted = blame === null || need !== null ? item : noteFailing(draft, item, blame);
  const settled = inState(
    runningSinceTaken(noted),
    stateOf(noted, {
      active,
      directlyAhead,
      heldBy: heldBy(pass, noted),
      host: heldByHost(draft, noted, hostWorkOf(noted)),
      failingNeed: need,
    }),
    draft.input.now,
  );
  draft.put(settled);
  if (blame === null) pass.nearest = settled;
  else {
    pass.failing.set(settled.uuid, blame);
    for (const change of settled.changes) pass.failingChanges.set(change.key, settled);
  }
  const holder = holdsFollowing(settled) ? settled : heldBy(pass, settled);
  if (holder !== null) pass.heldBehind.set(settled.uuid, holder);
  if (settled.role === 'dependency') return;
  pass.directlyAhead = settled;
  pass.position += 1;
}

/** Builds ask for themselves: none begins while the host is known to give nothing. */
function hostOfBuilds(draft: TurnDraft, item: QueueItem): string | null {
  if (item.hostWait?.doing !== 'build' || isDue(item.hostWait, draft.input.now)) return null;
  return item.hostWait.project;
}

/** What the item would ask a host for next. */
function hostWorkOf({ buildset: { stage } }: QueueItem): HostWork {
  switch (stage.state) {
    case 'new':
    case 'merging':
    case 'merged':
    case 'repo-state':
    case 'superseded':
      return 'merge';
    case 'running':
      return 'build';
    case 'complete':
      return 'report';
  }
}

function blameOfNeed(pass: QueuePass, need: QueueItem): Blame {
  return { code: 'item-ahead-failed', culprit: pass.failing.get(need.uuid)?.culprit ?? null };
}

/** Once per buildset. */
function noteFailing(draft: TurnDraft, item: QueueItem, blame: Blame): QueueItem {
  const buildset = item.buildset.uuid;
  if (item.events.some(event => event.name === 'failing' && event.facts.buildset === buildset)) return item;
  const { job, result, build } = blame.culprit ?? {};
  const facts = {
    buildset,
    ...(build === undefined ? {} : { build }),
    ...(job === undefined ? {} : { job }),
    ...(result === undefined ? {} : { result }),
  };
  return withEvent(item, { at: draft.input.now, name: 'failing', facts });
}
