/** Questions to a Jaeger by its API v3, and for the search by attributes by the older one where v3 cannot do it yet. */
import { decodeJsonRequest, type SinkSpan } from '../fake/otlp-sink.ts';

export interface Stretch {
  readonly from: Date;
  readonly to: Date;
}

/**
 * All spans of a trace; none when there is no such trace.
 *
 * @param raw as they were stored; otherwise as the page shows them: without repeats, corrected, with warnings as attributes.
 */
export async function trace(query: string, id: string, raw: boolean): Promise<readonly SinkSpan[]> {
  // Two spellings: Jaeger 2.13 understands the one, later ones the other.
  const response = await fetch(`${query}/api/v3/traces/${id}?raw_traces=${raw}&rawTraces=${raw}`);
  if (response.status === 404) return [];
  const { result } = await json<{ readonly result?: unknown }>(response);
  return decodeJsonRequest(Buffer.from(JSON.stringify(result)));
}

/** Ids of the traces with a span that has all of these attributes and began in this stretch of time. */
export async function search(
  query: string,
  { service, tags, from, to }: Stretch & { readonly service: string; readonly tags: object },
): Promise<readonly string[]> {
  const attributes = JSON.stringify(tags);
  const old = await fetch(
    `${query}/api/traces?${new URLSearchParams({ service, tags: attributes, start: `${+from * 1000}`, end: `${+to * 1000}`, limit: '200' })}`,
  );
  if (old.ok) {
    const { data } = await json<{ readonly data: readonly { readonly traceID: string }[] }>(old);
    return data.map(({ traceID }) => traceID.padStart(32, '0'));
  }
  const question = new URLSearchParams({
    'query.serviceName': service,
    'query.attributes': attributes,
    'query.startTimeMin': from.toISOString(),
    'query.startTimeMax': to.toISOString(),
    'query.searchDepth': '200',
  });
  const response = await fetch(`${query}/api/v3/traces?${question}`);
  if (response.status === 404) return [];
  const { result } = await json<{ readonly result?: unknown }>(response);
  return [...new Set(decodeJsonRequest(Buffer.from(JSON.stringify(result))).map(span => span.traceId))];
}

/** Trace id → spans whose parent is missing, as Jaeger counts them; undefined: this Jaeger does not count them yet. */
export async function orphans(
  query: string,
  { service, from, to }: Stretch & { readonly service: string },
): Promise<ReadonlyMap<string, number> | undefined> {
  const question = new URLSearchParams({
    'query.serviceName': service,
    'query.startTimeMin': from.toISOString(),
    'query.startTimeMax': to.toISOString(),
    'query.searchDepth': '200',
  });
  const response = await fetch(`${query}/api/v3/trace-summaries?${question}`);
  if (!response.headers.get('content-type')?.includes('json') || response.status === 404) return undefined;
  const { summaries = [] } = await json<{
    readonly summaries?: readonly { readonly traceId: string; readonly orphanSpanCount?: number }[];
  }>(response);
  return new Map(summaries.map(({ traceId, orphanSpanCount = 0 }) => [traceId, orphanSpanCount]));
}

async function json<T>(response: Response): Promise<T> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${response.url} answered ${response.status}: ${text.slice(0, 300)}`);
  return JSON.parse(text);
}
