/**
 * Notes landed changes in the change cache, in the commit of the turn that takes the report. Until the host is read again the cache
 * would have them as `open`, and a dependent that enters in between would enqueue them once more.
 */
import { extraPathsOf, isConfigPath } from '../../layout/tenant/config-files.ts';
import type { Nanoseconds } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import { testedMergeOf } from '../../model/build-set.ts';
import type { ChangeKey, ChangeRecord } from '../../model/change.ts';
import type { PipelineEvent, TenantEvent } from '../../model/event.ts';
import { branchesAfter, hasLanded, type Landed } from '../../model/landed.ts';
import type { Tenant } from '../../model/layout.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { ProjectKey, TenantName } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { Operation } from '../../store/port.ts';
import { rootSpanOf } from '../../tracing/span-ids.ts';

/** @returns the records to write, as `merged`; none for changes that are not in the cache. */
export function landedChanges(
  state: PipelineState,
  events: readonly PipelineEvent[],
  record: (key: ChangeKey) => ChangeRecord | undefined,
): ReadonlyMap<ChangeKey, ChangeRecord> {
  const landed = new Map<ChangeKey, ChangeRecord>();
  for (const { item } of landedItems(state, events)) {
    for (const { key } of item.changes) {
      const known = record(key);
      if (known !== undefined) landed.set(key, { ...known, status: 'merged' });
    }
  }
  return landed;
}

/**
 * Configuration that we landed ourselves, as events for every tenant that holds its project: it is in force for all later events,
 * even when the host's own event comes late or never.
 */
export async function landedConfiguration(
  state: PipelineState,
  events: readonly PipelineEvent[],
  { tenant: own, tenantsOf, ids, now }: LandedConfigurationDeps,
): Promise<readonly Operation[]> {
  const landings = landedItems(state, events).flatMap(({ item, landed }) =>
    configurationOf(item, landed, own).map(branch => ({ ...branch, item })),
  );
  const operations = landings.map(async ({ project, branch, commit, item }) => {
    const origin = { span: rootSpanOf(item.uuid), sampled: item.sampled };
    const event = { kind: 'first-look', project, landed: { branch, commit }, queuedAt: now, origin } as const;
    const tenants = await tenantsOf(project);
    return tenants.flatMap(({ tenant, queue }) => queue.put({ ...event, tenant, uuid: ids.uuid() }));
  });
  return (await Promise.all(operations)).flat();
}

/** `now` is the time at which the events are queued. */
export interface LandedConfigurationDeps {
  /** That of the pipeline. Other tenants learn of files that only they read as configuration by the host's own event. */
  readonly tenant: Pick<Tenant, 'projects'>;
  /** Every tenant that holds the project, of this or another scheduler. */
  tenantsOf(
    project: ProjectKey,
  ): Promise<
    readonly { readonly tenant: TenantName; readonly queue: Pick<EventQueue<TenantEvent>, 'put'> }[]
  >;
  readonly ids: IdMaker;
  readonly now: Nanoseconds;
}

/** Branches of the item's own changes whose configuration changed, with the commit that the host made. */
function configurationOf({ changes, buildset }: QueueItem, landed: Landed, tenant: Pick<Tenant, 'projects'>) {
  const configured = new Set(
    buildset.filesChanged.flatMap(({ project, files }) => {
      const extra = extraPathsOf(tenant, project);
      return files.some(file => isConfigPath(file, extra)) ? [project] : [];
    }),
  );
  return branchesAfter(testedMergeOf(buildset), landed).flatMap(({ project, branch, now }) =>
    configured.has(project) && changes.some(change => change.project === project && change.branch === branch)
      ? [{ project, branch, commit: now.commit }]
      : [],
  );
}

/** Items whose landing this turn learns of. */
export function landedItems(state: PipelineState, events: readonly PipelineEvent[]) {
  return events.flatMap(event => {
    if (event.kind !== 'report-result' || event.outcome.kind !== 'done') return [];
    const { landed } = event.outcome;
    const item = state.items.get(event.item);
    return item === undefined || !hasLanded(landed) ? [] : [{ item, landed }];
  });
}
