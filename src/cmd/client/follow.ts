/** Follows a tenant over server-sent events: the current documents first, then every change. */
import type { ForecastDocument, ItemForecast } from '../../api/forecast.ts';
import type { LiveItem } from '../../api/live-item.ts';
import type { LivePipeline, LiveTenant } from '../../api/live-view.ts';
import { type Api, ApiError } from './api.ts';

/** A tenant as the page sees it. */
export interface FollowedTenant {
  /** Null for a moment while the service reads its configuration. */
  readonly tenant: LiveTenant | null;
  readonly pipelines: readonly LivePipeline[];
  readonly items: ReadonlyMap<string, LiveItem>;
  /** By uuid; an item that runs no jobs has none. */
  readonly forecasts: ReadonlyMap<string, ItemForecast>;
  readonly tracing: LiveTenant['tracing'];
  /** The service's clock when it sent this, milliseconds since the epoch: times in the view count on that clock. */
  readonly sentAt: number;
}

/** Yields the view after each change, until aborted (it then ends without an error). @throws ApiError */
export async function* followTenant(
  api: Api,
  tenant: string,
  signal: AbortSignal,
): AsyncGenerator<FollowedTenant, void, undefined> {
  const documents = new Map<string, unknown>();
  try {
    const body = await api.stream(`/api/tenant/${encodeURIComponent(tenant)}/events`, signal);
    for await (const data of eventData(body)) {
      const message: Message = JSON.parse(data);
      for (const [name, document] of Object.entries(message.set)) documents.set(name, document);
      for (const name of message.gone) documents.delete(name);
      yield viewOf(documents, message.now ?? Date.now());
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

/** Milliseconds within which the service must send the first view. */
const FIRST_VIEW_LIMIT = 30_000;

/** The view of this moment. @throws ApiError */
export async function currentView(api: Api, tenant: string): Promise<FollowedTenant> {
  const stop = new AbortController();
  try {
    for await (const view of followTenant(
      api,
      tenant,
      AbortSignal.any([stop.signal, AbortSignal.timeout(FIRST_VIEW_LIMIT)]),
    ))
      return view;
  } finally {
    stop.abort();
  }
  throw new ApiError(
    0,
    `the service at ${api.root} closed the connection before it sent the queues; try again`,
  );
}

interface Message {
  readonly set: { readonly [name: string]: unknown };
  readonly gone: readonly string[];
  readonly now?: number;
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

/** The only place that maps document names to types: the service made them from these types. */
function viewOf(documents: ReadonlyMap<string, unknown>, sentAt: number): FollowedTenant {
  const pipelines: LivePipeline[] = [];
  const items = new Map<string, LiveItem>();
  const forecasts: [string, ItemForecast][] = [];
  for (const [name, document] of documents) {
    if (name.startsWith('pipeline/')) pipelines.push(document as LivePipeline);
    if (name.startsWith('item/')) items.set(name.slice('item/'.length), document as LiveItem);
    if (name.startsWith('forecast/')) forecasts.push(...Object.entries((document as ForecastDocument).items));
  }
  const tenant = (documents.get('tenant') ?? null) as LiveTenant | null;
  return {
    tenant,
    pipelines: pipelines.sort((a, b) => a.position - b.position),
    items,
    forecasts: new Map(forecasts),
    tracing: tenant?.tracing ?? null,
    sentAt,
  };
}
