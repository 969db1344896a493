/**
 * Every reason for which an item moves, waits or leaves, in the order of checks.
 *
 *   leaves   a change it needs has left without merging        here; lost approvals, new patchsets, abandoned changes and
 *                                                              the like before the pass: departures.ts
 *   stops    a change it needs is failing                      stopForNeed: its work ends, and it waits for the outcome
 *   moves    what it was tested on top of is not the nearest   follow-nearest.ts: reset, with the cause and the culprit; not
 *            non-failing item any more, or was itself reset     where only conflicting items were dropped (past-conflicts.ts)
 *   prepares inside the window: merge, freeze, heads           prepare-item.ts
 *   runs     jobs start, retry, are skipped; all ended         start-jobs.ts
 *   reports  at the head with all jobs ended, and with it      report-item.ts
 *            those behind it that passed, where they land together    land-together.ts
 *
 * A failing item stays in place until it is at the head; it only stops being what those behind are tested with.
 *
 * Worked example: queue A B C D, B's test fails. B: failing, not the nearest any more. C extends B, the nearest is A:
 * moved behind A and reset, culprit B's build. D extends C, which was reset: reset for the same cause. B stays second.
 */
import { changesText } from '../model/about-item.ts';
import type { StartHold } from '../model/build-set.ts';
import type { ResetCause } from '../model/cause.ts';
import { haltOf, haltText } from '../model/halt.ts';
import type { HostWork } from '../model/host-trouble.ts';
import type { ProjectKey } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { lostDependency } from './departures.ts';
import { followNearest, standOnLanded } from './follow-nearest.ts';
import { heldByHost, isDue, mayAskHost } from './host-wait.ts';
import { judgeByLaterAnswer } from './judge-by-later-answer.ts';
import { joinsLanding, withItem } from './land-together.ts';
import { leaveEarly } from './leave-item.ts';
import { prepareItem } from './prepare-item.ts';
import type { QueuePass } from './queue-pass.ts';
import { reportItem } from './report-item.ts';
import { supersede } from './reset-item.ts';
import { forgetResult } from './reuse-results.ts';
import { waitsAsTheyWere } from './since-taken.ts';
import { failureOf, holdsFollowing, stateOf } from './standing.ts';
import { startJobs } from './start-jobs.ts';
import { inState, withEvent } from './timeline.ts';
import type { Blame, TurnDraft } from './turn-draft.ts';
import { isInside } from './window.ts';

/** One item's part of the pass; records in `pass` what it means for the items behind. */
export function processItem(draft: TurnDraft, pass: QueuePass, item: QueueItem): void {
  const lost = item.phase.phase === 'queued' ? lostDependency(draft, item) : null;
  if (lost !== null) {
    leaveEarly(draft, item, 'dependency-lost', lost);
    return;
  }
  const active = isInside(pass.queue.window, pass.position);
  const failingNeed = neededFailing(pass, item);
  const advanced =
    item.phase.phase === 'queued'
      ? advance(draft, pass, item, active, failingNeed)
      : standOnLanded(draft, item);
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
  const placed = judgeByLaterAnswer(draft, pass, followNearest(draft, pass, item));
  if (placed.role === 'dependency') return placed;
  const prepared = active && !standsOnGone(draft, pass, placed) ? prepareItem(draft, placed) : placed;
  return startJobs(draft, prepared, startHold(draft, pass, prepared, active));
}

function standsOnGone(draft: TurnDraft, pass: QueuePass, { behind }: QueueItem): boolean {
  return behind !== null && (draft.item(behind) === undefined || pass.onGone.has(behind));
}

function startHold(
  draft: TurnDraft,
  pass: QueuePass,
  item: QueueItem,
  active: boolean,
): StartHold | undefined {
  if (!active) return { on: 'window' };
  const halt = haltOf(draft.halts, pass.queue.name, 'pause');
  if (halt !== undefined) return { on: 'paused', reason: haltText(halt) };
  const holder = heldBy(pass, item);
  if (holder !== null) return { on: 'hold-following', item: changesText(holder) };
  const project = hostOfBuilds(draft, item);
  return project === null ? undefined : { on: 'host', project };
}

function heldBy(pass: QueuePass, item: QueueItem): QueueItem | null {
  return item.behind === null ? null : (pass.heldBehind.get(item.behind) ?? null);
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

/** @returns null: it has left, because the pipeline has no reporters for the result. */
function reportWhenDue(draft: TurnDraft, pass: QueuePass, item: QueueItem): QueueItem | null {
  const { stage } = item.buildset;
  if (item.role !== 'live' || item.phase.phase !== 'queued' || stage.state !== 'complete') return item;
  const isDue =
    pass.directlyAhead === null ? mayAskHost(draft, item, 'report') : joinsLanding(draft, pass, item);
  if (!isDue) return item;
  const reported = reportItem(draft, pass.queue, item, stage.result, pass.landing?.report);
  pass.landing = reported === null ? null : withItem(draft, pass.landing, reported);
  return reported;
}

/** Records what this item means for the items behind, and its state. */
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
    waitsAsTheyWere(noted),
    stateOf(noted, {
      active,
      oneAtATime: draft.manager.window === 'one',
      directlyAhead,
      paused: haltOf(draft.halts, pass.queue.name, 'pause') ?? null,
      heldBy: heldBy(pass, noted),
      host: heldByHost(draft, noted, hostWorkOf(noted)),
      failingNeed: need,
    }),
    draft.input.now,
  );
  draft.put(settled);
  if (standsOnGone(draft, pass, settled)) pass.onGone.add(settled.uuid);
  if (blame === null) {
    if (draft.manager.window !== 'one') pass.nearest = settled;
  } else {
    pass.failing.set(settled.uuid, blame);
    for (const change of settled.changes) pass.failingChanges.set(change.key, settled);
  }
  const holder = holdsFollowing(settled) ? settled : heldBy(pass, settled);
  if (holder !== null) pass.heldBehind.set(settled.uuid, holder);
  if (settled.role === 'dependency') return;
  pass.directlyAhead = settled;
  pass.position += 1;
}

/** Each build asks the host itself: none starts while the host is in trouble. */
function hostOfBuilds(draft: TurnDraft, item: QueueItem): ProjectKey | null {
  if (item.hostWait?.doing !== 'build' || isDue(item.hostWait, draft.input.now)) return null;
  return item.hostWait.project;
}

/** The next work of the item at a host. */
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
  forgetResult(draft, item);
  const { job, result, build } = blame.culprit ?? {};
  const facts = {
    buildset,
    ...(build === undefined ? {} : { build }),
    ...(job === undefined ? {} : { job }),
    ...(result === undefined ? {} : { result }),
  };
  return withEvent(item, { at: draft.input.now, name: 'failing', facts });
}
