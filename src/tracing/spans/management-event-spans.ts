/**
 * The trace of an operator's request: `ManagementEvent` → `EventReceive`, `EventQueued`, `EventProcess`, and its effects.
 *
 * It links to the span of the authenticated caller, or to the trace of the host's event it came with, and is not a child of it: the effects of the request end with the pipeline's turn,
 * mostly after the request, and a backend moves or warns about a child outside its parent.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { Change, ChangeKey } from '../../model/change.ts';
import type { HaltMode } from '../../model/halt.ts';
import type { ManagementOrigin } from '../../model/management-event.ts';
import type { PipelineName, TenantName } from '../../model/project.ts';
import type { SpanRecord } from '../../model/span.ts';
import { aboutAttributes } from './change-attributes.ts';
import { eventTrace, stageSpan } from './event-context.ts';
import { type EventEffect, effectAttributes, effectEvents } from './event-effect.ts';
import { linkTo } from './links.ts';
import type { SpanOptions } from './span-options.ts';
import { spanOf } from './span-plan.ts';

/** Recorded by the turn that consumed the request; times of `origin` are by the clock of the web that received it. */
export interface ManagementEventFacts {
  readonly event: Uuid;
  readonly command:
    | 'enqueue'
    | 'dequeue'
    | 'promote'
    | 'rerun'
    | HaltMode
    | 'resume'
    | 'autohold'
    | 'autohold-delete';
  /** Who asked: the name of the token's user, or `command line`. */
  readonly by: string;
  readonly tenant: TenantName;
  /** Null: it is about the tenant. */
  readonly pipeline: PipelineName | null;
  /** The first of several; a key when the change is not cached; null: it is about the pipeline or the tenant. */
  readonly change: Change | ChangeKey | null;
  readonly origin: ManagementOrigin;
  readonly takenAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  readonly effect: EventEffect;
}

/** The root first, also for a request without effect. The caller leaves out unsampled ones. */
export function managementEventSpans(
  facts: ManagementEventFacts,
  options: SpanOptions,
): readonly SpanRecord[] {
  const { event, origin, takenAt, endedAt, effect } = facts;
  const { receivedAt, storedAt, caller, follows } = origin;
  const window = { start: receivedAt, end: endedAt };
  const ids = { tenant: facts.tenant, pipeline: facts.pipeline ?? undefined, eventId: event };
  const trace = eventTrace(event, window, ids, options);
  const root = spanOf({
    ...trace.draft,
    kind: 'ManagementEvent',
    subject: facts.command,
    id: trace.root.id(),
    parent: null,
    ...window,
    own: {
      eventType: facts.command,
      command: facts.command,
      by: facts.by,
      ...(facts.change === null ? {} : aboutAttributes(facts.change, null, options)),
      ...effectAttributes(effect),
      linkCaller: caller?.traceId,
      linkFollows: follows?.traceId,
    },
    events: effectEvents(effect, endedAt),
    links: [
      ...(caller === undefined ? [] : [linkTo(caller, 'caller')]),
      ...(follows === undefined ? [] : [linkTo(follows, 'follows')]),
    ],
  });
  return [
    root,
    ...stageSpan(trace, 'EventReceive', receivedAt, storedAt, { worker: origin.receiver }),
    ...stageSpan(trace, 'EventQueued', storedAt, takenAt),
    ...stageSpan(trace, 'EventProcess', takenAt, endedAt),
  ];
}
