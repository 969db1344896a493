/**
 * Changes a turn learns to have landed. The change cache says `open` of them until the host is read again; a dependent that
 * enters in between would pull them in once more. So the turn that takes the merge's report notes it, in the same commit.
 */
import type { ChangeKey, ChangeRecord } from '../model/change.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { PipelineState } from '../model/pipeline-state.ts';

export function landedChanges(
  state: PipelineState,
  events: readonly PipelineEvent[],
  record: (key: ChangeKey) => ChangeRecord | undefined,
): ReadonlyMap<ChangeKey, ChangeRecord> {
  const landed = new Map<ChangeKey, ChangeRecord>();
  for (const event of events) {
    if (event.kind !== 'report-result' || event.outcome.kind !== 'done' || !event.outcome.merged) continue;
    for (const { key } of state.items.get(event.item)?.changes ?? []) {
      const known = record(key);
      if (known !== undefined) landed.set(key, { ...known, status: 'merged' });
    }
  }
  return landed;
}
