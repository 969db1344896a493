/**
 * Decides which spans of other programs are forwarded to the collector.
 *
 *     sender       over the Unix socket: our command line; with a token: any service except Gatehouse itself
 *     trace        a trace of its own, or below a span of ours; never a second root in our traces (items-of-trace.ts), never the id
 *                  of a span of ours, and with a token only traces of the tenants it names
 *     attributes   `gatehouse.*` is reserved, except the few attributes of a command's span
 *
 * Spans of unsampled traces or items are accepted and dropped: the sender has made no error.
 */
import type { TraceId } from '../lib/ids.ts';
import { isExported, type QueueItem } from '../model/queue-item.ts';
import type { SpanRecord } from '../model/span.ts';
import { ATTRIBUTE } from '../tracing/attributes.ts';
import { withoutOurs } from '../tracing/own-names.ts';
import type { Authentication, Caller } from './auth/caller.ts';
import { COMMAND_LINE_AGENT } from './auth/caller-context.ts';
import { type ItemsOfTrace, mayActFor } from './items-of-trace.ts';

/** What is known of one request's sender and of our own traces; made per request by otlp-route.ts. */
export interface SpanRules {
  readonly caller: Exclude<Caller, { readonly kind: 'anonymous' }>;
  readonly auth: Pick<Authentication, 'rules'>;
  /** Values of `service.name` of our own spans. */
  readonly ownServices: ReadonlySet<string>;
  /** The items of a trace; queried once for each trace of the request. */
  readonly itemsOf: ItemsOfTrace;
  /** All spans of an item, whose ids no other program may use. */
  readonly spansOf: (item: QueueItem) => readonly SpanRecord[];
  /** Sampling decision for a trace that belongs to no item. */
  readonly isSampled: (trace: TraceId) => boolean;
}

/** `spans` are cleaned of reserved attributes and may be fewer than sent without a rejection: those of unsampled traces are dropped. */
export interface AcceptedSpans {
  readonly spans: readonly SpanRecord[];
  readonly rejected: number;
  /** Reason of the first rejection. */
  readonly reason: string | undefined;
}

/** Traces per request; each costs a query of the history. */
const MOST_TRACES = 50;
/** Reserved attributes that spans of our command line may have. */
const COMMAND_ATTRIBUTES: ReadonlySet<string> = new Set([
  ATTRIBUTE.spanType,
  ATTRIBUTE.command,
  ATTRIBUTE.exitCode,
  ATTRIBUTE.result,
]);

/** @param spans of one request, read and checked. @returns rejections as counts, never as an error: the sender gets a partial success. */
export async function acceptSpans(spans: readonly SpanRecord[], rules: SpanRules): Promise<AcceptedSpans> {
  const accepted: SpanRecord[] = [];
  let rejected = 0;
  let reason: string | undefined;
  const reject = (why: string, count: number) => {
    rejected += count;
    reason ??= why;
  };
  let traces = 0;
  for (const [trace, members] of Map.groupBy(spans, span => span.traceId)) {
    if (traces++ >= MOST_TRACES) {
      reject(`more than ${MOST_TRACES} traces in one request`, members.length);
      continue;
    }
    const items = await rules.itemsOf(trace);
    const ours = new Set(items.flatMap(rules.spansOf).map(span => span.spanId));
    const isKept = items.length === 0 ? rules.isSampled(trace) : items.some(isExported);
    for (const span of members) {
      const why = problemOf(span, rules) ?? placeProblem(span, items, ours, rules);
      if (why !== undefined) reject(why, 1);
      else if (isKept) accepted.push(cleaned(span));
    }
  }
  return { spans: accepted, rejected, reason };
}

function problemOf({ resource }: SpanRecord, { caller, ownServices }: SpanRules): string | undefined {
  const service = resource?.['service.name'];
  if (typeof service !== 'string' || service === '') return 'a span whose resource has no service.name';
  if (service === COMMAND_LINE_AGENT) return undefined;
  if (ownServices.has(service)) return `a span of service ${service}, which is Gatehouse's own`;
  return caller.kind === 'here'
    ? `a span of a service other than ${COMMAND_LINE_AGENT}: those need a token`
    : undefined;
}

function placeProblem(
  span: SpanRecord,
  items: readonly QueueItem[],
  ours: ReadonlySet<string>,
  { auth, caller }: SpanRules,
): string | undefined {
  if (items.length === 0) return undefined;
  if (!mayActFor(auth, caller, items))
    return 'a span in a trace of a tenant that the token does not let you operate';
  if (span.parent === null) return 'a second root in a trace of Gatehouse';
  // The root of an event's trace is not among the spans of an item.
  const isOurs = ours.has(span.spanId) || span.traceId.startsWith(span.spanId);
  return isOurs ? 'a span with the id of a span of Gatehouse' : undefined;
}

function cleaned(span: SpanRecord): SpanRecord {
  const isCommand = span.resource?.['service.name'] === COMMAND_LINE_AGENT;
  const { resource } = span;
  return {
    ...span,
    attributes: isCommand ? withoutOurs(span.attributes, COMMAND_ATTRIBUTES) : withoutOurs(span.attributes),
    events: span.events.map(event => ({ ...event, attributes: withoutOurs(event.attributes) })),
    links: span.links.map(link => ({ ...link, attributes: withoutOurs(link.attributes) })),
    ...(resource === undefined ? {} : { resource: withoutOurs(resource) }),
  };
}
