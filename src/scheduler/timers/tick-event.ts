/** One event of a timer: a branch as its host has it now, for one pipeline. */
import { refUpdate, refUpdateRecord } from '../../driver/ref-update.ts';
import { TIMER } from '../../layout/build/timer-trigger.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { derivedUuid } from '../../lib/ids.ts';
import type { ChangeRecord } from '../../model/change.ts';
import type { PipelineEvent, TriggerEvent } from '../../model/event.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import type { BranchName, CommitId, ProjectKey, TenantName } from '../../model/project.ts';
import type { Tick } from '../../model/tick.ts';
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
export interface TickEventDeps {
  readonly tenant: TenantName;
  readonly clock: Pick<Clock, 'now'>;
  readonly paths: Pick<StorePaths, 'spanOutbox' | 'historyOutbox'>;
  readonly tracing: Pick<LiveTracing, 'spans' | 'policy' | 'isSampled'>;
}

/** The branch, and when its host was asked. */
export interface BranchNow {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  readonly commit: CommitId;
  readonly askedAt: Nanoseconds;
}

/** What the event comes to. `record`: for the change cache. */
export interface TickEvent {
  readonly operations: readonly Operation[];
  readonly record: ChangeRecord;
}

/** @param queue that of the pipeline. */
export function tickEvent(
  tick: Tick,
  now: BranchNow,
  { pipeline, queue }: { readonly pipeline: Pipeline; readonly queue: EventQueue<PipelineEvent> },
  deps: TickEventDeps,
): TickEvent {
  const endedAt = deps.clock.now();
  const trigger = withTrace(triggerOf(tick, now, deps), tick, now, endedAt, deps);
  const matched = `time ${tick.time}`;
  const decision = matchDecision({ pipeline, matched: true, text: matched }, trigger, deps.tenant, endedAt);
  const event: PipelineEvent = {
    kind: 'enqueue',
    uuid: derivedUuid(trigger.uuid, 'enqueue'),
    ...{ trigger, tenantSpan: trigger.span, matched },
  };
  const style = deps.tracing.spans();
  const spans = style === undefined ? [] : ingestionSpans(factsOf(trigger, tick, now, endedAt, deps), style);
  return {
    operations: [
      ...queue.put(event),
      ...decisionRows([decision], deps.paths.historyOutbox, endedAt),
      ...traceRows(deps.paths, spans, endedAt),
    ],
    record: refUpdateRecord(refOf(now), {}, endedAt),
  };
}

function refOf({ project, branch, commit }: BranchNow) {
  return refUpdate(project, { ref: `refs/heads/${branch}`, before: null, after: commit });
}

function triggerOf(tick: Tick, now: BranchNow, { tracing }: TickEventDeps): TriggerEvent {
  const uuid = derivedUuid(tick.uuid, now.project, now.branch);
  const change = refOf(now);
  return {
    uuid,
    connection: TIMER,
    driver: TIMER,
    type: TIMER,
    project: now.project,
    branch: now.branch,
    ref: change.ref,
    change,
    facts: { time: tick.time },
    configMayHaveChanged: [],
    branchesChanged: false,
    receivedAt: tick.queuedAt,
    sampled: tracing.isSampled(uuid),
    span: rootSpanOf(uuid),
  };
}

function withTrace(
  trigger: TriggerEvent,
  tick: Tick,
  now: BranchNow,
  endedAt: Nanoseconds,
  deps: TickEventDeps,
): TriggerEvent {
  const { uuid, sampled } = trigger;
  const style = deps.tracing.spans();
  if (style === undefined) return trigger;
  const { keep, ratio } = deps.tracing.policy();
  const facts = { ...factsOf(trigger, tick, now, endedAt, deps), sampled: true };
  const isHeld = !sampled && hasRules(keep);
  return {
    ...trigger,
    traceState: traceStateOf(uuid, sampled, ratio),
    ...(isHeld ? { heldSpans: heldSpans(ingestionSpans(facts, style)) } : {}),
  };
}

function factsOf(
  { uuid, type, project, change, receivedAt, sampled }: TriggerEvent,
  tick: Tick,
  { askedAt }: BranchNow,
  endedAt: Nanoseconds,
  { tenant }: TickEventDeps,
): IngestionFacts {
  return {
    ...{ event: uuid, connection: TIMER, driver: TIMER, type, project, change, receivedAt, sampled, endedAt },
    deliveryId: tick.uuid,
    answered: [],
    storedAt: receivedAt,
    madeAt: tick.at,
    foundBy: TIMER,
    processing: { startedAt: askedAt, endedAt, tries: 1, failures: [], waits: [], queries: [] },
    outcome: { kind: 'forwarded', tenants: [tenant] },
    causedBy: null,
  };
}
