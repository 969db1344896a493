/**
 * Forwards a processed connection event, as operations of one commit: removed from the connection's queue, added to the tenants'
 * queues, with the refreshed changes, the decisions about refused changes, and the trace.
 */
import type { Connection } from '../../driver/connection.ts';
import { hostSteps } from '../../driver/host-steps.ts';
import type { ProcessedEvent } from '../../driver/source.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import { derivedUuid, type IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { type Change, type ChangeKey, changeText } from '../../model/change.ts';
import { spansCodec } from '../../model/codec/records.ts';
import type { Decision } from '../../model/decision.ts';
import type { ConnectionEvent, EventOrigin, TenantEvent, TriggerEvent } from '../../model/event.ts';
import type { ProjectKey, TenantName } from '../../model/project.ts';
import type { Question } from '../../model/question.ts';
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
import { hostOrders } from './host-orders.ts';
import { type EventHandling, endedFacts, forwardedFacts } from './ingestion-facts.ts';

/** Of one connection; the queues are those that the commit writes to. */
export interface ForwardDeps {
  readonly connection: Connection;
  readonly paths: StorePaths;
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly changes: ChangeCache;
  readonly tracing: Pick<LiveTracing, 'spans' | 'policy'>;
  readonly queue: EventQueue<ConnectionEvent>;
  /** Absent: the connection answers none. */
  readonly questions?: EventQueue<Question>;
  /** Tenants that hold the project, with their queues. */
  tenantsOf(
    project: ProjectKey,
  ): readonly { readonly tenant: TenantName; readonly queue: EventQueue<TenantEvent> }[];
}

/** How an event was processed, for its trace. */
export interface Attempts extends Pick<Processing, 'startedAt' | 'tries' | 'failures' | 'waits' | 'queries'> {
  /** Our own landings that it may come from. */
  readonly landings: Landings;
  /** Ids of the other deliveries that were processed with it. */
  readonly answered: readonly string[];
}

/** @param entries the event, and those that were processed with it. */
export function forwardOperations(
  entries: readonly [QueueEntry<ConnectionEvent>, ...QueueEntry<ConnectionEvent>[]],
  processed: ProcessedEvent,
  attempts: Attempts,
  deps: ForwardDeps,
): readonly Operation[] {
  const event = entries[0].value;
  const { startedAt, tries, failures, waits, queries, answered } = attempts;
  const processedAt = deps.clock.now();
  const origin = originOf(event, processed);
  const places = { tenantsOf: (key: ChangeKey) => tenantsOfChange(key, processed, deps) };
  const forwards = processed.events.map(trigger => ({ trigger, tenants: deps.tenantsOf(trigger.project) }));
  const handling: EventHandling = {
    driver: deps.connection.driver,
    processing: {
      ...{ startedAt, tries, failures, waits },
      endedAt: processedAt,
      queries: hostSteps([...queries, ...(processed.queries ?? [])]),
    },
    endedAt: deps.clock.now(),
    answered,
    ...(processed.foundBy === undefined ? {} : { foundBy: processed.foundBy }),
  };
  // First looks come first, so that the events behind them are matched against the present configuration.
  const operations: Operation[] = [
    ...entries.map(entry => deps.queue.ack(entry)),
    ...againOperations(event, processed, processedAt, deps),
    ...firstLookOperations(processed, origin, processedAt, deps),
  ];
  for (const { trigger, tenants } of forwards) {
    const names = tenants.map(each => each.tenant);
    const facts = forwardedFacts(event, trigger, names, landerOf(trigger, attempts.landings), handling);
    const forwarded = { ...withTraceState(trigger, event, deps), ...heldTrace(facts, deps) };
    for (const { tenant, queue } of tenants)
      operations.push(...queue.put(tenantEvent(forwarded, tenant, processedAt)));
  }
  operations.push(
    ...updateOperations(processed, origin, processedAt, deps),
    ...hostOrders(processed, event, { origin, queuedAt: processedAt }, places),
    ...questionOperations(processed, event, origin, deps),
    ...deps.changes.operations(processed.changes),
  );
  const decisions = processed.refusals.map(refusal => refusalDecision(refusal, event, deps));
  for (const decision of decisions) {
    const { code, tenant, changeText, text } = decision;
    deps.log.info({ code, tenant, change: changeText, ...decisionLogFacts(decision) }, text);
  }
  for (const { trigger, tenants } of forwards) {
    const facts = { ...deliveryLogFacts(event), ...eventLogFacts(trigger.uuid) };
    deps.log.debug(
      { ...facts, tenants: tenants.length },
      'an event is forwarded to the tenants of its project',
    );
  }
  operations.push(...decisionRows(decisions, deps.paths.historyOutbox, processedAt));
  const facts =
    forwards.length === 0
      ? [endedFacts(event, outcomeOf(processed, deps), handling)]
      : forwards.map(({ trigger, tenants }) => {
          const names = tenants.map(each => each.tenant);
          return forwardedFacts(event, trigger, names, landerOf(trigger, attempts.landings), handling);
        });
  return [...operations, ...ingestionRows(facts, processedAt, deps)];
}

/** The trace of an event that is quarantined after its last attempt. */
export function quarantinedEventRows(
  event: ConnectionEvent,
  { startedAt, tries, failures, waits, queries, answered }: Attempts,
  deps: ForwardDeps,
): readonly Operation[] {
  const endedAt = deps.clock.now();
  const reason = failures.at(-1)?.reason ?? 'not-understood';
  const processing = { startedAt, tries, failures, waits, endedAt, queries };
  const handling = { driver: deps.connection.driver, processing, endedAt, answered };
  return ingestionRows([endedFacts(event, { kind: 'failed', reason }, handling)], endedAt, deps);
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
    // Discarded events get no row in the history: there may be very many.
    return each.outcome.kind === 'discarded'
      ? outboxRows(deps.paths.spanOutbox, spans, spansCodec, at)
      : traceRows(deps.paths, spans, at);
  });
}

/** The delivery id is not remembered: a repeated read costs time, a missing one loses an event. */
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

/** For an event that is not sampled, as long as an item that it enqueues may still be kept. */
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
  // Later traces link to the root of the trigger's own trace.
  const span = rootSpanOf(trigger.uuid);
  return {
    kind: 'trigger',
    uuid: derivedUuid(trigger.uuid, tenant),
    tenant,
    trigger: { ...trigger, span },
    queuedAt,
  };
}

/** Internal events that follow from the event link to the first of its traces. */
function originOf({ uuid, sampled }: ConnectionEvent, { events }: ProcessedEvent): EventOrigin {
  return { span: rootSpanOf(events[0]?.uuid ?? uuid), sampled };
}

function outcomeOf(processed: ProcessedEvent, deps: ForwardDeps): IngestionOutcome {
  const { updated, firstLooks = [], dequeues = [], promotes = [], questions = [] } = processed;
  const { discarded, refusals } = processed;
  const keys = [...updated, ...[...dequeues, ...promotes, ...questions].map(({ change }) => change)];
  const projects = [...firstLooks, ...keys.flatMap(key => projectOf(key, processed, deps) ?? [])];
  const tenants = new Set(projects.flatMap(each => deps.tenantsOf(each).map(({ tenant }) => tenant)));
  if (tenants.size > 0) return { kind: 'updated', tenants: [...tenants] };
  return { kind: 'discarded', reason: discarded ?? refusals[0]?.text ?? 'no effect' };
}

function tenantsOfChange(key: ChangeKey, processed: ProcessedEvent, deps: ForwardDeps) {
  const project = projectOf(key, processed, deps);
  return project === undefined ? [] : deps.tenantsOf(project);
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

/** Questions of one event; more are dropped. */
const MOST_QUESTIONS = 5;

function questionOperations(
  { questions = [] }: ProcessedEvent,
  { receivedAt: askedAt }: ConnectionEvent,
  origin: EventOrigin,
  deps: ForwardDeps,
): readonly Operation[] {
  const asked = questions.slice(0, MOST_QUESTIONS);
  return asked.flatMap(
    ({ change, by }) => deps.questions?.put({ change, by: by.slice(0, 256), askedAt, origin }) ?? [],
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
