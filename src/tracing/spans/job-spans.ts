/**
 * Places the spans a job made itself: each below one of the build's own spans, within its playbook, marked with the ids of its build.
 *
 *     Playbook run/test.sh            ours
 *       pytest                        the job's: parent is the playbook (TRACEPARENT)
 *         test_login                  the job's: parent is `pytest`, which arrived later
 *       ScriptStep make               ours, of `gatehouse step`
 *         compile                     the job's
 *       upload                        the job's: its parent is unknown, so it goes below the playbook that ran when it arrived
 *
 * All spans of a build are placed when it has ended: only then are all spans and their ends known. A span sent earlier would have no
 * parent if the executor died.
 */
import type { Nanoseconds } from '../../lib/clock.ts';
import type { SpanId, TraceId } from '../../lib/ids.ts';
import { bounded, clampInto, isBefore, type TimeWindow } from '../../lib/time-window.ts';
import type { Execution } from '../../model/build.ts';
import type { BuildRequest, BuildTrace } from '../../model/build-request.ts';
import type { Attributes, SpanRecord } from '../../model/span.ts';
import type { Step } from '../../model/step.ts';
import { attributesOf } from '../attribute-values.ts';
import { ATTRIBUTE } from '../attributes.ts';
import { withoutOurs } from '../own-names.ts';
import { continuationSpanId, jobExecutionSpanId, ownTraceOf } from '../span-ids.ts';
import { derivableIds } from './derivable-ids.ts';
import { DEFAULT_SPAN_OPTIONS } from './span-options.ts';
import { planSteps } from './step-spans.ts';

/** A span that a job sent to the relay, read and checked (`src/tracing/otlp-in/`), and when it arrived. */
export interface ReportedSpan {
  readonly span: SpanRecord;
  readonly at: Nanoseconds;
}

/** A build whose executor has finished, with what is needed to compute its own spans again. */
export interface EndedBuild {
  readonly request: BuildRequest;
  readonly trace: BuildTrace;
  readonly execution: Execution;
  /** When it was cancelled: its spans end by then. Null: it was not. */
  readonly cancelledAt: Nanoseconds | null;
}

/** Spans as they are exported, below those of the build. `rejected` goes into the log of the build. */
export interface PlacedSpans {
  /** Parents first. */
  readonly spans: readonly SpanRecord[];
  /** Number of spans without a place: with an id of ours, or received while no playbook of their trace ran. */
  readonly rejected: number;
}

/** Where a span goes. */
interface Place {
  /** The playbook it lies within. */
  readonly playbook: SpanRecord;
  /** Its parent is unknown or in another trace. */
  readonly orphan: boolean;
}

/** @param received spans with distinct ids. */
export function placeJobSpans(build: EndedBuild, received: readonly ReportedSpan[]): PlacedSpans {
  const own = ownSpans(build);
  const reserved = reservedIds(build, own);
  const free = received.filter(({ span }) => !reserved.has(span.spanId));
  const known = new Set(free.map(({ span }) => span.spanId));
  const below = Map.groupBy(free, ({ span }) => span.parent);
  const placed = new Map<SpanId, SpanRecord>();
  const marks = jobSpanMarks(build);

  /** Places a span and its descendants. Iterative: a chain may be as long as the quota allows. */
  function grow(root: ReportedSpan, at: Place): void {
    const waiting = [{ span: root.span, place: at }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { span, place } = next;
      if (placed.has(span.spanId) || span.traceId !== place.playbook.traceId) continue;
      placed.set(span.spanId, placedSpan(span, place, marks));
      for (const child of below.get(span.spanId) ?? [])
        waiting.push({ span: child.span, place: { ...place, orphan: false } });
    }
  }

  function growOrphan(each: ReportedSpan): void {
    if (placed.has(each.span.spanId)) return;
    const playbook = playbookAt(own.playbooks, each);
    if (playbook !== undefined) grow(each, { playbook, orphan: true });
  }

  for (const [parent, playbook] of own.hosts)
    for (const each of below.get(parent) ?? []) grow(each, { playbook, orphan: false });
  for (const each of free) if (each.span.parent === null || !known.has(each.span.parent)) growOrphan(each);
  // The rest have parents that were not placed, or form a cycle.
  for (const each of free) growOrphan(each);
  return { spans: [...placed.values()], rejected: received.length - placed.size };
}

interface OwnSpans {
  /** All spans the executor reports of the build. */
  readonly all: readonly SpanRecord[];
  readonly playbooks: readonly SpanRecord[];
  /** Possible parents of a job's span → their playbook: playbooks and the spans below them. */
  readonly hosts: ReadonlyMap<SpanId, SpanRecord>;
}

/** The same spans that are made when the build's result is handled. */
function ownSpans({ request, trace, execution, cancelledAt }: EndedBuild): OwnSpans {
  const envelope = { start: request.requestedAt, end: cancelledAt };
  const whole = clampInto(envelope, execution.startedAt, execution.endedAt);
  const ownTrace = ownTraceOf(request.uuid);
  const first = { traceId: trace.own === true ? ownTrace : trace.traceId, ...whole };
  const rest = { traceId: ownTrace, ...clampInto(whole, execution.continuedAt ?? whole.start, whole.end) };
  const steps = Map.groupBy(execution.steps, ({ continued }) => continued === true);
  const all = [
    ...drawnSteps({ ...first, id: jobExecutionSpanId(trace.buildSpan) }, steps.get(false) ?? []),
    ...drawnSteps({ ...rest, id: continuationSpanId(trace.buildSpan) }, steps.get(true) ?? []),
  ];
  const playbooks = all.filter(span => span.attributes[ATTRIBUTE.spanType] === 'Playbook');
  const hosts = new Map(playbooks.map(playbook => [playbook.spanId, playbook]));
  // Parents come before their children.
  for (const span of all) {
    const playbook = span.parent === null ? undefined : hosts.get(span.parent);
    if (playbook !== undefined) hosts.set(span.spanId, playbook);
  }
  return { all, playbooks, hosts };
}

function drawnSteps(
  parent: TimeWindow & { readonly id: SpanId; readonly traceId: TraceId },
  steps: readonly Step[],
): readonly SpanRecord[] {
  const { id, traceId, start, end } = parent;
  const draft = { traceId, style: DEFAULT_SPAN_OPTIONS, common: {} };
  const place = { key: '', parent: { id: () => id, start, end }, own: {} };
  return planSteps({ draft }, place, steps).map(plan => plan.make());
}

/** Ids that a job's span may not use. */
function reservedIds({ request, trace }: EndedBuild, own: OwnSpans): ReadonlySet<SpanId> {
  return new Set([...derivableIds(request, trace.buildSpan), ...own.all.map(({ spanId }) => spanId)]);
}

/** The last playbook of its trace that had begun when the span arrived. */
function playbookAt(playbooks: readonly SpanRecord[], { span, at }: ReportedSpan): SpanRecord | undefined {
  return playbooks.findLast(({ traceId, start }) => traceId === span.traceId && !isBefore(at, start));
}

/** Ids of the build, set on each of its job's spans; they replace what the job says. */
export function jobSpanMarks({ request, trace }: Pick<EndedBuild, 'request' | 'trace'>): Attributes {
  return attributesOf('JobSpan', {
    tenant: request.tenant,
    pipeline: request.pipeline,
    itemId: request.item,
    eventId: trace.event,
    buildsetId: request.buildset,
    buildId: request.uuid,
    job: request.jobName,
    attempt: request.attempt,
    spanType: 'JobSpan',
  });
}

function placedSpan(span: SpanRecord, { playbook, orphan }: Place, marks: Attributes): SpanRecord {
  const { start, end, adjusted } = clampInto(playbook, span.start, span.end);
  const inside = (at: Nanoseconds) => bounded(at, playbook);
  const moved = adjusted === 0 ? NOTHING : attributesOf('JobSpan', { clockAdjusted: adjusted });
  const lost = orphan ? attributesOf('JobSpan', { originalParent: span.parent ?? undefined }) : NOTHING;
  return {
    ...span,
    ...{ start, end },
    parent: orphan ? playbook.spanId : span.parent,
    attributes: { ...withoutOurs(span.attributes), ...marks, ...moved, ...lost },
    events: span.events.map(event => ({
      ...event,
      at: inside(event.at),
      attributes: withoutOurs(event.attributes),
    })),
    links: span.links.map(link => ({ ...link, attributes: withoutOurs(link.attributes) })),
    ...(span.resource === undefined ? {} : { resource: withoutOurs(span.resource) }),
  };
}

const NOTHING: Attributes = {};
