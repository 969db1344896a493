/**
 * Stage 3: takes the events of one tenant in order. An event that may have changed configuration renews the layout before any event
 * behind it is processed. Then every pipeline with a matching trigger gets the event; for the others the reason is a decision.
 */
import type { Connection } from '../../driver/connection.ts';
import type { Driver } from '../../driver/driver.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { derivedUuid, type IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import { type Change, type ChangeKey, type ChangeRecord, connectionOfKey } from '../../model/change.ts';
import { isNewerRecord } from '../../model/codec/record.ts';
import type { EventOrigin, PipelineEvent, TenantEvent, TriggerEvent } from '../../model/event.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import {
  type ConnectionName,
  type PipelineName,
  type ProjectKey,
  projectIdOf,
  type TenantName,
} from '../../model/project.ts';
import { isOutOfContact } from '../../store/connection.ts';
import type { EventQueue, QueueEntry } from '../../store/event-queue.ts';
import { type Fence, Fenced } from '../../store/fence.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Operation } from '../../store/port.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import { tenantEventLogFacts } from '../../tracing/log-facts.ts';
import { rootSpanOf } from '../../tracing/span-ids.ts';
import type { LayoutRenewal } from '../../tracing/spans/reconfigure-spans.ts';
import type { ChangeCache } from '../changes/change-cache.ts';
import { type DependencyResolver, HostNotAsked } from '../changes/resolve-dependencies.ts';
import { missingRecords } from '../events/missing-records.ts';
import { isRemoteFault, REMOTE_PAUSES } from '../remote-fault.ts';
import { pipelineClock } from '../turn/pipeline-clock.ts';
import type { ConfigurationToRead } from './reconfigure.ts';
import { firstLookRows, givenUpTenantEventRows, matchRows, renewalRows } from './tenant-event-rows.ts';
import { matchPipelines, type PipelineMatch } from './tenant-matching.ts';

type Trigger = Extract<TenantEvent, { kind: 'trigger' }>;

/** An event that fails this often becomes a dead letter. */
const MAX_ATTEMPTS = 4;
/** Events processed besides those that wait for a host. */
const AT_ONCE = 100;
/** Commit conflicts in a row about one event; more are no coincidence. */
const MOST_CONFLICTS = 50;

export interface TenantEventsDeps {
  readonly tenant: TenantName;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly paths: StorePaths;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  driverOf(connection: ConnectionName): Driver | undefined;
  readonly changes: ChangeCache;
  readonly dependencies: DependencyResolver;
  readonly tracing: Pick<LiveTracing, 'spans'>;
  readonly queue: EventQueue<TenantEvent>;
  /** Milliseconds before a host that is away is retried. Default {@link REMOTE_PAUSES}. */
  readonly pauses?: readonly number[];
  pipelines(): Iterable<Pipeline>;
  /** They take nothing new, but get the updates of changes they hold. */
  retired(): readonly Pipeline[];
  eventsOf(pipeline: PipelineName): EventQueue<PipelineEvent>;
  /** The project's configuration could not be read so far. */
  isUnread(project: ProjectKey): boolean;
  /**
   * Reads configuration again. Commits a different layout by itself, together with the rows of `rowsFor`: when the event is processed
   * once more, after a commit conflict or a crash, the layout is not different any more.
   */
  reconfigure(
    wanted: ConfigurationToRead,
    rowsFor: (renewal: LayoutRenewal) => readonly Operation[],
    fence: Fence,
    signal: AbortSignal,
  ): Promise<void>;
}

/**
 * Returns when aborted; throws when the fence is lost. While a host is away its events wait, in their order; those of other
 * hosts go on.
 */
export async function processTenantEvents(
  deps: TenantEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  const pauses = deps.pauses ?? REMOTE_PAUSES;
  for await (const batch of deps.queue.batches(signal)) {
    let waiting = await processAll(batch, deps, fence, signal);
    for (let attempt = 1; waiting > 0 && !signal.aborted; attempt++) {
      await pause(pauses[Math.min(attempt, pauses.length) - 1] ?? 30_000, signal);
      waiting = await processAll(await deps.queue.list(batch.length + AT_ONCE), deps, fence, signal);
    }
  }
}

/** @returns how many wait because their host, or a host that has to be asked about a dependency, is away. */
async function processAll(
  entries: readonly QueueEntry<TenantEvent>[],
  deps: TenantEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<number> {
  const away = new Set<ConnectionName | ChangeKey>();
  let waiting = 0;
  for (const entry of entries) {
    if (signal.aborted) return 0;
    const { host, change } = placeOf(entry.value);
    if (away.has(host) || (change !== undefined && away.has(change))) {
      waiting += 1;
      continue;
    }
    try {
      await processEntry(entry, deps, fence, signal);
    } catch (error) {
      if (signal.aborted || !isRemoteFault(error)) throw error;
      // Any change may name one of a host that is away: only the change that names it waits.
      const place = (error instanceof HostNotAsked ? change : undefined) ?? host;
      const why =
        place === host ? `${host} is away` : 'the host of a dependency is away: the change waits for it';
      deps.log.warn({ err: error, tenant: deps.tenant, ...tenantEventLogFacts(entry.value) }, why);
      away.add(place);
      waiting += 1;
    }
  }
  return waiting;
}

/** The events of one place are processed in order. */
function placeOf(event: TenantEvent): { readonly host: ConnectionName; readonly change?: ChangeKey } {
  switch (event.kind) {
    case 'trigger':
      return { host: event.trigger.connection, change: event.trigger.change.key };
    case 'updated':
      return { host: connectionOfKey(event.change), change: event.change };
    case 'first-look':
      return { host: projectIdOf(event.project).connection };
  }
}

/** @throws the error of an event that may succeed at another attempt; the caller's loop restarts after a pause. */
async function processEntry(
  entry: QueueEntry<TenantEvent>,
  { clock: own, ...rest }: TenantEventsDeps,
  fence: Fence,
  signal: AbortSignal,
  conflicts = 0,
): Promise<void> {
  const { value } = entry;
  // The scheduler that forwarded it may have a clock that is ahead of ours.
  const clock = pipelineClock(own);
  clock.catchUp([value]);
  const deps: TenantEventsDeps = { ...rest, clock };
  const takenAt = clock.now();
  try {
    await deps.changes.fresh();
    const forward = await forwardOf(value, takenAt, deps, fence, signal);
    await fence.commit([deps.queue.ack(entry), ...forward.operations], deps.ids.uuid());
    deps.changes.remember(forward.records);
  } catch (error) {
    if (error instanceof Fenced || isNewerRecord(error) || isOutOfContact(error) || signal.aborted)
      throw error;
    if (isRemoteFault(error)) throw error;
    // Commit conflict about the change's record: the event is processed again with the new record, and has not failed.
    if (conflicts < MOST_CONFLICTS && (await deps.changes.conflict(error)))
      return processEntry(entry, deps, fence, signal, conflicts + 1);
    const hopeless = entry.attempts + 1 >= MAX_ATTEMPTS;
    await fence.commit(
      hopeless
        ? [...deps.queue.deadLetter(entry, error), ...givenUpTenantEventRows(value, takenAt, deps)]
        : [deps.queue.noteFailure(entry)],
      deps.ids.uuid(),
    );
    if (!hopeless) throw error;
    deps.log.error(
      { err: error, ...tenantEventLogFacts(value) },
      'a tenant event is a dead letter now: it cannot be processed',
    );
  }
}

async function forwardOf(
  event: TenantEvent,
  takenAt: Nanoseconds,
  deps: TenantEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<Forward> {
  switch (event.kind) {
    case 'trigger':
      return triggerOperations(event, takenAt, deps, fence, signal);
    case 'updated':
      return { operations: updateOperations(event.change, event, event.origin, deps), records: [] };
    case 'first-look':
      return firstLookOperations(event, takenAt, deps, fence, signal);
  }
}

interface Forward {
  readonly operations: readonly Operation[];
  readonly records: readonly ChangeRecord[];
}

/** An update for every pipeline; those without an item of the change have nothing to do. */
function updateOperations(
  change: Change['key'],
  { uuid, queuedAt }: Pick<TenantEvent, 'uuid' | 'queuedAt'>,
  origin: EventOrigin | undefined,
  deps: TenantEventsDeps,
): readonly Operation[] {
  return [...deps.pipelines(), ...deps.retired()].flatMap(({ name }) =>
    deps.eventsOf(name).put({
      kind: 'change-updated',
      uuid: derivedUuid(uuid, name, 'updated'),
      change,
      ...(origin === undefined ? {} : { origin: { ...origin, queuedAt } }),
    }),
  );
}

/** The known configuration of the project may be older than what the driver has read. */
async function firstLookOperations(
  event: Extract<TenantEvent, { kind: 'first-look' }>,
  takenAt: Nanoseconds,
  deps: TenantEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<Forward> {
  const { project, landed } = event;
  const wanted =
    landed === undefined
      ? { project, branches: null, atLeast: [] }
      : { project, branches: [landed.branch], atLeast: [landed] };
  const rowsFor = (renewal: LayoutRenewal) => firstLookRows(event, takenAt, renewal, deps);
  await deps.reconfigure(wanted, rowsFor, fence, signal);
  return { operations: [], records: [] };
}

async function triggerOperations(
  event: Trigger,
  takenAt: Nanoseconds,
  deps: TenantEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<Forward> {
  const { trigger } = event;
  const toRead = configurationToRead(trigger, deps);
  const rowsFor = (renewal: LayoutRenewal) => renewalRows(event, takenAt, renewal, deps);
  if (toRead !== undefined) await deps.reconfigure(toRead, rowsFor, fence, signal);
  const driver = deps.driverOf(trigger.connection);
  const record = deps.changes.record(trigger.change.key);
  const matches = driver === undefined ? [] : matchPipelines(trigger, deps.pipelines(), driver, record);
  const wanted = matches.filter(match => match.matched);
  const { records, queries } =
    wanted.length > 0 ? await missingRecords(trigger.change, trigger.receivedAt, deps, signal) : NO_QUERIES;
  const origin = { span: rootSpanOf(event.uuid), sampled: trigger.sampled };
  const updates =
    trigger.change.kind === 'change' ? updateOperations(trigger.change.key, event, origin, deps) : [];
  const matched = matchRows(event, matches, { takenAt, queries, gaveUp: false }, deps);
  const enqueues = wanted.flatMap(match => enqueueOperations(match, event, matched.trigger, deps));
  return {
    operations: [...deps.changes.operations(records), ...updates, ...enqueues, ...matched.rows],
    records,
  };
}

const NO_QUERIES = { records: [], queries: [] };

/** The configuration that must be reloaded; undefined: none. */
function configurationToRead(trigger: TriggerEvent, deps: TenantEventsDeps): ConfigurationToRead | undefined {
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
  trigger: TriggerEvent,
  deps: TenantEventsDeps,
): readonly Operation[] {
  return deps.eventsOf(match.pipeline.name).put({
    kind: 'enqueue',
    uuid: derivedUuid(event.uuid, match.pipeline.name, 'enqueue'),
    trigger,
    tenantSpan: rootSpanOf(event.uuid),
    matched: match.text,
  });
}
