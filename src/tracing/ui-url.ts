/** Links into the tracing backend's own pages. */
import { addMilliseconds, type Nanoseconds } from '../lib/clock.ts';
import type { SpanId, TraceId } from '../lib/ids.ts';

export interface UiTarget {
  readonly traceId: TraceId;
  readonly spanId?: SpanId;
  readonly start?: Nanoseconds;
  /** Absent: still open; an hour after the start is asked for. */
  readonly end?: Nanoseconds | null;
}

/** A trace being looked at while it grows: how far after its start to look. */
const OPEN_MS = 3_600_000;

/**
 * Fills a template such as `http://localhost:16686/trace/{trace_id}?uiFind={span_id}` (Jaeger; Grafana's wants `{start}`,
 * `{end}` in milliseconds; `{start_ns}`, `{end_ns}` too). What is not known is left empty; an unknown name stays as it is.
 */
export function uiUrl(template: string, target: UiTarget): string {
  const { start } = target;
  const end = start === undefined ? undefined : (target.end ?? addMilliseconds(start, OPEN_MS));
  const values: ReadonlyMap<string, string> = new Map([
    ['trace_id', target.traceId],
    ['span_id', target.spanId ?? ''],
    ['start', milliseconds(start)],
    ['end', milliseconds(end)],
    ['start_ns', start ?? ''],
    ['end_ns', end ?? ''],
  ]);
  return template.replace(/\{([a-z_]+)\}/g, (whole, name: string) => values.get(name) ?? whole);
}

function milliseconds(time: Nanoseconds | undefined): string {
  return time === undefined ? '' : (BigInt(time) / 1_000_000n).toString();
}
