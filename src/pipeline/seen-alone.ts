import type { QueueItem } from '../model/queue-item.ts';
import type { TurnDraft } from './turn-draft.ts';

/**
 * A sweep of departures has seen the item with the very facts of now, and nothing else decides whether it stays: it is one change, which
 * depends on nothing and waits for no code host.
 */
export function isSeenAlone(draft: TurnDraft, item: QueueItem): boolean {
  const [{ key }, ...others] = item.changes;
  if (item.dependsOn.length > 0 || others.length > 0 || item.hostWait !== undefined) return false;
  if (!draft.due.isAsBefore(item)) return false;
  const facts = draft.facts(key);
  if (facts === undefined) return true;
  const { dependsOn, unresolvedDependencies } = facts.record;
  return dependsOn.length === 0 && unresolvedDependencies.length === 0 && facts.topic === undefined;
}
