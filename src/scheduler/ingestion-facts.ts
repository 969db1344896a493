/** Facts of an event's trip through stations 1 and 2, as its trace needs them. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { ConnectionEvent, TriggerEvent } from '../model/event.ts';
import type { TenantName } from '../model/project.ts';
import type { IngestionFacts } from '../tracing/spans/ingestion-spans.ts';

interface Stations {
  readonly driver: string;
  readonly takenAt: Nanoseconds;
  readonly processedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
}

export function forwardedFacts(
  event: ConnectionEvent,
  trigger: TriggerEvent,
  tenants: readonly TenantName[],
  stations: Stations,
): IngestionFacts {
  return {
    ...common(event, stations),
    event: trigger.uuid,
    type: trigger.type,
    project: trigger.project,
    change: trigger.change,
    outcome:
      tenants.length > 0
        ? { kind: 'forwarded', tenants }
        : { kind: 'discarded', reason: 'no tenant holds the project' },
  };
}

export function discardedFacts(event: ConnectionEvent, reason: string, stations: Stations): IngestionFacts {
  return {
    ...common(event, stations),
    event: event.uuid,
    type: event.type,
    project: null,
    change: null,
    outcome: { kind: 'discarded', reason },
  };
}

function common(event: ConnectionEvent, stations: Stations) {
  return {
    connection: event.connection,
    driver: stations.driver,
    deliveryId: event.deliveryId,
    receivedAt: event.receivedAt,
    storedAt: event.storedAt,
    takenAt: stations.takenAt,
    processedAt: stations.processedAt,
    endedAt: stations.endedAt,
    causedBy: null,
    sampled: event.sampled,
  };
}
