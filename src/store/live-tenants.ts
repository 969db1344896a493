/**
 * A watch-fed copy of the pipelines of all tenants, for views: the status page, the API, metrics.
 *
 * Nothing here is authoritative: decisions read under the fence. A view trails the store by the time of one read; within it
 * every item is whole, because an item is one record. For a record that cannot be read (broken, or of a newer version)
 * `onError` is called and the last known value stays.
 *
 *     const live = await openLiveTenants(store, paths);
 *     live.pipeline('acme', 'gate')?.queues
 */
import { isUuid, parseUuid, type Uuid } from '../lib/ids.ts';
import { RecordError } from '../model/codec/record.ts';
import { layoutSummaryCodec, pipelineCountersCodec, queueItemCodec } from '../model/codec/records.ts';
import type { LayoutSummary } from '../model/layout.ts';
import { EMPTY_PIPELINE, type PipelineCounters, type PipelineState } from '../model/pipeline-state.ts';
import type { PipelineName, TenantName } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { nameOfNode, type StorePaths } from './paths.ts';
import type { Store } from './port.ts';

export interface LiveTenants extends Disposable {
  readonly tenants: () => readonly TenantName[];
  /** Undefined: not configured yet. */
  readonly layout: (tenant: TenantName) => LayoutSummary | undefined;
  readonly pipeline: (tenant: TenantName, pipeline: PipelineName) => PipelineState;
  /** Events that wait for the pipeline's next turn. */
  readonly waitingEvents: (tenant: TenantName, pipeline: PipelineName) => number;
  readonly onChange: (listener: (tenant: TenantName) => void) => Disposable;
}

interface LivePipeline {
  counters: PipelineCounters;
  items: Map<Uuid, QueueItem>;
  waiting: number;
  /** Made on demand, dropped with each change. */
  state: PipelineState | undefined;
}

interface LiveTenant {
  layout: LayoutSummary | undefined;
  readonly pipelines: Map<PipelineName, LivePipeline>;
}

export async function openLiveTenants(
  store: Store,
  paths: StorePaths,
  onError: (error: unknown) => void,
): Promise<LiveTenants> {
  const tenants = new Map<TenantName, LiveTenant>();
  const listeners = new Set<(tenant: TenantName) => void>();
  const dirty = new Set<string>();
  let flushing: Promise<void> | undefined;

  function tenantOf(name: TenantName): LiveTenant {
    const known = tenants.get(name);
    if (known !== undefined) return known;
    const made: LiveTenant = { layout: undefined, pipelines: new Map() };
    tenants.set(name, made);
    return made;
  }

  function pipelineOf(tenant: TenantName, name: PipelineName): LivePipeline {
    const { pipelines } = tenantOf(tenant);
    const known = pipelines.get(name);
    if (known !== undefined) return known;
    const made: LivePipeline = { counters: EMPTY_PIPELINE, items: new Map(), waiting: 0, state: undefined };
    pipelines.set(name, made);
    return made;
  }

  async function refresh(path: string): Promise<TenantName | undefined> {
    const [tenant, part, pipeline, kind, id] = path
      .slice(paths.tenants.length + 1)
      .split('/')
      .map(nameOfNode);
    if (tenant === undefined || tenant === '') return undefined;
    if (part === 'layout') {
      const node = await store.get(path);
      tenantOf(tenant).layout =
        node === undefined || node.data.length === 0 ? undefined : layoutSummaryCodec.decode(node.data);
      return tenant;
    }
    if (part !== 'pipelines' || pipeline === undefined) return undefined;
    const live = pipelineOf(tenant, pipeline);
    if (kind === 'state') await refreshCounters(live, path);
    else if (kind === 'items' && id !== undefined && isUuid(id)) await refreshItem(live, path, parseUuid(id));
    else if (kind === 'events')
      live.waiting = (await store.get(paths.pipeline(tenant, pipeline).eventQueue))?.stat.childCount ?? 0;
    else return undefined;
    live.state = undefined;
    return tenant;
  }

  async function refreshCounters(live: LivePipeline, path: string): Promise<void> {
    const node = await store.get(path);
    live.counters =
      node === undefined || node.data.length === 0 ? EMPTY_PIPELINE : pipelineCountersCodec.decode(node.data);
  }

  async function refreshItem(live: LivePipeline, path: string, uuid: Uuid): Promise<void> {
    const node = await store.get(path);
    if (node === undefined) live.items.delete(uuid);
    else live.items.set(uuid, queueItemCodec.decode(node.data));
  }

  function skipUnreadable(error: unknown): undefined {
    if (!(error instanceof RecordError)) throw error;
    onError(error);
  }

  async function flush(): Promise<void> {
    while (dirty.size > 0) {
      const paths = [...dirty];
      dirty.clear();
      const touched = await Promise.all(paths.map(path => refresh(path).catch(skipUnreadable)));
      for (const tenant of new Set(touched))
        if (tenant !== undefined) for (const listener of listeners) listener(tenant);
    }
  }

  function schedule(): void {
    flushing ??= flush()
      .catch(onError)
      .finally(() => {
        flushing = undefined;
        if (dirty.size > 0) schedule();
      });
  }

  /** Marks everything in the copy, since it may be gone by now. */
  function markKnown(): void {
    for (const [tenant, { pipelines }] of tenants) {
      dirty.add(paths.tenant(tenant).layout);
      for (const [name, { items }] of pipelines) {
        const places = paths.pipeline(tenant, name);
        for (const path of [places.state, places.eventQueue]) dirty.add(path);
        for (const uuid of items.keys()) dirty.add(places.item(uuid));
      }
    }
  }

  async function markAll(): Promise<void> {
    markKnown();
    for (const tenant of (await store.children(paths.tenants)) ?? []) {
      const base = `${paths.tenants}/${tenant}`;
      dirty.add(`${base}/layout`);
      for (const pipeline of (await store.children(`${base}/pipelines`)) ?? []) {
        dirty.add(`${base}/pipelines/${pipeline}/state`);
        dirty.add(`${base}/pipelines/${pipeline}/events`);
        for (const item of (await store.children(`${base}/pipelines/${pipeline}/items`)) ?? []) {
          dirty.add(`${base}/pipelines/${pipeline}/items/${item}`);
        }
      }
    }
  }

  function markAndRefresh(): void {
    markAll().then(schedule, onError);
  }

  const watch = store.watch(paths.tenants, event => {
    if (event.kind === 'resync') markAndRefresh();
    else {
      // Every event of a queue has the same effect: count again.
      dirty.add(event.path.replace(/(\/events)\/[^/]+$/, '$1'));
      schedule();
    }
  });
  // Reads that failed while out of contact are repeated now.
  const contact = store.onSessionState(state => {
    if (state === 'connected') markAndRefresh();
  });
  await markAll();
  schedule();
  await flushing;

  return {
    tenants: () => [...tenants].filter(([, tenant]) => tenant.layout !== undefined).map(([name]) => name),
    layout: tenant => tenants.get(tenant)?.layout,
    pipeline: (tenant, name) => {
      const live = tenants.get(tenant)?.pipelines.get(name);
      if (live === undefined) return EMPTY_PIPELINE;
      live.state ??= { ...live.counters, items: new Map(live.items) };
      return live.state;
    },
    waitingEvents: (tenant, name) => tenants.get(tenant)?.pipelines.get(name)?.waiting ?? 0,
    onChange: listener => {
      listeners.add(listener);
      return { [Symbol.dispose]: () => listeners.delete(listener) };
    },
    [Symbol.dispose]() {
      watch[Symbol.dispose]();
      contact[Symbol.dispose]();
    },
  };
}
