/**
 * Station 3: takes the events of one tenant in order. An event that may have changed configuration renews the layout before
 * anything behind it is looked at; then every pipeline that wants the event gets it, and the others leave their reason.
 */
import type { Connection } from '../driver/connection.ts';
import type { Driver } from '../driver/driver.ts';
import type { Clock, Nanoseconds } from '../lib/clock.ts';
import { derivedUuid, type IdMaker } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import type { Change, ChangeRecord } from '../model/change.ts';
import { spansCodec } from '../model/codec/records.ts';
import type { PipelineEvent, TenantEvent, TriggerEvent } from '../model/event.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { ConnectionName, PipelineName, ProjectKey, TenantName } from '../model/project.ts';
import type { EventQueue, QueueEntry } from '../store/event-queue.ts';
import { type Fence, Fenced } from '../store/fence.ts';
import type { StorePaths } from '../store/paths.ts';
import type { Operation } from '../store/port.ts';
import { rootSpanOf } from '../tracing/span-ids.ts';
import type { SpanOptions } from '../tracing/spans/span-options.ts';
import { type TenantEventFacts, tenantEventSpans } from '../tracing/spans/tenant-event-spans.ts';
import type { ChangeCache } from './change-cache.ts';
import { decisionRows } from './decision-rows.ts';
import { missingRecords } from './missing-records.ts';
import { outboxRows } from './outbox-rows.ts';
import type { ProjectNews } from './reconfigure.ts';
import { matchDecision, matchPipelines, type PipelineMatch } from './tenant-matching.ts';

type Trigger = Extract<TenantEvent, { kind: 'trigger' }>;

/** An event that fails this often is laid aside. */
const MAX_ATTEMPTS = 4;

export interface Reconfigured {
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  readonly version: number;
}

export interface TenantEventsDeps {
  readonly tenant: TenantName;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly paths: StorePaths;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  driverOf(connection: ConnectionName): Driver | undefined;
  readonly changes: ChangeCache;
  readonly spans: SpanOptions | undefined;
  readonly queue: EventQueue<TenantEvent>;
  pipelines(): Iterable<Pipeline>;
  /** They take nothing new, but hear of changes they hold. */
  retired(): readonly Pipeline[];
  eventsOf(pipeline: PipelineName): EventQueue<PipelineEvent>;
  /** The project's configuration could not be read so far. */
  isUnread(project: ProjectKey): boolean;
  /** Reads configuration again where the event says so; null: nothing was different. Commits by itself. */
  reconfigure(news: ProjectNews, fence: Fence, signal: AbortSignal): Promise<Reconfigured | null>;
}

/** Returns when aborted; throws when the fence is lost. */
export async function processTenantEvents(
  deps: TenantEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  for await (const batch of deps.queue.batches(signal)) {
    for (const entry of batch) await processEntry(entry, deps, fence, signal);
  }
}

/** @throws the error of an event that may succeed at another attempt; the caller's loop begins again after a pause. */
async function processEntry(
  entry: QueueEntry<TenantEvent>,
  deps: TenantEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  const { value } = entry;
  try {
    const forward = await forwardOf(value, deps, fence, signal);
    await fence.commit([deps.queue.ack(entry), ...forward.operations], deps.ids.uuid());
    deps.changes.remember(forward.records);
  } catch (error) {
    if (error instanceof Fenced || signal.aborted) throw error;
    const hopeless = entry.attempts + 1 >= MAX_ATTEMPTS;
    await fence.commit(
      hopeless ? deps.queue.deadLetter(entry, error) : [deps.queue.noteFailure(entry)],
      deps.ids.uuid(),
    );
    if (!hopeless) throw error;
    deps.log.error({ err: error, event: value.uuid }, 'a tenant event is laid aside: it cannot be handled');
  }
}

async function forwardOf(
  event: TenantEvent,
  deps: TenantEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<Forward> {
  switch (event.kind) {
    case 'trigger':
      return triggerOperations(event, deps, fence, signal);
    case 'updated':
      return updateOperations(event.change, event.uuid, deps);
    case 'first-look':
      await deps.reconfigure({ project: event.project, branches: null, atLeast: [] }, fence, signal);
      return { operations: [], records: [] };
  }
}

interface Forward {
  readonly operations: readonly Operation[];
  readonly records: readonly ChangeRecord[];
}

/** Every pipeline looks again; those without an item of the change find nothing to do. */
function updateOperations(change: Change['key'], uuid: TenantEvent['uuid'], deps: TenantEventsDeps): Forward {
  const operations = [...deps.pipelines(), ...deps.retired()].flatMap(({ name }) =>
    deps.eventsOf(name).put({ kind: 'change-updated', uuid: derivedUuid(uuid, name, 'updated'), change }),
  );
  return { operations, records: [] };
}

async function triggerOperations(
  event: Trigger,
  deps: TenantEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<Forward> {
  const takenAt = deps.clock.now();
  const { trigger } = event;
  const news = configurationNews(trigger, deps);
  const reconfigured = news === undefined ? null : await deps.reconfigure(news, fence, signal);
  const driver = deps.driverOf(trigger.connection);
  const matches = driver === undefined ? [] : matchPipelines(trigger, deps.pipelines(), driver);
  const wanted = matches.filter(match => match.matched);
  const records =
    wanted.length > 0 ? await missingRecords(trigger.change, deps.changes, deps.connections, signal) : [];
  const updates =
    trigger.change.kind === 'change' ? updateOperations(trigger.change.key, event.uuid, deps).operations : [];
  const enqueues = wanted.flatMap(match => enqueueOperations(match, event, deps));
  return {
    operations: [
      ...deps.changes.operations(records),
      ...updates,
      ...enqueues,
      ...traceOperations(event, matches, takenAt, reconfigured, deps),
    ],
    records,
  };
}

/** What of the project's configuration has to be read again; undefined: nothing. */
function configurationNews(trigger: TriggerEvent, deps: TenantEventsDeps): ProjectNews | undefined {
  const { change, project, branchesChanged, configMayHaveChanged } = trigger;
  const everything = branchesChanged || deps.isUnread(project);
  if (!everything && configMayHaveChanged.length === 0) return undefined;
  const atLeast =
    change.kind === 'ref' && change.branch !== undefined && change.newCommit !== null
      ? [{ branch: change.branch, commit: change.newCommit }]
      : [];
  return { project, branches: everything ? null : configMayHaveChanged, atLeast };
}

function enqueueOperations(
  match: PipelineMatch,
  event: Trigger,
  deps: TenantEventsDeps,
): readonly Operation[] {
  return deps.eventsOf(match.pipeline.name).put({
    kind: 'enqueue',
    uuid: derivedUuid(event.uuid, match.pipeline.name, 'enqueue'),
    trigger: event.trigger,
    tenantSpan: rootSpanOf(event.uuid),
    matched: match.text,
  });
}

function traceOperations(
  event: Trigger,
  matches: readonly PipelineMatch[],
  takenAt: Nanoseconds,
  reconfigured: Reconfigured | null,
  deps: TenantEventsDeps,
): readonly Operation[] {
  const at = deps.clock.now();
  const decisions = matches.map(match => matchDecision(match, event.trigger, deps.tenant, at));
  const operations = decisionRows(decisions, deps.paths.historyOutbox, at);
  if (deps.spans === undefined) return operations;
  const facts: TenantEventFacts = {
    event: event.uuid,
    tenant: deps.tenant,
    trigger: event.trigger,
    queuedAt: event.queuedAt,
    takenAt,
    reconfigured,
    pipelines: decisions.map((decision, index) => ({
      pipeline: decision.pipeline ?? '',
      at,
      outcome: matches[index]?.matched === true ? ('matched' as const) : ('refused' as const),
      code: decision.code,
      text: decision.text,
    })),
    endedAt: deps.clock.now(),
  };
  const spans = tenantEventSpans(facts, deps.spans);
  return [...operations, ...outboxRows(deps.paths.spanOutbox, spans, spansCodec, at)];
}
