/**
 * Fields of log lines that name what the line is about, to get from the line to the trace and back. `trace_id` and `span_id` are
 * OpenTelemetry's names; the others are the uuids of the API and the pages.
 *
 *     const log = deps.log.child(buildLogFacts(request));    // once per request
 *     log.warn({}, 'the result of a build could not be reported')
 *
 * The ids are derived from uuids, so lines about unsampled items have them as well: their traces can be viewed live and back-filled.
 */
import { isUuid, type SpanId, spanIdOf, type TraceId, traceIdOf, type Uuid } from '../lib/ids.ts';
import type { Decision } from '../model/decision.ts';
import type { ConnectionEvent, PipelineEvent, TenantEvent } from '../model/event.ts';
import type { MergerRequest } from '../model/merge.ts';
import type { ReportIntent } from '../model/report-intent.ts';

/** A field is absent when the line is not about one. Ids and uuids are lower-case hexadecimal, as in addresses of the API. */
export interface LogFacts {
  readonly trace_id?: TraceId;
  readonly span_id?: SpanId;
  readonly event?: Uuid;
  /** As the code host counts them. */
  readonly delivery?: string;
  readonly item?: Uuid;
  readonly buildset?: Uuid;
  readonly build?: Uuid;
  /** Of a merger. */
  readonly request?: Uuid;
  readonly report?: Uuid;
}

/**
 * For an event that is not processed yet: the ids of its traces are not known before. Each trace has the delivery as
 * `gatehouse.delivery.id`.
 */
export function deliveryLogFacts({
  uuid,
  deliveryId,
}: Pick<ConnectionEvent, 'uuid' | 'deliveryId'>): LogFacts {
  return { event: uuid, delivery: deliveryId };
}

/** For an event with a trace of its own: a trigger, an ignored event, an operator's request. */
export function eventLogFacts(event: Uuid): LogFacts {
  return { ...inTraceOf(event, event), event };
}

/** For a line about an item; the span is the root of its trace. */
export function itemLogFacts(item: Uuid): LogFacts {
  return { ...inTraceOf(item, item), item };
}

/** @param build `uuid` is that of the build. */
export function buildLogFacts(build: {
  readonly uuid: Uuid;
  readonly item: Uuid;
  readonly buildset: Uuid;
}): LogFacts {
  const { uuid, item, buildset } = build;
  return { ...inTraceOf(item, uuid), item, buildset, build: uuid };
}

/** A request for configuration has no item. */
export function mergerRequestLogFacts({ uuid, item: of }: MergerRequest): LogFacts {
  if (of === undefined) return { request: uuid };
  const { item, buildset } = of;
  return { ...inTraceOf(item, uuid), item, buildset, request: uuid };
}

/** A report that explains a refusal has no item. */
export function reportLogFacts({ uuid, item }: Pick<ReportIntent, 'uuid' | 'item'>): LogFacts {
  return item === null ? { report: uuid } : { ...inTraceOf(item, uuid), item, report: uuid };
}

/** A decision about an item is in the item's trace; one before there is an item is in the event's. */
export function decisionLogFacts({ item, event }: Pick<Decision, 'item' | 'event'>): LogFacts {
  if (item !== null) return itemLogFacts(item);
  return event === null ? {} : eventLogFacts(event);
}

/** In the trace of the tenant event; `event` is the connection event it came from. */
export function tenantEventLogFacts(event: TenantEvent): LogFacts {
  const { uuid } = event;
  return { ...inTraceOf(uuid, uuid), event: event.kind === 'trigger' ? event.trigger.uuid : uuid };
}

/** For the build or request of a result, or for the event itself. Also called with events that made a turn fail: check every field. */
export function pipelineEventLogFacts(event: PipelineEvent): LogFacts {
  switch (event.kind) {
    case 'enqueue':
      return areUuids(event.trigger?.uuid) ? eventLogFacts(event.trigger.uuid) : { event: event.uuid };
    case 'nodes-wanted':
    case 'nodes-granted':
    case 'nodes-returned':
    case 'build-started':
    case 'build-failing':
    case 'build-paused':
    case 'build-result': {
      const { uuid, item, buildset, build } = event;
      return areUuids(item, buildset, build)
        ? buildLogFacts({ uuid: build, item, buildset })
        : { event: uuid };
    }
    case 'merger-result': {
      const { uuid, item, buildset, request } = event;
      return areUuids(item, buildset, request)
        ? { ...inTraceOf(item, request), item, buildset, request }
        : { event: uuid };
    }
    case 'report-result': {
      const { uuid, item, report } = event;
      return areUuids(item, report) ? reportLogFacts({ uuid: report, item }) : { event: uuid };
    }
    case 'change-updated':
    case 'superseded':
    case 'dequeue':
    case 'promote':
    case 'rerun':
    case 'halt':
      return eventLogFacts(event.uuid);
  }
}

function areUuids(...ids: readonly (Uuid | undefined)[]): boolean {
  return ids.every(id => id !== undefined && isUuid(id));
}

function inTraceOf(root: Uuid, span: Uuid): Pick<LogFacts, 'trace_id' | 'span_id'> {
  return { trace_id: traceIdOf(root), span_id: spanIdOf(span) };
}
