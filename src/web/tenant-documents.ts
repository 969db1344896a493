import { toMilliseconds } from '../lib/clock.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { traceLinks } from '../tracing/trace-links.ts';
import type { LivePipeline, TenantSnapshot, WebDeps } from './deps.ts';
import type { ExpectedDurations } from './expected-durations.ts';
import { liveItem } from './live-item.ts';

type DocumentDeps = Pick<WebDeps, 'snapshot' | 'traceUi' | 'contact' | 'components'> & {
  readonly expected: ExpectedDurations;
  readonly known: KnownTexts;
};

/** Texts of items made before, and the link in each: where the trace viewer is may be told anew while the service runs. */
export type KnownTexts = WeakMap<QueueItem, { readonly text: string; readonly traceUrl: string | null }>;

/** Everything the page shows of a tenant, as JSON texts by name; see {@link import('./live-feed.ts').liveFeed}. */
export async function tenantDocuments(
  deps: DocumentDeps,
  tenant: string,
): Promise<ReadonlyMap<string, string>> {
  const documents = new Map<string, string>();
  const snapshot = deps.snapshot(tenant);
  if (snapshot === undefined) return documents;
  documents.set('tenant', JSON.stringify(tenantDocument(tenant, snapshot, deps)));
  for (const [position, live] of snapshot.pipelines.entries()) {
    documents.set(`pipeline/${live.pipeline.name}`, JSON.stringify(pipelineDocument(live, position)));
    for (const item of live.state.items.values())
      documents.set(`item/${item.uuid}`, await itemDocument(deps, item));
  }
  return documents;
}

/** Without any of them the gate stands still. */
const NEEDED = ['scheduler', 'merger', 'executor'] as const;

function tenantDocument(
  name: string,
  snapshot: TenantSnapshot,
  deps: Pick<WebDeps, 'contact' | 'components'>,
) {
  const { tracing } = snapshot;
  const contact = deps.contact();
  const present = new Set(deps.components().map(({ kind }) => kind));
  return {
    name,
    /** Kinds of components of which none is registered. */
    missing: NEEDED.filter(kind => !present.has(kind)),
    /** Null: all of this is as of now. */
    awaySince: contact.kind === 'away' ? toMilliseconds(contact.since) : null,
    reconfiguredAt: toMilliseconds(snapshot.reconfiguredAt),
    triggerEvents: snapshot.triggerEvents,
    managementEvents: snapshot.managementEvents,
    connectionEvents: snapshot.connectionEvents,
    projects: snapshot.projects.length,
    configErrors: snapshot.configErrors.length,
    tracing:
      tracing === null
        ? null
        : {
            ...tracing,
            oldestWaiting: tracing.oldestWaiting === null ? null : toMilliseconds(tracing.oldestWaiting),
          },
  };
}

function pipelineDocument({ pipeline, state, triggerEvents, resultEvents }: LivePipeline, position: number) {
  return {
    name: pipeline.name,
    position,
    description: pipeline.description ?? null,
    manager: pipeline.manager,
    disabled: state.disabled,
    events: triggerEvents + resultEvents,
    queues: state.queues
      .filter(queue => queue.items.length > 0)
      .map(queue => ({ key: queue.key, name: queue.name, window: queue.window, items: queue.items })),
  };
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
