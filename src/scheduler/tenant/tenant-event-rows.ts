/**
 * Rows of the outboxes about a tenant event: its decisions for the history, its trace, and the trace of a first look that led to a
 * new layout.
 */
import { type Clock, laterOf, type Nanoseconds } from '../../lib/clock.ts';
import type { TenantEvent, TriggerEvent } from '../../model/event.ts';
import type { TenantName } from '../../model/project.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Operation } from '../../store/port.ts';
import { heldSpans } from '../../tracing/held-spans.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import { type InternalEventFacts, internalEventSpans } from '../../tracing/spans/internal-event-spans.ts';
import type { LayoutRenewal } from '../../tracing/spans/reconfigure-spans.ts';
import {
  type TenantEventFacts,
  tenantEventSpans,
  tenantRenewalSpans,
} from '../../tracing/spans/tenant-event-spans.ts';
import { traceRows } from '../care/trace-rows.ts';
import { decisionRows } from '../turn/decision-rows.ts';
import { matchDecision, type PipelineMatch } from './tenant-matching.ts';

/** `clock` has caught up with the event: the scheduler that forwarded it may have one that is ahead. */
export interface TenantEventRowsDeps {
  readonly tenant: TenantName;
  readonly clock: Pick<Clock, 'now'>;
  readonly paths: Pick<StorePaths, 'spanOutbox' | 'historyOutbox'>;
  readonly tracing: Pick<LiveTracing, 'spans'>;
}

type Trigger = Extract<TenantEvent, { kind: 'trigger' }>;
/** How it was handled. */
type Handling = Pick<TenantEventFacts, 'takenAt' | 'queries' | 'gaveUp'>;

/** What matching an event leaves to be committed. */
export interface Matched {
  readonly rows: readonly Operation[];
  /** The event as it is forwarded to the pipelines. */
  readonly trigger: TriggerEvent;
}

/** @param matches one for each pipeline; each becomes a decision, matched or not. */
export function matchRows(
  event: Trigger,
  matches: readonly PipelineMatch[],
  handling: Handling,
  deps: TenantEventRowsDeps,
): Matched {
  const at = deps.clock.now();
  const decisions = matches.map(match => matchDecision(match, event.trigger, deps.tenant, at));
  const operations = decisionRows(decisions, deps.paths.historyOutbox, at);
  const pipelines = decisions.map((decision, index) => ({
    pipeline: decision.pipeline ?? '',
    at,
    outcome: matches[index]?.matched === true ? ('matched' as const) : ('refused' as const),
    code: decision.code,
    text: decision.text,
  }));
  const facts = factsOf(event, pipelines, handling, deps);
  return {
    rows: [...operations, ...tenantTraceRows(facts, deps)],
    trigger: withHeldTrace(event.trigger, facts, deps),
  };
}

/** Where the event's own trace is held back, so is the trace of the tenant's event. */
function withHeldTrace(
  trigger: TriggerEvent,
  facts: TenantEventFacts,
  { tracing }: TenantEventRowsDeps,
): TriggerEvent {
  const style = tracing.spans();
  if (trigger.heldSpans === undefined || style === undefined) return trigger;
  const own = tenantEventSpans({ ...facts, trigger: { ...trigger, sampled: true } }, style);
  return { ...trigger, heldSpans: [...trigger.heldSpans, ...heldSpans(own)] };
}

/** The trace of an event that becomes a dead letter; the log and the dead letter have the error. */
export function givenUpTenantEventRows(
  event: TenantEvent,
  takenAt: Nanoseconds,
  deps: TenantEventRowsDeps,
): readonly Operation[] {
  if (event.kind !== 'trigger') return [];
  return tenantTraceRows(factsOf(event, [], { takenAt, queries: [], gaveUp: true }, deps), deps);
}

/** @param renewal the layout that followed: the known configuration was older than what the driver has read. */
export function firstLookRows(
  { uuid, project, landed, origin, queuedAt }: Extract<TenantEvent, { kind: 'first-look' }>,
  takenAt: Nanoseconds,
  renewal: LayoutRenewal,
  { tenant, tracing, paths, clock }: TenantEventRowsDeps,
): readonly Operation[] {
  const style = tracing.spans();
  if (style === undefined || origin?.sampled !== true) return [];
  const endedAt = clock.now();
  const facts: InternalEventFacts = {
    event: uuid,
    type: landed === undefined ? 'first-look' : 'landed',
    tenant,
    pipeline: null,
    project,
    change: null,
    queuedAt,
    takenAt,
    endedAt,
    origin: { span: origin.span, relation: landed === undefined ? 'follows' : 'caused_by' },
    effect: { outcome: 'reconfigured', left: [] },
    renewal: notBefore(takenAt, renewal),
  };
  return traceRows(paths, internalEventSpans(facts, style), endedAt);
}

function factsOf(
  { uuid, trigger, queuedAt }: Trigger,
  pipelines: TenantEventFacts['pipelines'],
  handling: Handling,
  { tenant, clock }: TenantEventRowsDeps,
): TenantEventFacts {
  return { event: uuid, tenant, trigger, queuedAt, ...handling, pipelines, endedAt: clock.now() };
}

function tenantTraceRows(
  facts: TenantEventFacts,
  { tracing, paths }: TenantEventRowsDeps,
): readonly Operation[] {
  const style = tracing.spans();
  if (style === undefined) return [];
  return traceRows(paths, tenantEventSpans(facts, style), facts.endedAt);
}

/** The part of an event's trace about the new layout that it led to, sent before the rest, in the commit of the layout. */
export function renewalRows(
  { uuid, trigger, queuedAt }: Trigger,
  takenAt: Nanoseconds,
  renewal: LayoutRenewal,
  { tenant, tracing, paths }: TenantEventRowsDeps,
): readonly Operation[] {
  const style = tracing.spans();
  if (style === undefined) return [];
  const facts = { event: uuid, tenant, trigger, queuedAt, renewal: notBefore(takenAt, renewal) };
  const spans = tenantRenewalSpans(facts, style);
  return traceRows(paths, spans, facts.renewal.endedAt);
}

/** Measured with this process's own clock, which may be behind that of the scheduler that forwarded the event. */
function notBefore(at: Nanoseconds, renewal: LayoutRenewal): LayoutRenewal {
  const { startedAt, endedAt } = renewal;
  return { ...renewal, startedAt: laterOf(startedAt, at), endedAt: laterOf(endedAt, at) };
}
