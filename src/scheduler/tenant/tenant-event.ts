/**
 * What one event of a tenant comes to: events for pipelines, updated change records, the trace, and perhaps a new layout, which is
 * committed on the way. The loop around it is tenant-events.ts.
 */
import type { Connection } from '../../driver/connection.ts';
import type { Driver } from '../../driver/driver.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { derivedUuid, type Uuid } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { Change, ChangeRecord } from '../../model/change.ts';
import type { EventOrigin, PipelineEvent, TenantEvent, TriggerEvent } from '../../model/event.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import type {
  BranchName,
  ConnectionName,
  PipelineName,
  ProjectKey,
  TenantName,
} from '../../model/project.ts';
import { promotes } from '../../pipeline/manager/managers.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { Fence } from '../../store/fence.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Operation } from '../../store/port.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import { rootSpanOf } from '../../tracing/span-ids.ts';
import type { LayoutRenewal } from '../../tracing/spans/reconfigure-spans.ts';
import type { ChangeCache } from '../changes/change-cache.ts';
import { cycleText } from '../changes/own-reports.ts';
import type { DependencyResolver } from '../changes/resolve-dependencies.ts';
import { missingRecords } from '../events/missing-records.ts';
import type { TopicQuestions } from '../events/topic-members.ts';
import { enqueueByHand } from './enqueue-by-hand.ts';
import type { HeldPlaces } from './held-places.ts';
import type { ConfigurationToRead } from './reconfigure.ts';
import { firstLookRows, matchRows, renewalRows } from './tenant-event-rows.ts';
import { matchNone, matchPipelines, type PipelineMatch } from './tenant-matching.ts';

type Trigger = Extract<TenantEvent, { kind: 'trigger' }>;
type HostDequeue = Extract<TenantEvent, { kind: 'dequeue' }>;
type HostPromote = Extract<TenantEvent, { kind: 'promote' }>;

/** The functions read the layout in force at the time of the call. */
export interface TenantEventDeps {
  readonly tenant: TenantName;
  readonly clock: Clock;
  readonly log: Log;
  readonly paths: StorePaths;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
  driverOf(connection: ConnectionName): Driver | undefined;
  readonly changes: ChangeCache;
  readonly dependencies: DependencyResolver;
  readonly topics: TopicQuestions;
  readonly tracing: Pick<LiveTracing, 'spans' | 'policy'>;
  readonly queue: EventQueue<TenantEvent>;
  readonly held: HeldPlaces;
  /** Events that wait although their configuration was read: at the next try they only ask for what is missing. */
  readonly configured: Set<Uuid>;
  pipelines(): Iterable<Pipeline>;
  /** They take nothing new, but get the updates of changes they hold. */
  retired(): readonly Pipeline[];
  eventsOf(pipeline: PipelineName): EventQueue<PipelineEvent>;
  /** Why the tenant ignores events of a branch; undefined: it does not. */
  exclusionOf(project: ProjectKey, branch: BranchName): string | undefined;
  /** The project's configuration could not be read so far. */
  isUnread(project: ProjectKey): boolean;
  /**
   * Reads configuration again. Commits a different layout by itself, together with the rows of `rowsFor`: when the event is processed
   * once more, after a commit conflict or a crash, the layout is not different any more.
   *
   * @returns `unread`: the host does not give the project's configuration now.
   */
  reconfigure(
    wanted: ConfigurationToRead,
    rowsFor: (renewal: LayoutRenewal) => readonly Operation[],
    fence: Fence,
    signal: AbortSignal,
  ): Promise<'read' | 'unread'>;
}

/** @param branch undefined: all branches. While that place is held an event that reads them all is in the queue. */
export function configurationOf(project: ProjectKey, branch?: BranchName): string {
  const all = `the configuration of ${project}`;
  return branch === undefined ? all : `${all} on branch ${branch}`;
}

/**
 * @throws ConfigurationNotGiven, HostNotAsked, the driver's errors about a host that is away: the event has to wait.
 */
export async function forwardOf(
  event: TenantEvent,
  takenAt: Nanoseconds,
  deps: TenantEventDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<Forward> {
  switch (event.kind) {
    case 'trigger':
      return triggerOperations(event, takenAt, deps, fence, signal);
    case 'updated':
      return { ...NOTHING, operations: updateOperations(event.change, event, event.origin, deps) };
    case 'first-look':
      return firstLookOperations(event, takenAt, deps, fence, signal);
    case 'dequeue':
      return { ...NOTHING, operations: dequeueOperations(event, deps) };
    case 'promote':
      return { ...NOTHING, operations: promoteOperations(event, deps) };
    case 'enqueue':
      return { ...NOTHING, ...(await enqueueByHand(event, takenAt, deps, signal)) };
  }
}

/** The effect of one event, for the commit that takes it out of the queue. */
export interface Forward {
  readonly operations: readonly Operation[];
  readonly records: readonly ChangeRecord[];
  /** Its configuration has to be read again, which the operations provide for. */
  readonly unread: ProjectKey | null;
}

const NOTHING: Forward = { operations: [], records: [], unread: null };

/** An update for every pipeline; those without an item of the change have nothing to do. */
function updateOperations(
  change: Change['key'],
  { uuid, queuedAt }: Pick<TenantEvent, 'uuid' | 'queuedAt'>,
  origin: EventOrigin | undefined,
  deps: TenantEventDeps,
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

/** A request for a pipeline that the tenant does not have is dropped: what it is about has left with the pipeline. */
function dequeueOperations(
  { uuid, change, pipeline, item, by, receivedAt, queuedAt, origin }: HostDequeue,
  deps: TenantEventDeps,
): readonly Operation[] {
  const { span: follows, sampled } = origin;
  return [...deps.pipelines(), ...deps.retired()]
    .filter(({ name }) => pipeline === undefined || pipeline === name)
    .flatMap(({ name }) =>
      deps.eventsOf(name).put({
        kind: 'dequeue',
        uuid: derivedUuid(uuid, name, 'dequeue'),
        ...{ change, by, management: { receivedAt, storedAt: queuedAt, follows, sampled } },
        ...(item === undefined ? {} : { item }),
      }),
    );
}

/** Without the name of a pipeline it concerns those in which the order of items counts. */
function promoteOperations(
  { uuid, change, pipeline, by, receivedAt, queuedAt, origin }: HostPromote,
  deps: TenantEventDeps,
): readonly Operation[] {
  const { span: follows, sampled } = origin;
  return [...deps.pipelines()]
    .filter(({ name, manager }) => (pipeline === undefined ? promotes(manager) : pipeline === name))
    .flatMap(({ name }) =>
      deps.eventsOf(name).put({
        kind: 'promote',
        uuid: derivedUuid(uuid, name, 'promote'),
        ...{ changes: [change], by, management: { receivedAt, storedAt: queuedAt, follows, sampled } },
      }),
    );
}

/** The host does not give a project's configuration. Asking again will do. */
export class ConfigurationNotGiven extends Error {
  readonly retryable = true;

  constructor(project: ProjectKey) {
    super(`the host does not give the configuration of ${project}`);
    this.name = 'ConfigurationNotGiven';
  }
}

/** The known configuration of the project may be older than what the driver has read. */
async function firstLookOperations(
  event: Extract<TenantEvent, { kind: 'first-look' }>,
  takenAt: Nanoseconds,
  deps: TenantEventDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<Forward> {
  const { project, landed } = event;
  const wanted =
    landed === undefined
      ? { project, branches: null, atLeast: [] }
      : { project, branches: [landed.branch], atLeast: [landed] };
  const rowsFor = (renewal: LayoutRenewal) => firstLookRows(event, takenAt, renewal, deps);
  const end = await deps.reconfigure(wanted, rowsFor, fence, signal);
  if (end === 'unread') throw new ConfigurationNotGiven(project);
  return NOTHING;
}

async function triggerOperations(
  event: Trigger,
  takenAt: Nanoseconds,
  deps: TenantEventDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<Forward> {
  const { trigger } = event;
  const toRead = deps.configured.has(event.uuid) ? undefined : configurationToRead(trigger, deps);
  const rowsFor = (renewal: LayoutRenewal) => renewalRows(event, takenAt, renewal, deps);
  const unread =
    toRead !== undefined && (await deps.reconfigure(toRead, rowsFor, fence, signal)) === 'unread'
      ? trigger.project
      : null;
  if (unread === null) deps.configured.add(event.uuid);
  const driver = deps.driverOf(trigger.connection);
  const record = deps.changes.record(trigger.change.key);
  const excluded = exclusion(trigger, deps) ?? cycleText(trigger);
  const matches =
    driver === undefined
      ? []
      : excluded === undefined
        ? matchPipelines(trigger, { tenant: deps.tenant, pipelines: deps.pipelines() }, driver, record)
        : matchNone(deps.pipelines(), excluded);
  const wanted = matches.filter(match => match.matched);
  const { records, queries } =
    wanted.length > 0 ? await missingRecords(trigger.change, trigger.receivedAt, deps, signal) : NO_QUERIES;
  const origin = { span: rootSpanOf(event.uuid), sampled: trigger.sampled };
  const updates =
    trigger.change.kind === 'change' ? updateOperations(trigger.change.key, event, origin, deps) : [];
  const matched = matchRows(event, matches, { takenAt, queries, gaveUp: false }, deps);
  const enqueues = wanted.flatMap(match => enqueueOperations(match, event, matched.trigger, deps));
  return {
    operations: [
      ...deps.changes.operations(records),
      ...updates,
      ...enqueues,
      ...matched.rows,
      ...(unread === null ? [] : readAgain(event, deps)),
    ],
    records,
    unread,
  };
}

/** The deletion of a branch counts: the host does not list it any more. */
function exclusion({ change, project, branch }: TriggerEvent, deps: TenantEventDeps): string | undefined {
  if (branch === null || (change.kind === 'ref' && change.newCommit === null)) return undefined;
  return deps.exclusionOf(project, branch);
}

/** The event goes on with the known configuration; a second event, which waits for the host, reads the rest. */
function readAgain({ uuid, trigger }: Trigger, deps: TenantEventDeps): readonly Operation[] {
  return deps.queue.put({
    kind: 'first-look',
    uuid: derivedUuid(uuid, 'configuration'),
    tenant: deps.tenant,
    project: trigger.project,
    queuedAt: deps.clock.now(),
    origin: { span: rootSpanOf(uuid), sampled: trigger.sampled },
  });
}

const NO_QUERIES = { records: [], queries: [] };

/** The configuration that must be reloaded; undefined: none, or all of it is, as soon as the host gives it. */
function configurationToRead(trigger: TriggerEvent, deps: TenantEventDeps): ConfigurationToRead | undefined {
  const { change, project, branchesChanged, configMayHaveChanged } = trigger;
  if (deps.held.isHeld([configurationOf(project)])) return undefined;
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
  deps: TenantEventDeps,
): readonly Operation[] {
  return deps.eventsOf(match.pipeline.name).put({
    kind: 'enqueue',
    uuid: derivedUuid(event.uuid, match.pipeline.name, 'enqueue'),
    trigger,
    tenantSpan: rootSpanOf(event.uuid),
    matched: match.text,
  });
}
