/**
 * Spans a job made itself, as they go out: each below one of the build's own spans, inside its playbook, marked with whose it is.
 *
 *     Playbook run/test.sh            ours
 *       pytest                        the job's: parent is the playbook (TRACEPARENT)
 *         test_login                  the job's: parent is `pytest`, which was told later
 *       ScriptStep make               ours, of `gatehouse step`
 *         compile                     the job's
 *       upload                        the job's: nobody has heard of its parent, so it hangs below the playbook in which it was told
 *
 * All of a build is placed at once, when it has ended: only then it is known which spans there are and where they end, and nothing
 * is sent that would hang in the air because its executor died.
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

/** A span as the job told it, and when: read and checked, see `src/tracing/otlp-in/`. */
export interface ReportedSpan {
  readonly span: SpanRecord;
  readonly at: Nanoseconds;
}

export interface EndedBuild {
  readonly request: BuildRequest;
  readonly trace: BuildTrace;
  readonly execution: Execution;
  /** When it was cancelled: its spans end by then. */
  readonly cancelledAt: Nanoseconds | null;
}

export interface PlacedSpans {
  /** Parents first. */
  readonly spans: readonly SpanRecord[];
  /** Spans that found no place: of an id of ours, or told while no playbook of their trace ran. */
  readonly rejected: number;
}

/** Where a span hangs in the end. */
interface Place {
  /** The playbook it lies within. */
  readonly playbook: SpanRecord;
  /** Nobody has heard of the parent it names, or that one is of another trace. */
  readonly adrift: boolean;
}

/** @param told no two of one id. */
export function placeJobSpans(build: EndedBuild, told: readonly ReportedSpan[]): PlacedSpans {
  const own = ownSpans(build);
  const reserved = reservedIds(build, own);
  const free = told.filter(({ span }) => !reserved.has(span.spanId));
  const known = new Set(free.map(({ span }) => span.spanId));
  const below = Map.groupBy(free, ({ span }) => span.parent);
  const placed = new Map<SpanId, SpanRecord>();
  const marks = jobSpanMarks(build);

  /** Places a span and all that hang below it. A list instead of recursion: a chain may be as long as the quota allows. */
  function grow(root: ReportedSpan, at: Place): void {
    const waiting = [{ span: root.span, place: at }];
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { span, place } = next;
      if (placed.has(span.spanId) || span.traceId !== place.playbook.traceId) continue;
      placed.set(span.spanId, drawn(span, place, marks));
      for (const child of below.get(span.spanId) ?? [])
        waiting.push({ span: child.span, place: { ...place, adrift: false } });
    }
  }

  function growAdrift(each: ReportedSpan): void {
    if (placed.has(each.span.spanId)) return;
    const playbook = playbookAt(own.playbooks, each);
    if (playbook !== undefined) grow(each, { playbook, adrift: true });
  }

  for (const [parent, playbook] of own.hosts)
    for (const each of below.get(parent) ?? []) grow(each, { playbook, adrift: false });
  for (const each of free) if (each.span.parent === null || !known.has(each.span.parent)) growAdrift(each);
  // What is left names parents that found no place, or that are below it.
  for (const each of free) growAdrift(each);
  return { spans: [...placed.values()], rejected: told.length - placed.size };
}

interface OwnSpans {
  /** Everything the executor tells of the build. */
  readonly all: readonly SpanRecord[];
  readonly playbooks: readonly SpanRecord[];
  /** Spans a job's may hang below → their playbook: playbooks and what is below them. */
  readonly hosts: ReadonlyMap<SpanId, SpanRecord>;
}

/** As they will be drawn when the build's result has arrived. */
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

/** No span of a job may pass for one of these. */
function reservedIds({ request, trace }: EndedBuild, own: OwnSpans): ReadonlySet<SpanId> {
  return new Set([...derivableIds(request, trace.buildSpan), ...own.all.map(({ spanId }) => spanId)]);
}

/** The last one of that trace that had begun when the span was told. */
function playbookAt(playbooks: readonly SpanRecord[], { span, at }: ReportedSpan): SpanRecord | undefined {
  return playbooks.findLast(({ traceId, start }) => traceId === span.traceId && !isBefore(at, start));
}

/** Whose it is: on every span of the build, whatever the job says. */
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

function drawn(span: SpanRecord, { playbook, adrift }: Place, marks: Attributes): SpanRecord {
  const { start, end, adjusted } = clampInto(playbook, span.start, span.end);
  const inside = (at: Nanoseconds) => bounded(at, playbook);
  const moved = adjusted === 0 ? NOTHING : attributesOf('JobSpan', { clockAdjusted: adjusted });
  const lost = adrift ? attributesOf('JobSpan', { originalParent: span.parent ?? undefined }) : NOTHING;
  return {
    ...span,
    ...{ start, end },
    parent: adrift ? playbook.spanId : span.parent,
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
