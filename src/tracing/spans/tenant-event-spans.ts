/**
 * The trace of an event in one tenant: `TenantEvent` → `EventQueued`, `Reconfigure`, `HostQuery` (dependencies that were not
 * cached); per pipeline the outcome with its reason.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import type { DecisionCode } from '../../model/decision.ts';
import type { TriggerEvent } from '../../model/event.ts';
import type { PipelineName, TenantName } from '../../model/project.ts';
import type { SpanRecord } from '../../model/span.ts';
import type { Step } from '../../model/step.ts';
import { eventAttributes } from '../attribute-values.ts';
import { changeAttributes } from './change-attributes.ts';
import { eventTrace, stageSpan } from './event-context.ts';
import { linkTo } from './links.ts';
import { type LayoutRenewal, reconfigureSpans } from './reconfigure-spans.ts';
import type { SpanOptions } from './span-options.ts';
import { spanOf } from './span-plan.ts';
import { planSteps } from './step-spans.ts';

/** Recorded by the scheduler that holds the tenant; `queuedAt` is by the clock of the one that forwarded the event. */
export interface TenantEventFacts {
  /** Uuid of the tenant event: the trace id. */
  readonly event: Uuid;
  readonly tenant: TenantName;
  readonly trigger: TriggerEvent;
  readonly queuedAt: Nanoseconds;
  readonly takenAt: Nanoseconds;
  /** Queries to code hosts. */
  readonly queries: readonly Step[];
  /** One per pipeline that checked it, in configuration order. */
  readonly pipelines: readonly {
    readonly pipeline: PipelineName;
    readonly at: Nanoseconds;
    readonly outcome: 'matched' | 'refused';
    readonly code: DecisionCode;
    /** The decision's sentence. */
    readonly text: string;
  }[];
  /** Forwarded to all pipelines that matched, or quarantined after the last attempt. */
  readonly endedAt: Nanoseconds;
  /** The event is a dead letter after its last attempt; its span has the status `Error`. */
  readonly gaveUp: boolean;
}

/** The root first; none for an unsampled trigger. Without `Reconfigure`, which {@link tenantRenewalSpans} exports earlier. */
export function tenantEventSpans(facts: TenantEventFacts, options: SpanOptions): readonly SpanRecord[] {
  const { trigger } = facts;
  if (!trigger.sampled) return [];
  const window = { start: facts.queuedAt, end: facts.endedAt };
  const trace = eventTrace(facts.event, window, { tenant: facts.tenant, eventId: trigger.uuid }, options);
  const root = spanOf({
    ...trace.draft,
    kind: 'TenantEvent',
    subject: trigger.type,
    id: trace.root.id(),
    parent: null,
    ...window,
    result: facts.gaveUp ? 'ERROR' : undefined,
    own: {
      eventType: trigger.type,
      connection: trigger.connection,
      ...changeAttributes([trigger.change], options),
      eventOutcome: outcomeOf(facts),
      linkFollows: trigger.span.traceId,
    },
    events: facts.pipelines.map(pipeline => ({
      at: pipeline.at,
      name: pipeline.outcome,
      attributes: {
        'gatehouse.pipeline': pipeline.pipeline,
        ...eventAttributes({ code: pipeline.code, text: pipeline.text }),
      },
    })),
    links: [linkTo(trigger.span, 'follows')],
  });
  const below = planSteps(trace, { key: 'query', parent: trace.root, own: {} }, facts.queries);
  return [
    root,
    ...stageSpan(trace, 'EventQueued', facts.queuedAt, facts.takenAt),
    ...below.map(plan => plan.make()),
  ];
}

/** The tenant got a new layout because of an event: exported before the event itself has ended. */
export function tenantRenewalSpans(
  {
    event,
    tenant,
    trigger,
    queuedAt,
    renewal,
  }: Pick<TenantEventFacts, 'event' | 'tenant' | 'trigger' | 'queuedAt'> & {
    readonly renewal: LayoutRenewal;
  },
  options: SpanOptions,
): readonly SpanRecord[] {
  if (!trigger.sampled) return [];
  const window = { start: queuedAt, end: renewal.endedAt };
  const trace = eventTrace(event, window, { tenant, eventId: trigger.uuid }, options);
  return reconfigureSpans(trace, trace.root, renewal, 'event');
}

function outcomeOf({ gaveUp, pipelines }: TenantEventFacts): 'failed' | 'matched' | 'ignored' {
  if (gaveUp) return 'failed';
  return pipelines.some(pipeline => pipeline.outcome === 'matched') ? 'matched' : 'ignored';
}
