/**
 * The trace of an event on its way in: `GitEvent` → `EventReceive`, `EventQueued`, `EventProcess`, `EventForward`.
 *
 * It ends with an outcome whatever happened: an event nobody wanted is a trace that says why.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import { type Change, changeText } from '../../model/change.ts';
import type { SpanReference } from '../../model/event.ts';
import type { ProjectKey, TenantName } from '../../model/project.ts';
import type { SpanRecord } from '../../model/span.ts';
import { eventTrace, station } from './event-context.ts';
import { linkTo } from './links.ts';
import type { SpanStyle } from './span-options.ts';
import { spanOf } from './span-plan.ts';

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
  readonly project: ProjectKey | null;
  readonly change: Change | null;
  /** First byte reached us. */
  readonly receivedAt: Nanoseconds;
  /** Durable, and said so. */
  readonly storedAt: Nanoseconds;
  /** Taken from the queue by whoever processes the connection. */
  readonly takenAt: Nanoseconds;
  /** The driver had read all it needed from the host; null: discarded before. */
  readonly processedAt: Nanoseconds | null;
  /** In the tenants' queues, or discarded. */
  readonly endedAt: Nanoseconds;
  readonly outcome:
    | { readonly kind: 'forwarded'; readonly tenants: readonly TenantName[] }
    /** @property reason short code or sentence, e.g. `no tenant holds the project`. */
    | { readonly kind: 'discarded'; readonly reason: string };
  /** Our own deed that led to it (a merge we made), when known. */
  readonly causedBy: SpanReference | null;
  readonly sampled: boolean;
}

export function ingestionSpans(facts: IngestionFacts, style: SpanStyle): readonly SpanRecord[] {
  if (!facts.sampled) return [];
  const { outcome } = facts;
  const window = { start: facts.receivedAt, end: facts.endedAt };
  const trace = eventTrace(
    facts.event,
    window,
    { eventId: facts.event, connection: facts.connection },
    style,
  );
  const tenants = outcome.kind === 'forwarded' ? outcome.tenants : undefined;
  const root = spanOf({
    ...trace.draft,
    kind: 'ConnectionEvent',
    label: eventKind(facts.driver),
    subject: facts.type,
    id: trace.root.id(),
    parent: null,
    ...window,
    own: {
      eventType: facts.type,
      delivery: facts.deliveryId,
      project: facts.project,
      change: facts.change === null ? undefined : changeText(facts.change),
      outcome: outcome.kind,
      reason: outcome.kind === 'discarded' ? outcome.reason : undefined,
      tenants,
      linkCausedBy: facts.causedBy?.traceId,
    },
    links: facts.causedBy === null ? [] : [linkTo(facts.causedBy, 'caused_by')],
  });
  return [
    root,
    ...station(trace, 'EventReceive', facts.receivedAt, facts.storedAt),
    ...station(trace, 'EventQueued', facts.storedAt, facts.takenAt),
    ...station(trace, 'EventProcess', facts.takenAt, facts.processedAt ?? facts.endedAt),
    ...(outcome.kind === 'forwarded'
      ? station(trace, 'EventForward', facts.processedAt, facts.endedAt, { tenants })
      : []),
  ];
}

/** `github` → `GithubEvent`. */
export function eventKind(driver: string): string {
  return `${driver.charAt(0).toUpperCase()}${driver.slice(1)}Event`;
}
