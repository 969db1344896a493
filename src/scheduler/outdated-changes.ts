/** Entries of the change cache nobody needs: closed or ref updates, held by no item, not heard of for a while. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { ChangeKey, ChangeRecord } from '../model/change.ts';
import type { PipelineState } from '../model/pipeline-state.ts';

export function outdatedChanges(
  records: Iterable<ChangeRecord>,
  states: readonly PipelineState[],
  before: Nanoseconds,
): readonly ChangeKey[] {
  const held = new Set(
    states.flatMap(state =>
      [...state.items.values()].flatMap(item => item.changes.map(change => change.key)),
    ),
  );
  return [...records]
    .filter(record => record.status !== 'open' || record.change.kind === 'ref')
    .filter(record => !held.has(record.change.key) && BigInt(record.fetchedAt) < BigInt(before))
    .map(record => record.change.key);
}
