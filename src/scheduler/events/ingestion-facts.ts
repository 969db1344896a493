/** Facts of an event's trip through stations 1 and 2, as its trace needs them. */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { ConnectionEvent, SpanReference, TriggerEvent } from '../../model/event.ts';
import type { TenantName } from '../../model/project.ts';
import type { Processing } from '../../tracing/spans/event-process-spans.ts';
import type { IngestionFacts, IngestionOutcome } from '../../tracing/spans/ingestion-spans.ts';

export interface Trip {
  /** Name of the connection's driver. */
  readonly driver: string;
  readonly processing: Processing | null;
  readonly endedAt: Nanoseconds;
  /** Ids of the other deliveries that were answered by the same processing. */
  readonly answered: readonly string[];
}

/** @param causedBy root of the item whose merge the event tells of. */
export function forwardedFacts(
  event: ConnectionEvent,
  trigger: TriggerEvent,
  tenants: readonly TenantName[],
  causedBy: SpanReference | null,
  trip: Trip,
): IngestionFacts {
  return {
    ...common(event, trip),
    event: trigger.uuid,
    type: trigger.type,
    project: trigger.project,
    change: trigger.change,
    causedBy,
    outcome:
      tenants.length > 0
        ? { kind: 'forwarded', tenants }
        : { kind: 'discarded', reason: 'no tenant holds the project' },
  };
}

/** Of an event no trigger came of. */
export function endedFacts(event: ConnectionEvent, outcome: IngestionOutcome, trip: Trip): IngestionFacts {
  return {
    ...common(event, trip),
    event: event.uuid,
    type: event.type,
    project: null,
    change: null,
    causedBy: null,
    outcome,
  };
}

function common(event: ConnectionEvent, { driver, processing, endedAt, answered }: Trip) {
  return {
    connection: event.connection,
    driver,
    deliveryId: event.deliveryId,
    receivedAt: event.receivedAt,
    storedAt: event.storedAt,
    ...(event.receiver === undefined ? {} : { receiver: event.receiver }),
    processing,
    endedAt,
    answered,
    sampled: event.sampled,
  };
}
