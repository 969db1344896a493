/**
 * Items that may not stay, by the present facts: abandoned, merged elsewhere, replaced by a new patchset, a requirement or a
 * dependency lost, the project not in the tenant any more.
 *
 * In an independent pipeline nothing merges, so a change that is already tested with a dependency stays when that gets a new
 * patchset, lands or is abandoned. A dependency that was abandoned before the merge with it was computed is lost, though, because
 * its ref may be gone. A withdrawn approval of a dependency counts like one of the change itself: its code may not run any more.
 *
 * Every turn reads the facts again, so a lost or doubled `change-updated` event costs time, never truth. The sweep runs before
 * events enqueue anything: a change whose old patchset leaves takes its dependents with it, and all of them can enter again
 * behind the new one in the same turn.
 *
 * An item that is being reported stays: the host is deciding already, and its answer settles the matter.
 *
 * Where the changes that can only land together are others now (changed-cycles.ts), the items with them leave and their changes enter
 * again at once, at the end of their queue, and with them what depends on them. So do the others of an item of which one change was
 * merged elsewhere.
 */

import type { LeaveCode } from '../model/cause.ts';
import {
  type Change,
  type ChangeKey,
  type ChangeRecord,
  changeKeyText,
  changeText,
  type ProposedChange,
  sameRevision,
} from '../model/change.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { changedCycle, type PresentCycles, presentCycles } from './changed-cycles.ts';
import { unknownText } from './dependency-graph.ts';
import { hasLandedAnyway, isUnsettled } from './host-wait.ts';
import { leaveEarly } from './leave-item.ts';
import { neededBy } from './needed-by.ts';
import type { QueueDraft } from './queue-draft.ts';
import { isSeenAlone } from './seen-alone.ts';
import type { ChangeFacts } from './turn.ts';
import type { TurnDraft } from './turn-draft.ts';

interface Departure {
  readonly reason: LeaveCode;
  readonly detail: string | null;
}

/**
 * Runs only when something happened since the last sweep (`departuresDue`); a turn calls it several times.
 *
 * @returns items that left to enter again: the caller sees to it (`enterAgain`).
 */
export function sweepDepartures(draft: TurnDraft): readonly QueueItem[] {
  if (!draft.departuresDue) return [];
  draft.departuresDue = false;
  const sweep: Sweep = { cycles: presentCycles(draft), moving: new Set(), left: [] };
  for (const queue of draft.queues.due()) sweepQueue(draft, queue, sweep);
  draft.departuresDue = false;
  return sweep.left;
}

interface Sweep {
  readonly cycles: PresentCycles;
  /** Changes whose items left to enter again. */
  readonly moving: Set<ChangeKey>;
  /** Those items. */
  readonly left: QueueItem[];
}

function sweepQueue(draft: TurnDraft, queue: QueueDraft, sweep: Sweep): void {
  const ahead = new Set<ChangeKey>();
  let unready: Departure | null = null;
  for (const uuid of queue.items) {
    const item = draft.item(uuid);
    if (item === undefined) continue;
    if (item.role === 'dependency' && draft.manager.dependencies === 'ignored') {
      leaveEarly(draft, item, 'no-longer-needed', null);
      continue;
    }
    if (item.role === 'dependency') {
      unready ??= unreadyDependency(draft, item);
      continue;
    }
    const isSeen = unready === null && isSeenAlone(draft, item);
    const isQueued = !isSeen && item.phase.phase === 'queued';
    const departure = isQueued ? (departureOf(draft, item, ahead, sweep) ?? unready) : null;
    if (departure !== null) {
      takeOut(draft, item, departure, sweep);
      continue;
    }
    // Those of an item that is being reported are new when it comes back to be tested again.
    if (isQueued && draft.manager.needsOrder) draft.put(withNewDependencies(draft, item));
    for (const change of item.changes) ahead.add(change.key);
  }
}

function takeOut(
  draft: TurnDraft,
  item: QueueItem,
  { reason, detail }: Departure,
  { left, moving }: Sweep,
): void {
  leaveEarly(draft, item, reason, detail);
  const entersAgain =
    reason === 'cycle-changed' || (reason === 'merged-elsewhere' && item.changes.length > 1);
  if (!entersAgain) return;
  left.push(item);
  for (const { key } of item.changes) if (isOpen(draft, key)) moving.add(key);
}

/** @param ahead changes of the items ahead in its queue. */
function departureOf(
  draft: TurnDraft,
  item: QueueItem,
  ahead: ReadonlySet<ChangeKey>,
  { cycles, moving }: Sweep,
): Departure | null {
  const own = ownDeparture(draft, item);
  if (own !== null) return own;
  const changed = changedCycle(draft, item, cycles);
  if (changed !== null) return { reason: 'cycle-changed', detail: changed };
  const lost = lostDependency(draft, item, moving) ?? abandonedDependency(draft, item);
  if (lost !== null) return { reason: 'dependency-lost', detail: lost };
  const moved = draft.manager.needsOrder ? item.dependsOn.find(key => moving.has(key)) : undefined;
  if (moved !== undefined)
    return { reason: 'cycle-changed', detail: `it depends on ${nameOf(draft, moved)}, which enters again` };
  const missing = missingDependency(draft, item, ahead);
  return missing === null ? null : { reason: 'dependency-lost', detail: missing };
}

function ownDeparture(draft: TurnDraft, item: QueueItem): Departure | null {
  for (const change of item.changes) {
    const departure = departureOfChange(draft, item, change);
    if (departure !== null) return departure;
  }
  return null;
}

function departureOfChange(draft: TurnDraft, item: QueueItem, change: Change): Departure | null {
  const facts = draft.facts(change.key);
  if (facts === undefined) return null;
  const { record, requirements, landing } = facts;
  // Its landing may have arrived: the host is asked first.
  if (facts.queue === null)
    return isUnsettled(draft, item) ? null : { reason: 'project-removed', detail: null };
  if (hasLandedAnyway(draft, item)) return null;
  const closed = closedDeparture(draft, record, change);
  if (closed !== null) return closed;
  if (isLandedByAnother(draft, record)) return null;
  if (!requirements.met && item.origin.byHand?.change !== change.key)
    return { reason: 'requirement-lost', detail: requirements.text };
  if (landing?.met === false) return { reason: 'cannot-land', detail: landing.text };
  return null;
}

/** In shadow mode another gate lands what is tested here, which is tested to its end all the same. */
function isLandedByAnother(draft: TurnDraft, { status }: ChangeRecord): boolean {
  return status === 'merged' && draft.input.shadowMode === true;
}

function closedDeparture(draft: TurnDraft, record: ChangeRecord, change: Change): Departure | null {
  if (record.change.kind !== 'change') return null;
  if (record.status === 'abandoned') return { reason: 'abandoned', detail: null };
  if (record.status === 'merged' && !draft.manager.takesMerged && !isLandedByAnother(draft, record))
    return { reason: 'merged-elsewhere', detail: null };
  if (replaces(draft) && !sameRevision(record.change, change))
    return { reason: 'new-patchset', detail: successorText(record.change, change) };
  return null;
}

function successorText(now: ProposedChange, before: Change): string {
  return now.branch === before.branch
    ? changeText(now)
    : `${changeText(now)}, which is for branch ${now.branch}`;
}

/** The pipeline drops an older patchset of a change that has a newer one. */
export function replaces(draft: TurnDraft): boolean {
  return draft.manager.newPatchset === 'replaces' || draft.input.pipeline.dequeueOnNewPatchset;
}

/** It left this pipeline in this turn and did not merge. @param except changes that enter again. */
export function lostDependency(
  draft: TurnDraft,
  item: QueueItem,
  except?: ReadonlySet<ChangeKey>,
): string | null {
  if (draft.lostChanges.size === 0) return null;
  const lost = item.dependsOn.find(key => draft.lostChanges.has(key) && except?.has(key) !== true);
  return lost === undefined ? null : nameOf(draft, lost);
}

function abandonedDependency(draft: TurnDraft, item: QueueItem): string | null {
  const { abandonedDependency: when } = draft.manager;
  if (when === 'never' || (when === 'until-merged' && isMerged(item))) return null;
  const lost = item.dependsOn.find(key => draft.facts(key)?.record.status === 'abandoned');
  return lost === undefined ? null : `${nameOf(draft, lost)} was abandoned`;
}

/** Its merge is computed: jobs need no ref of a dependency. */
function isMerged({ buildset }: QueueItem): boolean {
  return buildset.stage.state !== 'new' && buildset.stage.state !== 'merging';
}

/** @param item a dependency: it holds a place in the queue of the one change that is tested with it. */
function unreadyDependency(draft: TurnDraft, item: QueueItem): Departure | null {
  for (const change of item.changes) {
    const facts = draft.facts(change.key);
    if (facts === undefined || facts.requirements.met || facts.record.status !== 'open') continue;
    if (!sameRevision(facts.record.change, change)) continue;
    const detail = `it depends on ${changeText(change)}: ${facts.requirements.text}`;
    return { reason: 'requirement-lost', detail };
  }
  return null;
}

/** A dependency was added meanwhile, or is in another queue now, and is not known or not ahead: the order would be wrong. */
function missingDependency(draft: TurnDraft, item: QueueItem, ahead: ReadonlySet<ChangeKey>): string | null {
  if (!draft.manager.needsOrder) return null;
  const unknown = currentFacts(draft, item).flatMap(({ record }) => record.unresolvedDependencies);
  if (unknown.length > 0) return unknownText(unknown);
  const missing = addedDependencies(draft, item).find(key => !ahead.has(key));
  if (missing !== undefined) return `${nameOf(draft, missing)} is a new dependency and is not ahead`;
  const apart = item.dependsOn.find(key => !ahead.has(key) && draft.liveItems(key).length > 0);
  return apart === undefined ? null : `${nameOf(draft, apart)} is not ahead of it in its queue`;
}

/** Open dependencies that the host reports and the item does not have yet. */
function addedDependencies(draft: TurnDraft, item: QueueItem): readonly ChangeKey[] {
  const added: ChangeKey[] = [];
  for (const facts of currentFacts(draft, item))
    for (const key of neededBy(facts))
      if (!isOwn(item, key) && !item.dependsOn.includes(key) && isOpen(draft, key)) added.push(key);
  return added;
}

function isOwn({ changes }: QueueItem, key: ChangeKey): boolean {
  return changes.some(change => change.key === key);
}

/** Of its changes, as far as they are what is tested. */
function currentFacts(draft: TurnDraft, item: QueueItem): readonly ChangeFacts[] {
  return item.changes.flatMap(change => {
    const facts = draft.facts(change.key);
    return facts === undefined || !sameRevision(facts.record.change, change) ? [] : [facts];
  });
}

function isOpen(draft: TurnDraft, key: ChangeKey): boolean {
  return draft.facts(key)?.record.status === 'open' && !draft.landedChanges.has(key);
}

function withNewDependencies(draft: TurnDraft, item: QueueItem): QueueItem {
  const added = addedDependencies(draft, item);
  return added.length === 0 ? item : { ...item, dependsOn: [...item.dependsOn, ...added] };
}

function nameOf(draft: TurnDraft, key: ChangeKey): string {
  const facts = draft.facts(key);
  return facts === undefined ? changeKeyText(key) : changeText(facts.record.change);
}
