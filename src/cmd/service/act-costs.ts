/** What operators' requests would do: the turn decides on the pipelines as this web knows them, and nothing is stored. */
import type { PipelineSnapshot } from '../../api/tenant-snapshot.ts';
import { refUpdate, refUpdateRecord } from '../../driver/ref-update.ts';
import type { Uuid } from '../../lib/ids.ts';
import { leadChange } from '../../model/about-item.ts';
import type { ActCost } from '../../model/act-cost.ts';
import { type ChangeKey, type ChangeRecord, connectionOfKey } from '../../model/change.ts';
import { changeRecordCodec } from '../../model/codec/records.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { ManagementOrigin, RequestedChange } from '../../model/management-event.ts';
import { projectIdOf } from '../../model/project.ts';
import { previewAct } from '../../pipeline/preview-act.ts';
import type { ChangeFacts } from '../../pipeline/turn.ts';
import type { Store } from '../../store/port.ts';
import { rootSpanOf } from '../../tracing/span-ids.ts';
import type { PlannedAct, WebDeps } from '../../web/deps.ts';
import type { RequestCore } from './operator-requests.ts';

type CostCore = Pick<RequestCore, 'paths' | 'clock' | 'ids'>;

/** Where a branch would be is not known before its host is asked. */
const SOME_COMMIT = '0'.repeat(40);
const NOTHING: ActCost = { items: [], jobs: [], refusals: [] };

/** @param store over all sessions: the change cache is read. @param snapshot of a tenant, as the web shows it. */
export function actCosts(
  core: CostCore,
  store: Store,
  snapshot: WebDeps['snapshot'],
): NonNullable<WebDeps['costOf']> {
  return async act => {
    const pipelines = snapshot(act.tenant)?.pipelines ?? [];
    const name = act.kind === 'promote' ? act.pipeline.name : act.pipeline;
    const live = pipelines.find(({ pipeline }) => pipeline.name === name);
    // It is gone since the request was read, and with it all that the act could cost.
    if (live === undefined) return NOTHING;
    if (act.kind === 'enqueue') return entryCost(core, store, { act, live, pipelines });
    const { supersedes: _none, ...cost } = preview(core, act, live, { event: eventOf(core, act) });
    return cost;
  };
}

function preview(
  { clock, ids }: CostCore,
  { tenant }: PlannedAct,
  { pipeline, state }: PipelineSnapshot,
  more: Pick<Parameters<typeof previewAct>[0], 'event' | 'changes'>,
): ReturnType<typeof previewAct> {
  return previewAct({ now: clock.now(), ids, tenant, pipeline, state, ...more });
}

function eventOf(core: CostCore, act: Exclude<PlannedAct, { readonly kind: 'enqueue' }>): PipelineEvent {
  const { by } = act;
  const uuid = core.ids.uuid();
  const management = originOf(core, act);
  switch (act.kind) {
    case 'dequeue':
      return { kind: 'dequeue', uuid, change: leadChange(act.item).key, by, management };
    case 'promote':
      return { kind: 'promote', uuid, changes: act.items.map(item => leadChange(item).key), by, management };
    case 'rerun': {
      const { uuid: item } = act.item;
      return { kind: 'rerun', uuid, item, change: leadChange(act.item).key, by, management };
    }
    case 'halt': {
      const { queue, wanted, reason } = act;
      return { kind: 'halt', uuid, queue, wanted, reason, by, management };
    }
  }
}

function originOf({ clock }: CostCore, { receivedAt }: PlannedAct): ManagementOrigin {
  return { receivedAt, storedAt: clock.now(), sampled: false };
}

interface Entry {
  readonly act: Extract<PlannedAct, { readonly kind: 'enqueue' }>;
  readonly live: PipelineSnapshot;
  readonly pipelines: readonly PipelineSnapshot[];
}

/**
 * What enters is tested behind all others of its queue, so only what it replaces or supersedes counts. Whether it may enter, and what
 * comes with it, is the host's and the layout's to say: it is taken as alone, and as fit.
 */
async function entryCost(core: CostCore, store: Store, { act, live, pipelines }: Entry): Promise<ActCost> {
  const record = await recordOf(core, store, act.wanted);
  // A change that no event and no item has named cannot be in a pipeline.
  if (record === undefined) return NOTHING;
  const { change } = record;
  const uuid = core.ids.uuid();
  const changes = new Map([[change.key, factsOf(record, live)]]);
  const entered = preview(core, act, live, { event: enqueueOf(core, act, record, uuid), changes });
  const superseded = entered.supersedes.flatMap(command =>
    pipelines
      .filter(({ pipeline }) => command.pipelines.includes(pipeline.name))
      .map(each =>
        preview(core, act, each, {
          event: { kind: 'superseded', uuid, change: command.change, by: live.pipeline.name },
        }),
      ),
  );
  const all = [entered, ...superseded];
  return { items: all.flatMap(({ items }) => items), jobs: [], refusals: entered.refusals };
}

/** As the change cache has it; undefined: it does not. */
async function recordOf(
  { paths, clock }: CostCore,
  store: Store,
  wanted: RequestedChange,
): Promise<ChangeRecord | undefined> {
  if (wanted.kind === 'ref') {
    const { project, ref, from, to } = wanted;
    const change = refUpdate(project, { ref, before: from, after: to ?? SOME_COMMIT });
    return refUpdateRecord(change, {}, clock.now());
  }
  const node = await store.get(paths.cachedChange(connectionOfKey(wanted.key), wanted.key));
  return node === undefined ? undefined : changeRecordCodec.decode(node.data);
}

function factsOf(record: ChangeRecord, { state }: PipelineSnapshot): ChangeFacts {
  const { key, project } = record.change;
  const { topic: _topic, ...alone } = record;
  return {
    record: { ...alone, dependsOn: [], unresolvedDependencies: [] },
    requirements: { met: true, text: '' },
    dependents: [],
    queue: queueOf(state, key, project),
    connectionAllowed: true,
  };
}

/** That of its item, or of its project's, so far as one is known: the change stays in the queue that it is in. */
function queueOf(
  { items, queues }: PipelineSnapshot['state'],
  key: ChangeKey,
  project: string,
): NonNullable<ChangeFacts['queue']> {
  const all = [...items.values()];
  const found =
    all.find(({ changes }) => changes.some(change => change.key === key)) ??
    all.find(({ changes }) => changes.some(change => change.project === project));
  const queue = queues.find(({ key: each }) => each === found?.queue);
  return { key: queue?.key ?? project, name: queue?.name ?? project, allowsCycles: true };
}

function enqueueOf(core: CostCore, act: Entry['act'], { change }: ChangeRecord, uuid: Uuid): PipelineEvent {
  const { connection } = projectIdOf(change.project);
  const span = rootSpanOf(uuid);
  return {
    kind: 'enqueue',
    ...{ uuid, tenantSpan: span, matched: '' },
    trigger: {
      ...{ uuid, connection, driver: connection, type: 'enqueue', project: change.project, change, span },
      ...{ branch: change.branch ?? null, ref: change.ref, facts: {}, configMayHaveChanged: [] },
      ...{ branchesChanged: false, receivedAt: act.receivedAt, sampled: false },
    },
    request: { by: act.by, management: originOf(core, act) },
  };
}
