/** Facts about an event's stages 1 and 2, as its trace needs them. */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { ConnectionEvent, TriggerEvent } from '../../model/event.ts';
import type { TenantName } from '../../model/project.ts';
import type { SpanReference } from '../../model/span.ts';
import type { Processing } from '../../tracing/spans/event-process-spans.ts';
import type { IngestionFacts, IngestionOutcome } from '../../tracing/spans/ingestion-spans.ts';

/** How an event was processed. */
export interface EventHandling {
  /** Name of the connection's driver. */
  readonly driver: string;
  readonly processing: Processing | null;
  readonly endedAt: Nanoseconds;
  /** Ids of the other deliveries that were processed with it. */
  readonly answered: readonly string[];
  /** `ProcessedEvent.foundBy` */
  readonly foundBy?: string;
}

/** @param causedBy root of the item whose landing the event comes from. */
export function forwardedFacts(
  event: ConnectionEvent,
  trigger: TriggerEvent,
  tenants: readonly TenantName[],
  causedBy: SpanReference | null,
  handling: EventHandling,
): IngestionFacts {
  return {
    ...common(event, handling),
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

/** Facts about an event that led to no trigger. */
export function endedFacts(
  event: ConnectionEvent,
  outcome: IngestionOutcome,
  handling: EventHandling,
): IngestionFacts {
  return {
    ...common(event, handling),
    event: event.uuid,
    type: event.type,
    project: null,
    change: null,
    causedBy: null,
    outcome,
  };
}

function common(
  event: ConnectionEvent,
  { driver, processing, endedAt, answered, ...handling }: EventHandling,
) {
  const foundBy = handling.foundBy ?? event.foundBy;
  return {
    connection: event.connection,
    driver,
    deliveryId: event.deliveryId,
    receivedAt: event.receivedAt,
    storedAt: event.storedAt,
    ...(event.receiver === undefined ? {} : { receiver: event.receiver }),
    ...(event.madeAt === undefined ? {} : { madeAt: event.madeAt }),
    ...(foundBy === undefined ? {} : { foundBy }),
    ...(event.installation === undefined ? {} : { installation: event.installation }),
    ...(event.action === undefined ? {} : { action: event.action }),
    processing,
    endedAt,
    answered,
    sampled: event.sampled,
  };
}
