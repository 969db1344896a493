/**
 * Which spans of others may go where ours go.
 *
 *     whose    by the Unix socket: our command line's; with a token: any service's but our own
 *     where    in traces of their own, or below a span of ours: never a second root of a trace of ours (items-of-trace.ts), never
 *              with the id of a span of ours, and with a token only in tenants it names
 *     what     attributes named `gatehouse.*` are ours to say, except the few a command's span has
 *
 * Spans that nobody records (their trace, or the item they belong to, is not sampled) are taken and dropped: their maker has
 * done nothing wrong.
 */
import type { TraceId } from '../lib/ids.ts';
import { isExported, type QueueItem } from '../model/queue-item.ts';
import type { SpanRecord } from '../model/span.ts';
import { ATTRIBUTE } from '../tracing/attributes.ts';
import { withoutOurs } from '../tracing/own-names.ts';
import type { Caller } from './auth/caller.ts';
import { COMMAND_LINE_AGENT } from './auth/caller-context.ts';
import { type ItemsOfTrace, mayActFor } from './items-of-trace.ts';

export interface SpanRules {
  readonly caller: Exclude<Caller, { readonly kind: 'anonymous' }>;
  /** What `service.name` of our own spans may be. */
  readonly ownServices: ReadonlySet<string>;
  readonly itemsOf: ItemsOfTrace;
  readonly spansOf: (item: QueueItem) => readonly SpanRecord[];
  /** Whether a trace that is no item's is kept. */
  readonly isSampled: (trace: TraceId) => boolean;
}

export interface AcceptedSpans {
  readonly spans: readonly SpanRecord[];
  readonly rejected: number;
  /** Why the first of them was. */
  readonly reason: string | undefined;
}

/** Traces in one request that are looked at; each costs a look into the history. */
const MOST_TRACES = 50;
/** What the spans of our command line say of themselves. */
const COMMAND_ATTRIBUTES: ReadonlySet<string> = new Set([
  ATTRIBUTE.spanType,
  ATTRIBUTE.command,
  ATTRIBUTE.exitCode,
  ATTRIBUTE.result,
]);

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
  if (ownServices.has(service)) return `a span of service ${service}, which is ours`;
  return caller.kind === 'here'
    ? `a span of a service other than ${COMMAND_LINE_AGENT}: those need a token`
    : undefined;
}

function placeProblem(
  span: SpanRecord,
  items: readonly QueueItem[],
  ours: ReadonlySet<string>,
  { caller }: SpanRules,
): string | undefined {
  if (items.length === 0) return undefined;
  if (!mayActFor(caller, items)) return 'a span in a trace of a tenant the token does not name';
  if (span.parent === null) return 'a second root in a trace of ours';
  // The root of an event's trace is not among the spans of an item.
  const isOurs = ours.has(span.spanId) || span.traceId.startsWith(span.spanId);
  return isOurs ? 'a span with the id of a span of ours' : undefined;
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
