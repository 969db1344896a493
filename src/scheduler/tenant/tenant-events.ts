/**
 * Stage 3: takes the events of one tenant in order. An event that may have changed configuration renews the layout before any event
 * behind it is processed. Then every pipeline with a matching trigger gets the event; for the others the reason is a decision.
 */
import type { Connection } from '../../driver/connection.ts';
import type { Driver } from '../../driver/driver.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { derivedUuid, type IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { createDirty } from '../../lib/signal.ts';
import { type Change, type ChangeRecord, connectionOfKey } from '../../model/change.ts';
import { isNewerRecord } from '../../model/codec/record.ts';
import type { EventOrigin, PipelineEvent, TenantEvent, TriggerEvent } from '../../model/event.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import type {
  BranchName,
  ConnectionName,
  PipelineName,
  ProjectKey,
  TenantName,
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
import { createHeldPlaces, type HeldPlaces } from './held-places.ts';
import type { ConfigurationToRead } from './reconfigure.ts';
import { firstLookRows, givenUpTenantEventRows, matchRows, renewalRows } from './tenant-event-rows.ts';
import { matchPipelines, type PipelineMatch } from './tenant-matching.ts';

type Trigger = Extract<TenantEvent, { kind: 'trigger' }>;

/** An event that fails this often becomes a dead letter. */
const MAX_ATTEMPTS = 4;
/**
 * Milliseconds before configuration is read again that a host did not give. Each try may take as long as a host is waited for, and the
 * tenant's other events wait for it.
 */
const CONFIGURATION_PAUSES = [1_000, 5_000, 30_000, 120_000, 600_000] as const;
/** Commit conflicts in a row about one event; more are no coincidence. */
const MOST_CONFLICTS = 50;

/** Passed by the holder of the tenant (tenant-runner.ts); the functions read the layout in force at the time of the call. */
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
  /** Milliseconds before a held place is retried. Default {@link REMOTE_PAUSES}, for configuration {@link CONFIGURATION_PAUSES}. */
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

/**
 * Returns when aborted; throws when the fence is lost. While a host is away its events wait, in their order; those of other
 * hosts go on.
 */
export async function processTenantEvents(
  outer: TenantEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  const deps: LoopDeps = { ...outer, held: createHeldPlaces(() => performance.now()) };
  const retry = createDirty(true);
  let timer: NodeJS.Timeout | undefined;
  const known = new Set<string>();
  let waiting: WaitingEvent[] = [];
  try {
    for await (const _ of deps.queue.arrivals(signal, retry)) {
      clearTimeout(timer);
      waiting = await retryWaiting(waiting, deps, fence, signal);
      for await (const entries of deps.queue.additions(known))
        for (const entry of entries) {
          const places = placesOf(entry.value);
          if (deps.held.isHeld(places) || !(await taken(entry, deps, fence, signal)))
            waiting.push({ path: entry.path, places });
        }
      if (waiting.length === 0) continue;
      const ms = waiting.reduce((least, { places }) => Math.min(least, deps.held.rest(places)), Infinity);
      timer = setTimeout(() => retry.set(), ms);
    }
  } finally {
    clearTimeout(timer);
  }
}

type LoopDeps = TenantEventsDeps & { readonly held: HeldPlaces };

/** An event that stays in the queue; only its path is kept, so that any number may wait. */
interface WaitingEvent {
  readonly path: string;
  readonly places: readonly string[];
}

/** @returns those that still wait. */
async function retryWaiting(
  waiting: readonly WaitingEvent[],
  deps: LoopDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<WaitingEvent[]> {
  const left: WaitingEvent[] = [];
  for (const event of waiting) {
    const rests = deps.held.rest(event.places) > 0;
    const [entry] = rests ? [] : await deps.queue.read([event.path]);
    if (rests || (entry !== undefined && !(await taken(entry, deps, fence, signal)))) left.push(event);
  }
  return left;
}

/** @returns false: it waits, because a place that it needs is in trouble; after an abort, too. */
async function taken(
  entry: QueueEntry<TenantEvent>,
  deps: LoopDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<boolean> {
  if (signal.aborted) return false;
  const { held } = deps;
  const places = placesOf(entry.value);
  try {
    const { unread } = await processEntry(entry, deps, fence, signal);
    held.release(places);
    if (unread !== null) held.hold(configurationOf(unread), deps.pauses ?? CONFIGURATION_PAUSES);
    return true;
  } catch (error) {
    if (signal.aborted || !isRemoteFault(error)) throw error;
    const place = failedPlace(error, places);
    held.hold(
      place,
      deps.pauses ?? (error instanceof ConfigurationNotGiven ? CONFIGURATION_PAUSES : REMOTE_PAUSES),
    );
    const facts = { err: error, tenant: deps.tenant, ...tenantEventLogFacts(entry.value) };
    deps.log.warn(facts, `${place} is in trouble: its events wait`);
    return false;
  }
}

/** What does not serve: the host of the event, unless the error names less. */
function failedPlace(error: unknown, places: readonly [string, ...string[]]): string {
  // Any change may name one of a host that is away: only the change that names it waits.
  return (error instanceof HostNotAsked ? places[1] : undefined) ?? places[0];
}

/** @param branch undefined: all branches. While that place is held an event that reads them all is in the queue. */
function configurationOf(project: ProjectKey, branch?: BranchName): string {
  const all = `the configuration of ${project}`;
  return branch === undefined ? all : `${all} on branch ${branch}`;
}

/** The events of one place are processed in order. The first is held when the event fails, the others only by name. */
function placesOf(event: TenantEvent): readonly [string, ...string[]] {
  switch (event.kind) {
    case 'trigger':
      return [event.trigger.connection, event.trigger.change.key];
    case 'updated':
      return [connectionOfKey(event.change), event.change];
    case 'first-look':
      return [configurationOf(event.project, event.landed?.branch)];
  }
}

/**
 * @returns the project whose configuration has to be read again: an event for that is in the queue.
 * @throws the error of an event that may succeed at another attempt; the caller's loop restarts after a pause.
 */
async function processEntry(
  entry: QueueEntry<TenantEvent>,
  { clock: own, ...rest }: LoopDeps,
  fence: Fence,
  signal: AbortSignal,
  conflicts = 0,
): Promise<Pick<Forward, 'unread'>> {
  const { value } = entry;
  // The scheduler that forwarded it may have a clock that is ahead of ours.
  const clock = pipelineClock(own);
  clock.catchUp([value]);
  const deps: LoopDeps = { ...rest, clock };
  const takenAt = clock.now();
  try {
    await deps.changes.fresh();
    const forward = await forwardOf(value, takenAt, deps, fence, signal);
    await fence.commit([deps.queue.ack(entry), ...forward.operations], deps.ids.uuid());
    deps.changes.remember(forward.records);
    return forward;
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
    return { unread: null };
  }
}

async function forwardOf(
  event: TenantEvent,
  takenAt: Nanoseconds,
  deps: LoopDeps,
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
  }
}

interface Forward {
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

/** The host does not give a project's configuration. Asking again will do. */
class ConfigurationNotGiven extends Error {
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
  const end = await deps.reconfigure(wanted, rowsFor, fence, signal);
  if (end === 'unread') throw new ConfigurationNotGiven(project);
  return NOTHING;
}

async function triggerOperations(
  event: Trigger,
  takenAt: Nanoseconds,
  deps: LoopDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<Forward> {
  const { trigger } = event;
  const toRead = configurationToRead(trigger, deps);
  const rowsFor = (renewal: LayoutRenewal) => renewalRows(event, takenAt, renewal, deps);
  const unread =
    toRead !== undefined && (await deps.reconfigure(toRead, rowsFor, fence, signal)) === 'unread'
      ? trigger.project
      : null;
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

/** The event goes on with the known configuration; a second event, which waits for the host, reads the rest. */
function readAgain({ uuid, trigger }: Trigger, deps: TenantEventsDeps): readonly Operation[] {
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
function configurationToRead(trigger: TriggerEvent, deps: LoopDeps): ConfigurationToRead | undefined {
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
