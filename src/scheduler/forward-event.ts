/**
 * What comes of a processed connection event, as operations of one commit: gone from the connection's queue, there in the
 * tenants' queues, with the refreshed changes, the decisions about what had no effect, and the trace of the trip.
 */
import type { Connection, ProcessedEvent } from '../driver/connection.ts';
import type { Clock, Nanoseconds } from '../lib/clock.ts';
import { derivedUuid, type IdMaker } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { type Change, changeText } from '../model/change.ts';
import { spansCodec } from '../model/codec/records.ts';
import type { Decision } from '../model/decision.ts';
import type { ConnectionEvent, TenantEvent, TriggerEvent } from '../model/event.ts';
import type { ProjectKey, TenantName } from '../model/project.ts';
import type { SpanRecord } from '../model/span.ts';
import type { EventQueue, QueueEntry } from '../store/event-queue.ts';
import type { StorePaths } from '../store/paths.ts';
import type { Operation } from '../store/port.ts';
import type { LiveTracing } from '../tracing/live-tracing.ts';
import { rootSpanOf } from '../tracing/span-ids.ts';
import { ingestionSpans } from '../tracing/spans/ingestion-spans.ts';
import type { ChangeCache } from './change-cache.ts';
import { decisionRows } from './decision-rows.ts';
import { discardedFacts, forwardedFacts } from './ingestion-facts.ts';
import { outboxRows } from './outbox-rows.ts';

export interface ForwardDeps {
  readonly connection: Connection;
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly changes: ChangeCache;
  readonly tracing: Pick<LiveTracing, 'spans'>;
  readonly queue: EventQueue<ConnectionEvent>;
  /** Tenants that hold the project, with their queues. */
  tenantsOf(
    project: ProjectKey,
  ): readonly { readonly tenant: TenantName; readonly queue: EventQueue<TenantEvent> }[];
}

/** @param takenAt when its processing began. */
export function forwardOperations(
  entry: QueueEntry<ConnectionEvent>,
  processed: ProcessedEvent,
  takenAt: Nanoseconds,
  deps: ForwardDeps,
): readonly Operation[] {
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
  const decisions = processed.refusals.map(refusal => refusalDecision(refusal, event, deps));
  for (const decision of decisions) deps.log.info({ change: decision.changeText }, decision.text);
  operations.push(...decisionRows(decisions, deps.paths.historyOutbox, processedAt));
  const spans = spansOf(event, processed, forwards, takenAt, processedAt, deps);
  operations.push(...outboxRows(deps.paths.spanOutbox, spans, spansCodec, processedAt));
  return operations;
}

function tenantEvent(trigger: TriggerEvent, tenant: TenantName, queuedAt: Nanoseconds): TenantEvent {
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
  queuedAt: Nanoseconds,
  deps: ForwardDeps,
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
  queuedAt: Nanoseconds,
  deps: ForwardDeps,
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
  takenAt: Nanoseconds,
  processedAt: Nanoseconds,
  deps: ForwardDeps,
): readonly SpanRecord[] {
  const style = deps.tracing.spans();
  if (style === undefined) return [];
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
  deps: ForwardDeps,
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

/** What cannot be read is laid aside, and the driver looks at the host as if for the first time. */
