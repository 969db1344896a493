/**
 * The trace of an event on its way in: `GitEvent` → `EventReceive`, `EventQueued`, `EventProcess` → `HostQuery`, `EventForward`.
 *
 * It ends with an outcome whatever happened: an event nobody wanted is a trace that says why.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { Change } from '../../model/change.ts';
import type { SpanReference } from '../../model/event.ts';
import type { ProjectKey, TenantName } from '../../model/project.ts';
import type { SpanRecord } from '../../model/span.ts';
import type { AttributeInput } from '../attribute-values.ts';
import { eventKind } from '../zuul-names.ts';
import { aboutAttributes } from './change-attributes.ts';
import { type EventTrace, eventTrace, station } from './event-context.ts';
import { eventProcessSpans, type Processing } from './event-process-spans.ts';
import { linkTo } from './links.ts';
import type { SpanOptions } from './span-options.ts';
import { spanOf } from './span-plan.ts';

export type IngestionOutcome =
  | { readonly kind: 'forwarded'; readonly tenants: readonly TenantName[] }
  /** No trigger came of it, but tenants look again at changes or at configuration. */
  | { readonly kind: 'updated'; readonly tenants: readonly TenantName[] }
  /** @property reason short code or sentence, e.g. `no tenant holds the project`. */
  | { readonly kind: 'discarded'; readonly reason: string }
  /** Laid aside after its last attempt. */
  | { readonly kind: 'failed'; readonly reason: string };

/** One trip of an event from the code host's knock to the queues of the tenants. */
export interface IngestionFacts {
  /** Uuid of the trigger event, or of the connection event when none came of it: the trace id. */
  readonly event: Uuid;
  readonly connection: string;
  /** Name of the driver, e.g. `git`; gives the span's kind (`GitEvent`). */
  readonly driver: string;
  /** The driver's event name, e.g. `proposed`; the host's name while it is not known better. */
  readonly type: string;
  readonly deliveryId: string;
  /** Other deliveries that asked for the same look and were answered by it; they have no trace of their own. */
  readonly answered: readonly string[];
  readonly project: ProjectKey | null;
  readonly change: Change | null;
  /** First byte reached us. */
  readonly receivedAt: Nanoseconds;
  /** Durable, and said so. */
  readonly storedAt: Nanoseconds;
  /** Machine of the web that took it in; absent: no web did, or it is not known. */
  readonly receiver?: string;
  /** What the driver did with it; null: it never came to that (a delivery seen before). */
  readonly processing: Processing | null;
  /** In the tenants' queues, or discarded. */
  readonly endedAt: Nanoseconds;
  readonly outcome: IngestionOutcome;
  /** Root of the item of ours that led to it (a merge we made), when known. */
  readonly causedBy: SpanReference | null;
  readonly sampled: boolean;
}

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
      ...(facts.answered.length === 0
        ? {}
        : { answeredDeliveries: facts.answered, answeredCount: facts.answered.length }),
      ...aboutAttributes(facts.change, facts.project, options),
      ...outcomeAttributes(outcome),
      linkCausedBy: facts.causedBy?.traceId,
    },
    links: facts.causedBy === null ? [] : [linkTo(facts.causedBy, 'caused_by')],
  });
  const received = station(trace, 'EventReceive', facts.receivedAt, storedAt, { worker: facts.receiver });
  if (processing === null) return [root, ...received];
  return [
    root,
    ...received,
    ...station(trace, 'EventQueued', storedAt, processing.startedAt),
    ...eventProcessSpans(trace, processing, outcome.kind === 'failed'),
    ...('tenants' in outcome
      ? station(trace, 'EventForward', processing.endedAt, facts.endedAt, { tenants: outcome.tenants })
      : []),
  ];
}

function outcomeAttributes(outcome: IngestionOutcome): AttributeInput {
  return 'tenants' in outcome
    ? { eventOutcome: outcome.kind, tenants: outcome.tenants }
    : { eventOutcome: outcome.kind, reason: outcome.reason };
}
