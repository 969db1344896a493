/**
 * Whether the changes of an item are still those that can only land together: a `Depends-On` line or a topic may close a cycle around
 * queued items, add a change to one, or open it.
 *
 *     A and B are queued, and A depends on B now as B does on A     →   both leave, and enter again as one item
 *     A + B is queued, and C has their topic now                    →   it leaves, and enters again as A + B + C, or not at all
 *     A + B is queued, and their queue takes no cycles any more     →   it leaves, and both are refused
 */
import { stronglyConnected } from '../lib/tarjan.ts';
import { type ChangeKey, sameRevision } from '../model/change.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { changeGroup, groupText } from './change-group.ts';
import { cycleObstacle, obstacleText, openDependencies } from './dependency-graph.ts';
import { hasLandedAnyway, isUnsettled } from './host-wait.ts';
import { isSeenAlone } from './seen-alone.ts';
import type { TurnDraft } from './turn-draft.ts';

/** The cycles as they are now, by each of their changes; a change alone is one as well. */
export type PresentCycles = ReadonlyMap<ChangeKey, ReadonlySet<ChangeKey>>;

/** One walk over the changes of the live items that the sweep looks at; none where no queue allows cycles. */
export function presentCycles(draft: TurnDraft): PresentCycles {
  const cycles = new Map<ChangeKey, ReadonlySet<ChangeKey>>();
  if (draft.manager.dependencies === 'ignored') return cycles;
  const queued: ChangeKey[] = [];
  for (const item of draft.dueItems())
    if (item.role === 'live' && !isSeenAlone(draft, item) && mayChange(draft, item))
      queued.push(...item.changes.map(({ key }) => key));
  const edges = (key: ChangeKey) => {
    const facts = draft.facts(key);
    return facts === undefined ? [] : openDependencies(draft, facts).map(needed => needed.record.change.key);
  };
  for (const component of stronglyConnected(queued, edges)) {
    const members = new Set(component);
    for (const key of component) cycles.set(key, members);
  }
  return cycles;
}

function mayChange(draft: TurnDraft, { changes }: QueueItem): boolean {
  return changes.length > 1 || changes.some(({ key }) => draft.facts(key)?.queue?.allowsCycles === true);
}

/** The changes that belong together now, for people; null: they are those of the item, or its landing may have begun. */
export function changedCycle(draft: TurnDraft, item: QueueItem, cycles: PresentCycles): string | null {
  if (isUnsettled(draft, item) || hasLandedAnyway(draft, item)) return null;
  const open = item.changes.filter(({ key }) => draft.facts(key)?.record.status === 'open');
  if (open.some(change => !isCurrent(draft, change))) return null;
  const [lead] = open;
  const members = lead === undefined ? undefined : cycles.get(lead.key);
  if (members === undefined) return null;
  const own = new Set(open.map(({ key }) => key));
  const queued = changeGroup([...own].flatMap(key => draft.facts(key) ?? []));
  const obstacle = cycleObstacle(draft, queued);
  if (obstacle !== null) return `${groupText(queued)} ${obstacleText(obstacle)}`;
  if (members.size === own.size && members.isSubsetOf(own)) return null;
  const present = changeGroup([...members].flatMap(key => draft.facts(key) ?? []));
  return cycleObstacle(draft, present) === null ? groupText(present) : null;
}

function isCurrent(draft: TurnDraft, change: QueueItem['changes'][number]): boolean {
  const record = draft.facts(change.key)?.record;
  return record !== undefined && sameRevision(record.change, change);
}
