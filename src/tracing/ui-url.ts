/** Links to pages of the tracing backend. */
import { addMilliseconds, type Nanoseconds } from '../lib/clock.ts';
import type { SpanId, TraceId } from '../lib/ids.ts';

/** The configured trace viewer. */
export interface TraceUi {
  /** `[tracing] ui_url`. */
  readonly template: string;
  /** `service.name` of our spans: viewers search by it. */
  readonly service: string;
}

/** The trace, or the span in it, that a link opens. The times only matter for viewers that search by range. */
export interface UiTarget {
  readonly traceId: TraceId;
  readonly spanId?: SpanId;
  readonly start?: Nanoseconds;
  /** Absent: still open; the link then covers a day after the start. */
  readonly end?: Nanoseconds | null;
}

/** Time range of a link to a trace that is still open. */
const OPEN_MS = 86_400_000;
/** Viewer and server clocks may differ. */
const MARGIN_MS = 60_000;

/**
 * Fills a template such as `http://localhost:16686/trace/{trace_id}?uiFind={span_id}` (Jaeger, which finds a trace of any age
 * by its id). For viewers that need a time range: `{start}`, `{end}` in milliseconds (Grafana), `{start_us}`,
 * `{end_us}`, `{start_ns}`, `{end_ns}`; and `{service}`. An unknown value is left empty; an unknown name stays as it is.
 *
 * @returns null when the result is not an http address.
 */
export function uiUrl({ template, service }: TraceUi, target: UiTarget): string | null {
  const { start } = target;
  const end = start === undefined ? undefined : (target.end ?? addMilliseconds(start, OPEN_MS));
  const values: ReadonlyMap<string, string> = new Map([
    ['trace_id', target.traceId],
    ['span_id', target.spanId ?? ''],
    ['service', encodeURIComponent(service)],
    ['start', digits(start, 1_000_000n)],
    ['end', digits(end, 1_000_000n)],
    ['start_us', digits(start, 1000n)],
    ['end_us', digits(end, 1000n)],
    ['start_ns', digits(start, 1n)],
    ['end_ns', digits(end, 1n)],
  ]);
  return httpAddress(template.replace(/\{([a-z_]+)\}/g, (whole, name: string) => values.get(name) ?? whole));
}

/** Which traces a search finds. The range is widened by a minute at both ends, because clocks differ. */
export interface UiSearch {
  /** Attributes that the spans must have. */
  readonly tags: { readonly [name: string]: string };
  readonly start: Nanoseconds;
  /** null: still open. */
  readonly end: Nanoseconds | null;
}

/** Maximum number of traces a search returns. */
const MOST_TRACES = 100;

/**
 * Jaeger's search for all traces with certain attributes. Jaeger compares the range with the start of each span.
 *
 * @returns null for viewers that are not Jaeger: the template does not have its form.
 */
export function searchUrl({ template, service }: TraceUi, { tags, start, end }: UiSearch): string | null {
  const [, root] = /^(.*)\/trace\/\{trace_id\}/.exec(template) ?? [];
  if (root === undefined) return null;
  const until = end === null ? addMilliseconds(start, OPEN_MS) : addMilliseconds(end, MARGIN_MS);
  const question = new URLSearchParams({
    service,
    tags: JSON.stringify(tags),
    start: digits(addMilliseconds(start, -MARGIN_MS), 1000n),
    end: digits(until, 1000n),
    lookback: 'custom',
    limit: String(MOST_TRACES),
  });
  return httpAddress(`${root}/search?${question}`);
}

function digits(time: Nanoseconds | undefined, unit: bigint): string {
  return time === undefined ? '' : (BigInt(time) / unit).toString();
}

function httpAddress(address: string): string | null {
  return /^https?:\/\//.test(address) ? address : null;
}
