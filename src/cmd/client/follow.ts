/** Follows a tenant over server-sent events: the current documents first, then each change of them. */
import type { LiveItem } from '../../web/live-item.ts';
import type { Api } from './api.ts';

export interface LiveQueue {
  readonly name: string;
  readonly window: number;
  /** Oldest first. */
  readonly items: readonly string[];
}

export interface LivePipeline {
  readonly name: string;
  readonly position: number;
  readonly manager: string;
  readonly queues: readonly LiveQueue[];
}

/** A tenant as the page sees it. */
export interface LiveView {
  readonly pipelines: readonly LivePipeline[];
  readonly items: ReadonlyMap<string, LiveItem>;
  /** Delivery of spans; null: tracing is off. */
  readonly tracing: {
    readonly waiting: number;
    readonly delivered: number;
    readonly problem: string | null;
  } | null;
}

/** Yields the view after each change, until aborted (it then ends without an error). @throws ApiError */
export async function* followTenant(
  api: Api,
  tenant: string,
  signal: AbortSignal,
): AsyncGenerator<LiveView, void, undefined> {
  const documents = new Map<string, unknown>();
  const body = await api.stream(`/api/tenant/${encodeURIComponent(tenant)}/events`, signal);
  try {
    for await (const data of eventData(body)) {
      const { set, gone }: { set: { readonly [name: string]: unknown }; gone: readonly string[] } =
        JSON.parse(data);
      for (const [name, document] of Object.entries(set)) documents.set(name, document);
      for (const name of gone) documents.delete(name);
      yield viewOf(documents);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** The data of each event of a `text/event-stream`. */
async function* eventData(body: ReadableStream<Uint8Array>): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
    const events = (rest + chunk).split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = event
        .split('\n')
        .flatMap(line => (line.startsWith('data: ') ? [line.slice('data: '.length)] : []));
      if (data.length > 0) yield data.join('\n');
    }
  }
}

function viewOf(documents: ReadonlyMap<string, unknown>): LiveView {
  const pipelines: LivePipeline[] = [];
  const items = new Map<string, LiveItem>();
  for (const [name, document] of documents) {
    if (name.startsWith('pipeline/')) pipelines.push(document as LivePipeline);
    if (name.startsWith('item/')) items.set(name.slice('item/'.length), document as LiveItem);
  }
  const tenant = documents.get('tenant') as { readonly tracing: LiveView['tracing'] } | undefined;
  return {
    pipelines: pipelines.sort((a, b) => a.position - b.position),
    items,
    tracing: tenant?.tracing ?? null,
  };
}
