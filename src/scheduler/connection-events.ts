/**
 * Station 2: takes the events of one connection in order, lets its driver read the host, and hands what came of it to the
 * tenants. One commit per event: gone from the connection's queue, there in the tenants' queues, with the refreshed changes,
 * the driver's memory, and the trace of the trip.
 *
 * An event whose processing fails is tried again a few times with a pause, then laid aside where people see it; the ones
 * behind it go on. While the host cannot be reached at all, nothing is laid aside: the queue waits for it.
 */
import type { Connection, DriverMemory, ProcessedEvent } from '../driver/connection.ts';
import type { Clock } from '../lib/clock.ts';
import { derivedUuid, type IdMaker } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { pause } from '../lib/pause.ts';
import { type Change, changeText } from '../model/change.ts';
import { driverMemoryCodec, spansCodec } from '../model/codec/records.ts';
import type { Decision } from '../model/decision.ts';
import type { ConnectionEvent, TenantEvent, TriggerEvent } from '../model/event.ts';
import type { Json } from '../model/job.ts';
import type { ProjectKey, TenantName } from '../model/project.ts';
import type { SpanRecord } from '../model/span.ts';
import type { EventQueue, QueueEntry } from '../store/event-queue.ts';
import type { Fence } from '../store/fence.ts';
import type { StorePaths } from '../store/paths.ts';
import { create, type Operation, type Store, set } from '../store/port.ts';
import { rootSpanOf } from '../tracing/span-ids.ts';
import { ingestionSpans } from '../tracing/spans/ingestion-spans.ts';
import type { SpanOptions } from '../tracing/spans/span-options.ts';
import type { ChangeCache } from './change-cache.ts';
import { decisionRows } from './decision-rows.ts';
import { discardedFacts, forwardedFacts } from './ingestion-facts.ts';
import { outboxRows } from './outbox-rows.ts';

const MAX_ATTEMPTS = 5;
const PAUSES = [100, 500, 2_000, 5_000, 15_000, 30_000] as const;

export interface ConnectionEventsDeps {
  readonly connection: Connection;
  readonly store: Store;
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly changes: ChangeCache;
  readonly spans: SpanOptions | undefined;
  readonly queue: EventQueue<ConnectionEvent>;
  /** Milliseconds before the second, third, ... attempt; the last one repeats. Default {@link PAUSES}. */
  readonly pauses?: readonly number[];
  /** Tenants that hold the project, with their queues. */
  tenantsOf(
    project: ProjectKey,
  ): readonly { readonly tenant: TenantName; readonly queue: EventQueue<TenantEvent> }[];
  projects(): ReadonlySet<ProjectKey>;
}

/** Returns when aborted; throws when the fence is lost. */
export async function processConnectionEvents(
  deps: ConnectionEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  for await (const batch of deps.queue.batches(signal)) {
    for (const entry of batch) await processEntry(entry, deps, fence, signal);
  }
}

async function processEntry(
  entry: QueueEntry<ConnectionEvent>,
  deps: ConnectionEventsDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const takenAt = deps.clock.now();
    let processed: ProcessedEvent;
    try {
      const context = { projects: deps.projects(), memory: driverMemory(deps), signal };
      processed = await deps.connection.source.process(entry.value, context);
    } catch (error) {
      signal.throwIfAborted();
      const facts = { err: error, event: entry.value.uuid, attempt };
      if (attempt >= MAX_ATTEMPTS && !isRemoteFault(error)) {
        deps.log.error(
          facts,
          `an event of connection ${deps.connection.name} cannot be processed; it is laid aside`,
        );
        await fence.commit(deps.queue.deadLetter(entry, error), deps.ids.uuid());
        return;
      }
      deps.log.warn(
        facts,
        `an event of connection ${deps.connection.name} could not be processed; trying again`,
      );
      const pauses = deps.pauses ?? PAUSES;
      await pause(pauses[Math.min(attempt, pauses.length) - 1] ?? 30_000, signal);
      continue;
    }
    const operations = await forwardOperations(entry, processed, takenAt, deps);
    await fence.commit(operations, deps.ids.uuid());
    deps.changes.remember(processed.changes);
    return;
  }
}

/** The host cannot be reached: nothing is wrong with the event, and the ones behind it would fare no better. */
function isRemoteFault(error: unknown): boolean {
  return error instanceof Error && 'retryable' in error && error.retryable === true;
}

async function forwardOperations(
  entry: QueueEntry<ConnectionEvent>,
  processed: ProcessedEvent,
  takenAt: ReturnType<Clock['now']>,
  deps: ConnectionEventsDeps,
): Promise<readonly Operation[]> {
  const event = entry.value;
  const processedAt = deps.clock.now();
  const forwards = processed.events.map(trigger => ({ trigger, tenants: deps.tenantsOf(trigger.project) }));
  // What was seen for the first time comes first: what is behind it is matched against configuration as it is now.
  const operations: Operation[] = [
    deps.queue.ack(entry),
    ...firstLookOperations(processed, processedAt, deps),
  ];
  for (const { trigger, tenants } of forwards) {
    for (const { tenant, queue } of tenants)
      operations.push(...queue.put(tenantEvent(trigger, tenant, processedAt)));
  }
  operations.push(
    ...updateOperations(processed, processedAt, deps),
    ...deps.changes.operations(processed.changes),
  );
  for (const { key, value } of processed.memory) operations.push(await memoryOperation(key, value, deps));
  const decisions = processed.refusals.map(refusal => refusalDecision(refusal, event, deps));
  for (const decision of decisions) deps.log.info({ change: decision.changeText }, decision.text);
  operations.push(...decisionRows(decisions, deps.paths.historyOutbox, processedAt));
  const spans = spansOf(event, processed, forwards, takenAt, processedAt, deps);
  operations.push(...outboxRows(deps.paths.spanOutbox, spans, spansCodec, processedAt));
  return operations;
}

function tenantEvent(
  trigger: TriggerEvent,
  tenant: TenantName,
  queuedAt: ReturnType<Clock['now']>,
): TenantEvent {
  // The trace of the trip is the trigger's own: its root is what later traces link to.
  const span = rootSpanOf(trigger.uuid);
  return {
    kind: 'trigger',
    uuid: derivedUuid(trigger.uuid, tenant),
    tenant,
    trigger: { ...trigger, span },
    queuedAt,
  };
}

function firstLookOperations(
  processed: ProcessedEvent,
  queuedAt: ReturnType<Clock['now']>,
  deps: ConnectionEventsDeps,
): readonly Operation[] {
  return (processed.firstLooks ?? []).flatMap(project =>
    deps
      .tenantsOf(project)
      .flatMap(({ tenant, queue }) =>
        queue.put({ kind: 'first-look', uuid: deps.ids.uuid(), tenant, project, queuedAt }),
      ),
  );
}

function updateOperations(
  processed: ProcessedEvent,
  queuedAt: ReturnType<Clock['now']>,
  deps: ConnectionEventsDeps,
): readonly Operation[] {
  return processed.updated.flatMap(change => {
    const record = processed.changes.find(each => each.change.key === change) ?? deps.changes.record(change);
    if (record === undefined) return [];
    const { project } = record.change;
    return deps
      .tenantsOf(project)
      .flatMap(({ tenant, queue }) =>
        queue.put({ kind: 'updated', uuid: deps.ids.uuid(), tenant, project, change, queuedAt }),
      );
  });
}

function spansOf(
  event: ConnectionEvent,
  processed: ProcessedEvent,
  forwards: readonly {
    readonly trigger: TriggerEvent;
    readonly tenants: readonly { readonly tenant: TenantName }[];
  }[],
  takenAt: ReturnType<Clock['now']>,
  processedAt: ReturnType<Clock['now']>,
  deps: ConnectionEventsDeps,
): readonly SpanRecord[] {
  if (deps.spans === undefined) return [];
  const style = deps.spans;
  const stations = { driver: deps.connection.driver, takenAt, processedAt, endedAt: deps.clock.now() };
  if (forwards.length === 0) {
    const reason = processed.discarded ?? processed.refusals[0]?.text ?? 'nothing came of it';
    return ingestionSpans(discardedFacts(event, reason, stations), style);
  }
  return forwards.flatMap(({ trigger, tenants }) =>
    ingestionSpans(
      forwardedFacts(
        event,
        trigger,
        tenants.map(each => each.tenant),
        stations,
      ),
      style,
    ),
  );
}

function refusalDecision(
  refusal: { readonly change: Change; readonly text: string },
  event: ConnectionEvent,
  deps: ConnectionEventsDeps,
): Decision {
  return {
    at: deps.clock.now(),
    code: 'event-refused',
    tenant: deps.tenantsOf(refusal.change.project)[0]?.tenant ?? '',
    pipeline: null,
    project: refusal.change.project,
    change: refusal.change.key,
    changeText: changeText(refusal.change),
    item: null,
    event: event.uuid,
    text: refusal.text,
  };
}

export function driverMemory(
  deps: Pick<ConnectionEventsDeps, 'store' | 'paths' | 'connection'>,
): DriverMemory {
  const places = deps.paths.connection(deps.connection.name);
  return {
    async get(key) {
      const node = await deps.store.get(places.memoryOf(key));
      return node === undefined ? undefined : driverMemoryCodec.decode(node.data);
    },
  };
}

async function memoryOperation(key: string, value: Json, deps: ConnectionEventsDeps): Promise<Operation> {
  const path = deps.paths.connection(deps.connection.name).memoryOf(key);
  const data = driverMemoryCodec.encode(value);
  return (await deps.store.get(path)) === undefined ? create(path, data) : set(path, data);
}
