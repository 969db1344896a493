/**
 * The trace of an event on its way in: `GitEvent` → `EventReceive`, `EventQueued`, `EventProcess` → `HostQuery`, `EventForward`.
 *
 * It always ends with an outcome: the trace of an ignored event has the reason.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { Change } from '../../model/change.ts';
import { eventAgeSeconds } from '../../model/event-age.ts';
import type { ProjectKey, TenantName } from '../../model/project.ts';
import type { SpanRecord, SpanReference } from '../../model/span.ts';
import type { AttributeInput } from '../attribute-values.ts';
import { eventKind } from '../zuul-names.ts';
import { aboutAttributes } from './change-attributes.ts';
import { type EventTrace, eventTrace, stageSpan } from './event-context.ts';
import { eventProcessSpans, type Processing } from './event-process-spans.ts';
import { linkTo } from './links.ts';
import type { SpanOptions } from './span-options.ts';
import { spanOf } from './span-plan.ts';

/** Where the event went. Each kind is a value of `gatehouse.event.outcome`. */
export type IngestionOutcome =
  | { readonly kind: 'forwarded'; readonly tenants: readonly TenantName[] }
  /** It led to no trigger, but tenants check changes or configuration again. */
  | { readonly kind: 'updated'; readonly tenants: readonly TenantName[] }
  /** @property reason short code or sentence, e.g. `no tenant holds the project`. */
  | { readonly kind: 'discarded'; readonly reason: string }
  /** Quarantined after its last attempt. */
  | { readonly kind: 'failed'; readonly reason: string };

/** The path of one event from its receipt to the queues of the tenants. */
export interface IngestionFacts {
  /** Uuid of the trigger event, or of the connection event when it led to none: the trace id. */
  readonly event: Uuid;
  readonly connection: string;
  /** Name of the driver, e.g. `git`; gives the span's kind (`GitEvent`). */
  readonly driver: string;
  /** The driver's event name, e.g. `proposed`, or the host's name while the driver has not read it. */
  readonly type: string;
  readonly deliveryId: string;
  /** Other deliveries answered by the same poll; they have no trace of their own. */
  readonly answered: readonly string[];
  /** Null for an event that led to no trigger, as is `change`. */
  readonly project: ProjectKey | null;
  readonly change: Change | null;
  /** First byte received. */
  readonly receivedAt: Nanoseconds;
  /** Stored and acknowledged. */
  readonly storedAt: Nanoseconds;
  /** Machine of the web that received it; absent: found by a poll, or not recorded. */
  readonly receiver?: string;
  /** By the host's clock; absent: not said. */
  readonly madeAt?: Nanoseconds;
  /** As the driver says; absent: by a webhook where there is a receiver, else by the listener. */
  readonly foundBy?: string;
  /** Account by which the host delivered it. */
  readonly installation?: string;
  /** The host's word for what happened. */
  readonly action?: string;
  /** The driver's part; null: the driver was not called (a duplicate delivery). */
  readonly processing: Processing | null;
  /** In the tenants' queues, or discarded. */
  readonly endedAt: Nanoseconds;
  readonly outcome: IngestionOutcome;
  /** Root of our item that caused it by landing, when known. */
  readonly causedBy: SpanReference | null;
  /** False: {@link ingestionSpans} makes none. */
  readonly sampled: boolean;
}

/** All spans of the trace, the root first; none for an unsampled event. */
export function ingestionSpans(facts: IngestionFacts, options: SpanOptions): readonly SpanRecord[] {
  if (!facts.sampled) return [];
  const { outcome, processing, storedAt } = facts;
  const window = { start: facts.receivedAt, end: facts.endedAt };
  const ids = { eventId: facts.event, connection: facts.connection };
  const { root: top, draft } = eventTrace(facts.event, window, ids, options);
  const trace: EventTrace = { root: top, draft: { ...draft, driver: facts.driver } };
  const root = spanOf({
    ...trace.draft,
    kind: 'ConnectionEvent',
    label: eventKind(facts.driver),
    subject: facts.type,
    id: trace.root.id(),
    parent: null,
    ...window,
    result: outcome.kind === 'failed' ? 'ERROR' : undefined,
    own: {
      eventType: facts.type,
      delivery: facts.deliveryId,
      eventAction: facts.action,
      foundBy: facts.foundBy ?? (facts.receiver === undefined ? 'listener' : 'webhook'),
      eventAge: eventAgeSeconds(facts),
      installation: facts.installation,
      ...(facts.answered.length === 0
        ? {}
        : { answeredDeliveries: facts.answered, answeredCount: facts.answered.length }),
      ...aboutAttributes(facts.change, facts.project, options),
      ...outcomeAttributes(outcome),
      linkCausedBy: facts.causedBy?.traceId,
    },
    links: facts.causedBy === null ? [] : [linkTo(facts.causedBy, 'caused_by')],
  });
  const received = stageSpan(trace, 'EventReceive', facts.receivedAt, storedAt, { worker: facts.receiver });
  if (processing === null) return [root, ...received];
  return [
    root,
    ...received,
    ...stageSpan(trace, 'EventQueued', storedAt, processing.startedAt),
    ...eventProcessSpans(trace, processing, outcome.kind === 'failed'),
    ...('tenants' in outcome
      ? stageSpan(trace, 'EventForward', processing.endedAt, facts.endedAt, { tenants: outcome.tenants })
      : []),
  ];
}

function outcomeAttributes(outcome: IngestionOutcome): AttributeInput {
  return 'tenants' in outcome
    ? { eventOutcome: outcome.kind, tenants: outcome.tenants }
    : { eventOutcome: outcome.kind, reason: outcome.reason };
}
