/**
 * Judges traces before they are sent: whether each span has its parent, lies inside it, and has links that lead somewhere, and whether
 * the waits and the work of an item cover its time. What is wrong is counted, and nothing is changed.
 *
 *     sender ─ see(spans) ─►  open traces (ids and times) ── root seen, 10 s later ─►  counts of the hour
 *
 * A span costs a few comparisons and an entry of a map until its trace has ended. Traces that began before the judge, whose first
 * spans another process may have sent, are not judged. Spans of jobs, which we only pass on, are not ours to judge.
 */
import { type Nanoseconds, toMilliseconds } from '../../lib/clock.ts';
import { isBefore, latest } from '../../lib/time-window.ts';
import type { SpanLink, SpanRecord } from '../../model/span.ts';
import type { TraceCounts, TraceFault, TraceHour } from '../../model/trace-health.ts';
import { ATTRIBUTE } from '../attributes.ts';

/** Of one sender. */
export interface TraceJudge {
  /** @param spans ended; one that was seen before counts once. */
  see(spans: readonly SpanRecord[]): void;
  /** The last hours in which traces ended, at most {@link HOURS}, oldest first. */
  hours(): readonly TraceHour[];
  /** Since it was made. */
  totals(): TraceCounts;
}

/** Something is wrong with a trace. */
export interface FaultyTrace {
  readonly traceId: string;
  readonly fault: TraceFault;
  /** Name of a span that shows it. */
  readonly span: string;
}

/** Milliseconds after its root in which spans of a trace may still come. */
const GRACE_MS = 10_000;
const HOURS = 24;
const HOUR_MS = 3_600_000;
/** Of all open traces together; beyond that the oldest are forgotten. */
const MOST_SPANS = 100_000;
/** Traces that have ended and whose spans links may name. */
const MOST_ENDED = 500;
/** A trace that began so long after the judge follows from traces that the judge has seen. */
const LINKS_AFTER_MS = 600_000;
/** Nanoseconds without a state that do not count. */
const UNTILED_NS = 1_000_000;
/** They span what others fill. */
const AROUND: ReadonlySet<unknown> = new Set(['QueueItem', 'BuildSet', 'Takeover']);

type Counts = { -readonly [field in keyof TraceCounts]: number };

const NONE: TraceCounts = {
  ...{ judged: 0, unjudged: 0 },
  ...{ orphans: 0, outside: 0, untiled: 0, untiledNs: 0, dangling: 0 },
};

interface Seen {
  readonly parent: string | null;
  readonly name: string;
  readonly start: Nanoseconds;
  readonly end: Nanoseconds;
  readonly type: unknown;
}

interface OpenTrace {
  readonly spans: Map<string, Seen>;
  /** With the name of the span that has it. */
  readonly links: { readonly link: SpanLink; readonly from: string }[];
  root: Seen | undefined;
}

interface JudgeDeps {
  readonly now: () => Nanoseconds;
  readonly monotonic: () => number;
  /** Called with the first fault of each kind of a trace. */
  readonly onFault?: (fault: FaultyTrace) => void;
}

/** Knows no trace at first. */
export function createTraceJudge(deps: JudgeDeps): TraceJudge {
  return new Judge(deps);
}

class Judge implements TraceJudge {
  readonly #deps: JudgeDeps;
  readonly #since: number;
  readonly #open = new Map<string, OpenTrace>();
  readonly #ended = new Map<string, ReadonlySet<string>>();
  readonly #ending: { readonly traceId: string; readonly at: number }[] = [];
  readonly #hours = new Map<number, Counts>();
  readonly #totals: Counts = { ...NONE };
  #kept = 0;

  constructor(deps: JudgeDeps) {
    this.#deps = deps;
    this.#since = toMilliseconds(deps.now());
  }

  see(spans: readonly SpanRecord[]): void {
    for (const span of spans) this.#seeOne(span);
    this.#settle();
  }

  hours(): readonly TraceHour[] {
    this.#settle();
    return [...this.#hours].map(([hour, counts]) => ({ hour, ...counts }));
  }

  totals(): TraceCounts {
    return { ...this.#totals };
  }

  #seeOne(span: SpanRecord): void {
    const { traceId, spanId, parent, name, start, end, links, attributes } = span;
    if (end === null || span.resource !== undefined || this.#ended.has(traceId)) return;
    const trace: OpenTrace = this.#open.get(traceId) ?? { spans: new Map(), links: [], root: undefined };
    if (trace.spans.has(spanId)) return;
    this.#open.set(traceId, trace);
    const seen = { parent, name, start, end, type: attributes[ATTRIBUTE.spanType] };
    trace.spans.set(spanId, seen);
    for (const link of links) trace.links.push({ link, from: name });
    this.#kept += 1;
    if (parent !== null || trace.root !== undefined) return;
    trace.root = seen;
    this.#ending.push({ traceId, at: this.#deps.monotonic() + GRACE_MS });
  }

  /** Traces whose time has come, and those that there is no room for. */
  #settle(): void {
    const now = this.#deps.monotonic();
    for (let next = this.#ending[0]; next !== undefined && next.at <= now; next = this.#ending[0]) {
      this.#ending.shift();
      const trace = this.#open.get(next.traceId);
      if (trace !== undefined) this.#end(next.traceId, trace);
    }
    for (const [traceId, trace] of this.#open) {
      if (this.#kept <= MOST_SPANS) return;
      this.#forget(traceId, trace);
      this.#count('unjudged');
    }
  }

  #end(traceId: string, trace: OpenTrace): void {
    this.#forget(traceId, trace);
    this.#ended.set(traceId, new Set(trace.spans.keys()));
    const [oldest] = this.#ended.keys();
    if (this.#ended.size > MOST_ENDED && oldest !== undefined) this.#ended.delete(oldest);
    if (trace.root === undefined || toMilliseconds(trace.root.start) < this.#since) this.#count('unjudged');
    else this.#judge(traceId, trace, trace.root);
  }

  #judge(traceId: string, trace: OpenTrace, root: Seen): void {
    this.#count('judged');
    const first = new Map<TraceFault, string>();
    const fault = (kind: TraceFault, span: string) => {
      this.#count(kind);
      if (!first.has(kind)) first.set(kind, span);
    };
    judgeParents(trace, fault);
    for (const { link, from } of trace.links)
      if (this.#dangles(link, traceId, trace, root)) fault('dangling', from);
    const untiled = root.type === 'QueueItem' ? untiledNs(trace, root) : 0;
    if (untiled > UNTILED_NS) {
      fault('untiled', root.name);
      this.#count('untiledNs', untiled);
    }
    for (const [kind, span] of first) this.#deps.onFault?.({ traceId, fault: kind, span });
  }

  /** Of other traces it is known only what those held that have ended; an event's trace is sent before its items have. */
  #dangles({ traceId, spanId, attributes }: SpanLink, own: string, trace: OpenTrace, root: Seen): boolean {
    if (traceId === own) return !trace.spans.has(spanId);
    const known = this.#ended.get(traceId);
    if (known !== undefined) return !known.has(spanId);
    if (this.#open.has(traceId) || this.#ended.size >= MOST_ENDED) return false;
    const isLate = toMilliseconds(root.start) >= this.#since + LINKS_AFTER_MS;
    return isLate && attributes[ATTRIBUTE.linkRelation] === 'follows';
  }

  #forget(traceId: string, trace: OpenTrace): void {
    this.#open.delete(traceId);
    this.#kept -= trace.spans.size;
  }

  #count(what: keyof TraceCounts, by = 1): void {
    const hour = Math.floor(toMilliseconds(this.#deps.now()) / HOUR_MS) * HOUR_MS;
    const counts = this.#hours.get(hour) ?? { ...NONE };
    this.#hours.set(hour, counts);
    const [oldest] = this.#hours.keys();
    if (this.#hours.size > HOURS && oldest !== undefined) this.#hours.delete(oldest);
    counts[what] += by;
    this.#totals[what] += by;
  }
}

function judgeParents({ spans }: OpenTrace, fault: (kind: TraceFault, span: string) => void): void {
  for (const { parent, name, start, end } of spans.values()) {
    if (parent === null) continue;
    const above = spans.get(parent);
    if (above === undefined) fault('orphans', name);
    else if (isBefore(start, above.start) || isBefore(above.end, end)) fault('outside', name);
  }
}

/** Nanoseconds of the item that no wait and no work covers. */
function untiledNs({ spans }: OpenTrace, root: Seen): number {
  const parts = [...spans.values()].filter(({ type, parent }) => parent !== null && !AROUND.has(type));
  parts.sort((a, b) => (isBefore(a.start, b.start) ? -1 : 1));
  let [covered, untiled] = [root.start, 0n];
  for (const { start, end } of parts) {
    if (isBefore(covered, start)) untiled += BigInt(start) - BigInt(covered);
    covered = latest(covered, end);
  }
  if (isBefore(covered, root.end)) untiled += BigInt(root.end) - BigInt(covered);
  return Number(untiled);
}
