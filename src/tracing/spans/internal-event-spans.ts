/**
 * The trace of an event that Gatehouse itself created: `InternalEvent` → `EventQueued`, `EventProcess` (→ `Reconfigure`).
 *
 *     superseded       a change entered a pipeline that supercedes this one, so its item here left
 *     change-updated   the host reports new facts of a change, so items of it or of its dependents left
 *     landed           a change that we landed changed configuration
 *     first-look       a driver read a project for the first time, and its configuration differed from the known one
 *
 * Made only when it had an effect. Its root links to its origin: `caused_by` the item, or `follows` the event.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { Change, ChangeKey } from '../../model/change.ts';
import type { PipelineName, ProjectKey, TenantName } from '../../model/project.ts';
import type { SpanRecord, SpanReference } from '../../model/span.ts';
import { aboutAttributes } from './change-attributes.ts';
import { eventStage, eventTrace, stageSpan } from './event-context.ts';
import { type EventEffect, effectAttributes, effectEvents } from './event-effect.ts';
import { linkTo } from './links.ts';
import { type LayoutRenewal, reconfigureSpans } from './reconfigure-spans.ts';
import type { SpanOptions } from './span-options.ts';
import { spanOf } from './span-plan.ts';

/** Recorded by the scheduler that processed the event; `queuedAt` is by the clock of the one that queued it. */
export interface InternalEventFacts {
  /** Its trace id. */
  readonly event: Uuid;
  readonly type: 'superseded' | 'change-updated' | 'first-look' | 'landed';
  readonly tenant: TenantName;
  /** Null: about the tenant as a whole. */
  readonly pipeline: PipelineName | null;
  readonly project: ProjectKey;
  /** A key when the change is no longer cached; null: about the project. */
  readonly change: Change | ChangeKey | null;
  readonly queuedAt: Nanoseconds;
  readonly takenAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  readonly origin: { readonly span: SpanReference; readonly relation: 'caused_by' | 'follows' };
  readonly effect: EventEffect;
  /** The new layout it led to; null: none. */
  readonly renewal: LayoutRenewal | null;
}

/** The root first. Does not sample: the caller leaves out events whose origin is not sampled, and events without an effect. */
export function internalEventSpans(facts: InternalEventFacts, options: SpanOptions): readonly SpanRecord[] {
  const { event, tenant, origin, renewal } = facts;
  const window = { start: facts.queuedAt, end: facts.endedAt };
  const ids = { tenant, pipeline: facts.pipeline, eventId: event };
  const trace = eventTrace(event, window, ids, options);
  const root = spanOf({
    ...trace.draft,
    kind: 'InternalEvent',
    subject: facts.type,
    id: trace.root.id(),
    parent: null,
    ...window,
    own: {
      eventType: facts.type,
      ...aboutAttributes(facts.change, facts.project, options),
      ...effectAttributes(facts.effect),
      ...(origin.relation === 'follows'
        ? { linkFollows: origin.span.traceId }
        : { linkCausedBy: origin.span.traceId }),
    },
    events: effectEvents(facts.effect, facts.endedAt),
    links: [linkTo(origin.span, origin.relation)],
  });
  const process = eventStage(trace, 'EventProcess', facts.takenAt, facts.endedAt);
  return [
    root,
    ...stageSpan(trace, 'EventQueued', facts.queuedAt, facts.takenAt),
    process.span,
    ...(renewal === null ? [] : reconfigureSpans(trace, process.place, renewal, facts.type)),
  ];
}
