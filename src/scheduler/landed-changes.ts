/**
 * Changes a turn learns to have landed. The change cache says `open` of them until the host is read again; a dependent that
 * enters in between would pull them in once more. So the turn that takes the merge's report notes it, in the same commit.
 */
import { isConfigPath } from '../layout/config-files.ts';
import type { Nanoseconds } from '../lib/clock.ts';
import type { IdMaker } from '../lib/ids.ts';
import { testedMergeOf } from '../model/build-set.ts';
import type { ChangeKey, ChangeRecord } from '../model/change.ts';
import type { PipelineEvent, TenantEvent } from '../model/event.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { TenantName } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { rootSpanOf } from '../tracing/span-ids.ts';

export function landedChanges(
  state: PipelineState,
  events: readonly PipelineEvent[],
  record: (key: ChangeKey) => ChangeRecord | undefined,
): ReadonlyMap<ChangeKey, ChangeRecord> {
  const landed = new Map<ChangeKey, ChangeRecord>();
  for (const item of landedItems(state, events)) {
    for (const { key } of item.changes) {
      const known = record(key);
      if (known !== undefined) landed.set(key, { ...known, status: 'merged' });
    }
  }
  return landed;
}

/**
 * Configuration that we landed ourselves, as events of the tenant: it counts for everything the tenant hears of afterwards, whether
 * the host tells of the merge at once, later, or never.
 */
export function landedConfiguration(
  state: PipelineState,
  events: readonly PipelineEvent[],
  { tenant, ids, now }: { readonly tenant: TenantName; readonly ids: IdMaker; readonly now: Nanoseconds },
): readonly TenantEvent[] {
  return landedItems(state, events).flatMap(({ uuid, sampled, changes, buildset }) => {
    const configured = new Set(
      buildset.filesChanged.filter(({ files }) => files.some(isConfigPath)).map(({ project }) => project),
    );
    const own = (testedMergeOf(buildset)?.branches ?? []).filter(
      ({ project, branch }) =>
        configured.has(project) &&
        changes.some(change => change.project === project && change.branch === branch),
    );
    return own.map(({ project, branch, commit }) => ({
      kind: 'first-look',
      uuid: ids.uuid(),
      tenant,
      project,
      landed: { branch, commit },
      queuedAt: now,
      origin: { span: rootSpanOf(uuid), sampled },
    }));
  });
}

/** Of which this turn hears that they landed. */
function landedItems(state: PipelineState, events: readonly PipelineEvent[]): readonly QueueItem[] {
  return events.flatMap(event => {
    if (event.kind !== 'report-result' || event.outcome.kind !== 'done' || !event.outcome.merged) return [];
    return state.items.get(event.item) ?? [];
  });
}
