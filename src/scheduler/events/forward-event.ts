/**
 * What comes of a processed connection event, as operations of one commit: gone from the connection's queue, there in the
 * tenants' queues, with the refreshed changes, the decisions about what had no effect, and the trace of the trip.
 */
import type { Connection } from '../../driver/connection.ts';
import type { ProcessedEvent } from '../../driver/source.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { derivedUuid, type IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { type Change, type ChangeKey, changeText } from '../../model/change.ts';
import { spansCodec } from '../../model/codec/records.ts';
import type { Decision } from '../../model/decision.ts';
import type { ConnectionEvent, EventOrigin, TenantEvent, TriggerEvent } from '../../model/event.ts';
import type { ProjectKey, TenantName } from '../../model/project.ts';
import type { EventQueue, QueueEntry } from '../../store/event-queue.ts';
import { outboxRows } from '../../store/outbox-rows.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Operation } from '../../store/port.ts';
import { heldSpans } from '../../tracing/held-spans.ts';
import { hasRules } from '../../tracing/keep.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import { decisionLogFacts, deliveryLogFacts, eventLogFacts } from '../../tracing/log-facts.ts';
import { traceStateOf } from '../../tracing/sampling.ts';
import { rootSpanOf } from '../../tracing/span-ids.ts';
import type { Processing } from '../../tracing/spans/event-process-spans.ts';
import {
  type IngestionFacts,
  type IngestionOutcome,
  ingestionSpans,
} from '../../tracing/spans/ingestion-spans.ts';
import { traceRows } from '../care/trace-rows.ts';
import type { ChangeCache } from '../changes/change-cache.ts';
import { type Landings, landerOf } from '../changes/own-merges.ts';
import { decisionRows } from '../turn/decision-rows.ts';
import { endedFacts, forwardedFacts, type Trip } from './ingestion-facts.ts';

export interface ForwardDeps {
  readonly connection: Connection;
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly changes: ChangeCache;
  readonly tracing: Pick<LiveTracing, 'spans' | 'policy'>;
  readonly queue: EventQueue<ConnectionEvent>;
  /** Tenants that hold the project, with their queues. */
  tenantsOf(
    project: ProjectKey,
  ): readonly { readonly tenant: TenantName; readonly queue: EventQueue<TenantEvent> }[];
}

/** How an event was processed, for its trace. */
export interface Attempts extends Pick<Processing, 'startedAt' | 'tries' | 'failures' | 'waits'> {
  /** Landings of ours it may tell of. */
  readonly landings: Landings;
  /** Ids of the deliveries it was processed for, besides its own. */
  readonly answered: readonly string[];
}

/** @param entries the event, and those it was processed for as well. */
export function forwardOperations(
  entries: readonly [QueueEntry<ConnectionEvent>, ...QueueEntry<ConnectionEvent>[]],
  processed: ProcessedEvent,
  attempts: Attempts,
  deps: ForwardDeps,
): readonly Operation[] {
  const event = entries[0].value;
  const { startedAt, tries, failures, waits, answered } = attempts;
  const processedAt = deps.clock.now();
  const origin = originOf(event, processed);
  const forwards = processed.events.map(trigger => ({ trigger, tenants: deps.tenantsOf(trigger.project) }));
  const trip: Trip = {
    driver: deps.connection.driver,
    processing: {
      ...{ startedAt, tries, failures, waits },
      endedAt: processedAt,
      queries: processed.queries ?? [],
    },
    endedAt: deps.clock.now(),
    answered,
  };
  // What was seen for the first time comes first: what is behind it is matched against configuration as it is now.
  const operations: Operation[] = [
    ...entries.map(entry => deps.queue.ack(entry)),
    ...againOperations(event, processed, processedAt, deps),
    ...firstLookOperations(processed, origin, processedAt, deps),
  ];
  for (const { trigger, tenants } of forwards) {
    const names = tenants.map(each => each.tenant);
    const facts = forwardedFacts(event, trigger, names, landerOf(trigger, attempts.landings), trip);
    const told = { ...withTraceState(trigger, event, deps), ...heldTrace(facts, deps) };
    for (const { tenant, queue } of tenants)
      operations.push(...queue.put(tenantEvent(told, tenant, processedAt)));
  }
  operations.push(
    ...updateOperations(processed, origin, processedAt, deps),
    ...deps.changes.operations(processed.changes),
  );
  const decisions = processed.refusals.map(refusal => refusalDecision(refusal, event, deps));
  for (const decision of decisions) {
    const { code, tenant, changeText, text } = decision;
    deps.log.info({ code, tenant, change: changeText, ...decisionLogFacts(decision) }, text);
  }
  for (const { trigger, tenants } of forwards) {
    const facts = { ...deliveryLogFacts(event), ...eventLogFacts(trigger.uuid) };
    deps.log.debug({ ...facts, tenants: tenants.length }, 'an event goes to the tenants of its project');
  }
  operations.push(...decisionRows(decisions, deps.paths.historyOutbox, processedAt));
  const facts =
    forwards.length === 0
      ? [endedFacts(event, outcomeOf(processed, deps), trip)]
      : forwards.map(({ trigger, tenants }) => {
          const names = tenants.map(each => each.tenant);
          return forwardedFacts(event, trigger, names, landerOf(trigger, attempts.landings), trip);
        });
  return [...operations, ...ingestionRows(facts, processedAt, deps)];
}

/** The trace of an event that is quarantined after its last attempt. */
export function givenUpRows(
  event: ConnectionEvent,
  { startedAt, tries, failures, waits, answered }: Attempts,
  deps: ForwardDeps,
): readonly Operation[] {
  const endedAt = deps.clock.now();
  const reason = failures.at(-1)?.reason ?? 'not-understood';
  const processing = { startedAt, tries, failures, waits, endedAt, queries: [] };
  const trip = { driver: deps.connection.driver, processing, endedAt, answered };
  return ingestionRows([endedFacts(event, { kind: 'failed', reason }, trip)], endedAt, deps);
}

function ingestionRows(
  facts: readonly IngestionFacts[],
  at: Nanoseconds,
  deps: Pick<ForwardDeps, 'tracing' | 'paths'>,
): readonly Operation[] {
  const style = deps.tracing.spans();
  if (style === undefined) return [];
  return facts.flatMap(each => {
    const spans = ingestionSpans(each, style);
    // A flood of discarded events must not become a flood of rows.
    return each.outcome.kind === 'discarded'
      ? outboxRows(deps.paths.spanOutbox, spans, spansCodec, at)
      : traceRows(deps.paths, spans, at);
  });
}

/** Without an id that is remembered: asked for once too often it finds nothing new, asked for never it loses something. */
function againOperations(
  { uuid, connection, sampled }: ConnectionEvent,
  { again }: ProcessedEvent,
  at: Nanoseconds,
  { queue }: ForwardDeps,
): readonly Operation[] {
  if (again === undefined) return [];
  const next = {
    uuid: derivedUuid(uuid, 'again'),
    connection,
    ...again,
    receivedAt: at,
    storedAt: at,
    sampled,
  };
  return queue.put(next);
}

/** Sampling left it out, and an item it leads to may still be kept. */
function heldTrace(facts: IngestionFacts, { tracing }: ForwardDeps): Pick<TriggerEvent, 'heldSpans'> {
  const style = tracing.spans();
  if (facts.sampled || style === undefined || !hasRules(tracing.policy().keep)) return {};
  return { heldSpans: heldSpans(ingestionSpans({ ...facts, sampled: true }, style)) };
}

function withTraceState(
  trigger: TriggerEvent,
  { uuid, sampled }: ConnectionEvent,
  { tracing }: ForwardDeps,
): TriggerEvent {
  if (tracing.spans() === undefined) return trigger;
  return { ...trigger, traceState: traceStateOf(uuid, sampled, tracing.policy().ratio) };
}

function tenantEvent(trigger: TriggerEvent, tenant: TenantName, queuedAt: Nanoseconds): TenantEvent {
  // The trace of the trip is the trigger's own: its root is what later traces link to.
  const span = rootSpanOf(trigger.uuid);
  return {
    kind: 'trigger',
    uuid: derivedUuid(trigger.uuid, tenant),
    tenant,
    trigger: { ...trigger, span },
    queuedAt,
  };
}

/** What follows from the event as a whole follows from the first of its traces. */
function originOf({ uuid, sampled }: ConnectionEvent, { events }: ProcessedEvent): EventOrigin {
  return { span: rootSpanOf(events[0]?.uuid ?? uuid), sampled };
}

function outcomeOf(processed: ProcessedEvent, deps: ForwardDeps): IngestionOutcome {
  const { updated, firstLooks = [], discarded, refusals } = processed;
  const projects = [...firstLooks, ...updated.flatMap(key => projectOf(key, processed, deps) ?? [])];
  const tenants = new Set(projects.flatMap(each => deps.tenantsOf(each).map(({ tenant }) => tenant)));
  if (tenants.size > 0) return { kind: 'updated', tenants: [...tenants] };
  return { kind: 'discarded', reason: discarded ?? refusals[0]?.text ?? 'nothing came of it' };
}

function projectOf(key: ChangeKey, processed: ProcessedEvent, deps: ForwardDeps): ProjectKey | undefined {
  const record = processed.changes.find(each => each.change.key === key) ?? deps.changes.record(key);
  return record?.change.project;
}

function firstLookOperations(
  processed: ProcessedEvent,
  origin: EventOrigin,
  queuedAt: Nanoseconds,
  deps: ForwardDeps,
): readonly Operation[] {
  return (processed.firstLooks ?? []).flatMap(project =>
    deps
      .tenantsOf(project)
      .flatMap(({ tenant, queue }) =>
        queue.put({ kind: 'first-look', uuid: deps.ids.uuid(), tenant, project, queuedAt, origin }),
      ),
  );
}

function updateOperations(
  processed: ProcessedEvent,
  origin: EventOrigin,
  queuedAt: Nanoseconds,
  deps: ForwardDeps,
): readonly Operation[] {
  return processed.updated.flatMap(change => {
    const project = projectOf(change, processed, deps);
    if (project === undefined) return [];
    return deps
      .tenantsOf(project)
      .flatMap(({ tenant, queue }) =>
        queue.put({ kind: 'updated', uuid: deps.ids.uuid(), tenant, project, change, queuedAt, origin }),
      );
  });
}

function refusalDecision(
  refusal: { readonly change: Change; readonly text: string },
  event: ConnectionEvent,
  deps: ForwardDeps,
): Decision {
  return {
    at: deps.clock.now(),
    code: 'event-refused',
    tenant: deps.tenantsOf(refusal.change.project)[0]?.tenant ?? '',
    pipeline: null,
    project: refusal.change.project,
    change: refusal.change.key,
    changeText: changeText(refusal.change),
    item: null,
    event: event.uuid,
    text: refusal.text,
  };
}
