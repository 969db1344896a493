import { forecastDocument } from '../api/forecast.ts';
import { liveItem } from '../api/live-item.ts';
import { livePipeline, liveTenant } from '../api/live-view.ts';
import { toMilliseconds } from '../lib/clock.ts';
import { nextTurn, turnIsUsed } from '../lib/turns.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { traceLinks } from '../tracing/trace-links.ts';
import type { WebDeps } from './deps.ts';
import type { ExpectedJobDurations } from './expected-durations.ts';
import type { Forecasts } from './forecasts.ts';

type DocumentDeps = Pick<
  WebDeps,
  'snapshot' | 'traceUi' | 'contact' | 'components' | 'clock' | 'noticeBounds'
> & {
  readonly expected: ExpectedJobDurations;
  readonly forecasts: Forecasts;
  readonly known: KnownTexts;
};

/** Cached texts of items with their trace link, which changes when the settings are reloaded. */
export type KnownTexts = WeakMap<QueueItem, { readonly text: string; readonly traceUrl: string | null }>;

/** All documents of a tenant's page, as JSON texts by name, made in turns; see {@link import('./live-feed.ts').liveFeed}. */
export async function tenantDocuments(
  deps: DocumentDeps,
  tenant: string,
): Promise<ReadonlyMap<string, string>> {
  const documents = new Map<string, string>();
  const snapshot = deps.snapshot(tenant);
  if (snapshot === undefined) return documents;
  const contact = deps.contact();
  const away = contact.kind === 'away' ? contact.since : null;
  const present = new Set(deps.components().map(({ kind }) => kind));
  documents.set('tenant', JSON.stringify(liveTenant(tenant, snapshot, present, away)));
  for (const [position, live] of snapshot.pipelines.entries()) {
    documents.set(
      `pipeline/${live.pipeline.name}`,
      JSON.stringify(livePipeline(live, position, deps.noticeBounds(tenant, live.pipeline.name))),
    );
    for (const item of live.state.items.values()) {
      if (turnIsUsed()) await nextTurn();
      documents.set(`item/${item.uuid}`, await itemDocument(deps, item));
    }
    const forecasts = await deps.forecasts.of(tenant, live);
    if (forecasts.size === 0) continue;
    const now = toMilliseconds(deps.clock.now());
    documents.set(
      `forecast/${live.pipeline.name}`,
      JSON.stringify(forecastDocument(live.pipeline, forecasts, now)),
    );
  }
  return documents;
}

async function itemDocument(deps: DocumentDeps, item: QueueItem): Promise<string> {
  const links = traceLinks(deps.traceUi(), item);
  const known = deps.known.get(item);
  if (known !== undefined && known.traceUrl === links.traceUrl) return known.text;
  const expected = await deps.expected.of(item);
  const text = JSON.stringify(liveItem(item, { ...links, expected }));
  deps.known.set(item, { text, traceUrl: links.traceUrl });
  return text;
}
