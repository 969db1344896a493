/**
 * An event that Gatehouse makes itself: of a timer, or of the connection `zuul`. It goes to the pipelines that take it directly, with
 * its trace and the decisions in the same commit.
 */
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { derivedUuid, type Uuid } from '../../lib/ids.ts';
import { type Change, targetBranchOf } from '../../model/change.ts';
import type { PipelineEvent, TriggerEvent } from '../../model/event.ts';
import type { Json } from '../../model/job.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import type { ConnectionName, TenantName } from '../../model/project.ts';
import type { SpanReference } from '../../model/span.ts';
import type { Step } from '../../model/step.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Operation } from '../../store/port.ts';
import { heldSpans } from '../../tracing/held-spans.ts';
import { hasRules } from '../../tracing/keep.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import { traceStateOf } from '../../tracing/sampling.ts';
import { rootSpanOf } from '../../tracing/span-ids.ts';
import { type IngestionFacts, ingestionSpans } from '../../tracing/spans/ingestion-spans.ts';
import { traceRows } from '../care/trace-rows.ts';
import { matchDecision } from '../tenant/tenant-matching.ts';
import { decisionRows } from '../turn/decision-rows.ts';

/** Of one tenant. */
export interface DirectEventDeps {
  readonly tenant: TenantName;
  readonly clock: Pick<Clock, 'now'>;
  readonly paths: Pick<StorePaths, 'spanOutbox' | 'historyOutbox'>;
  readonly tracing: Pick<LiveTracing, 'spans' | 'policy' | 'isSampled'>;
}

/** What happened, about one change. */
export interface DirectEvent {
  /** The same at each repetition. */
  readonly uuid: Uuid;
  /** Of the event and of its driver: `timer`, `zuul`. */
  readonly connection: ConnectionName;
  readonly type: string;
  readonly change: Change;
  readonly facts: Json;
  /** Of the stored record that it was made from. */
  readonly source: Uuid;
  readonly receivedAt: Nanoseconds;
  /** When it was to come; absent: when it was received. */
  readonly madeAt?: Nanoseconds;
  /** When its handling began. */
  readonly startedAt: Nanoseconds;
  readonly queries: readonly Step[];
  /** Root of our item that caused it; null: none did. */
  readonly causedBy: SpanReference | null;
}

/** A pipeline that takes it. */
export interface DirectTarget {
  readonly pipeline: Pipeline;
  /** The filter that matched, in one line. */
  readonly matched: string;
  readonly queue: EventQueue<PipelineEvent>;
}

/** Operations for the commit that takes note that the event was made. */
export function directEventOperations(
  event: DirectEvent,
  targets: readonly DirectTarget[],
  deps: DirectEventDeps,
): readonly Operation[] {
  const endedAt = deps.clock.now();
  const trigger = withTrace(triggerOf(event, deps), event, endedAt, deps);
  const style = deps.tracing.spans();
  const spans = style === undefined ? [] : ingestionSpans(factsOf(trigger, event, endedAt, deps), style);
  const decisions = targets.map(({ pipeline, matched }) =>
    matchDecision({ pipeline, matched: true, text: matched }, trigger, deps.tenant, endedAt),
  );
  return [
    ...targets.flatMap(({ pipeline, matched, queue }) =>
      queue.put({
        kind: 'enqueue',
        uuid: derivedUuid(trigger.uuid, pipeline.name, 'enqueue'),
        ...{ trigger, tenantSpan: trigger.span, matched },
      }),
    ),
    ...decisionRows(decisions, deps.paths.historyOutbox, endedAt),
    ...traceRows(deps.paths, spans, endedAt),
  ];
}

function triggerOf(
  { uuid, connection, type, change, facts, receivedAt }: DirectEvent,
  { tracing }: DirectEventDeps,
): TriggerEvent {
  return {
    ...{ uuid, connection, driver: connection, type, change, facts, receivedAt },
    project: change.project,
    branch: targetBranchOf(change) ?? null,
    ref: change.ref,
    configMayHaveChanged: [],
    branchesChanged: false,
    sampled: tracing.isSampled(uuid),
    span: rootSpanOf(uuid),
  };
}

function withTrace(
  trigger: TriggerEvent,
  event: DirectEvent,
  endedAt: Nanoseconds,
  deps: DirectEventDeps,
): TriggerEvent {
  const { uuid, sampled } = trigger;
  const style = deps.tracing.spans();
  if (style === undefined) return trigger;
  const { keep, ratio } = deps.tracing.policy();
  const facts = { ...factsOf(trigger, event, endedAt, deps), sampled: true };
  const isHeld = !sampled && hasRules(keep);
  return {
    ...trigger,
    traceState: traceStateOf(uuid, sampled, ratio),
    ...(isHeld ? { heldSpans: heldSpans(ingestionSpans(facts, style)) } : {}),
  };
}

function factsOf(
  { uuid, type, project, change, receivedAt, sampled }: TriggerEvent,
  { connection, source, madeAt, startedAt, queries, causedBy }: DirectEvent,
  endedAt: Nanoseconds,
  { tenant }: DirectEventDeps,
): IngestionFacts {
  return {
    ...{ event: uuid, connection, driver: connection, type, project, change, receivedAt, sampled, endedAt },
    deliveryId: source,
    answered: [],
    storedAt: receivedAt,
    ...(madeAt === undefined ? {} : { madeAt }),
    foundBy: connection,
    processing: { startedAt, endedAt, tries: 1, failures: [], waits: [], queries },
    outcome: { kind: 'forwarded', tenants: [tenant] },
    causedBy,
  };
}
