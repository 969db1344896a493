/** Unused entries of the change cache: closed changes and ref updates that no item or event holds and that were not read for a while. */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { ChangeKey, ChangeRecord } from '../../model/change.ts';

/** @param held by items, and by events that wait. */
export function outdatedChanges(
  records: Iterable<ChangeRecord>,
  held: ReadonlySet<ChangeKey>,
  before: Nanoseconds,
): readonly ChangeKey[] {
  return [...records]
    .filter(record => record.status !== 'open' || record.change.kind === 'ref')
    .filter(record => !held.has(record.change.key) && BigInt(record.fetchedAt) < BigInt(before))
    .map(record => record.change.key);
}
