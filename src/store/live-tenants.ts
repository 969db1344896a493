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
import { createListeners } from '../lib/listeners.ts';
import { RecordError } from '../model/codec/record.ts';
import { layoutSummaryCodec, pipelineCountersCodec, queueItemCodec } from '../model/codec/records.ts';
import type { LayoutSummary } from '../model/layout.ts';
import { withOwnQueues } from '../model/own-queues.ts';
import { EMPTY_PIPELINE, type PipelineCounters, type PipelineState } from '../model/pipeline-state.ts';
import type { PipelineName, TenantName } from '../model/project.ts';
import type { QueueItem } from '../model/queue-item.ts';
import { nameOfNode, type StorePaths } from './paths.ts';
import type { Store } from './port.ts';

/** What the web shows of tenants; no decision reads it. */
export interface LiveTenants extends Disposable {
  /** Those with a layout. */
  tenants(): readonly TenantName[];
  /** Undefined: not configured yet. */
  layout(tenant: TenantName): LayoutSummary | undefined;
  /** An empty state for a pipeline that is unknown or has never had an item. */
  pipeline(tenant: TenantName, pipeline: PipelineName): PipelineState;
  /** Events that wait for the pipeline's next turn. */
  waitingEvents(tenant: TenantName, pipeline: PipelineName): number;
  /** Called once per tenant and read, with the tenant whose copy was read again. */
  onChange(listener: (tenant: TenantName) => void): Disposable;
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

/**
 * Resolves when everything was read once; disposing of the view stops the watches.
 *
 * @param onError called for a record that cannot be read and for a failed read; the view stays usable.
 */
export async function openLiveTenants(
  store: Store,
  paths: StorePaths,
  onError: (error: unknown) => void,
): Promise<LiveTenants> {
  const view = new LiveView(store, paths, onError);
  await view.load();
  return view;
}

class LiveView implements LiveTenants {
  readonly #store: Store;
  readonly #paths: StorePaths;
  readonly #onError: (error: unknown) => void;
  readonly #tenants = new Map<TenantName, LiveTenant>();
  readonly #listeners = createListeners<[tenant: TenantName]>();
  /** Paths to read again. */
  readonly #dirty = new Set<string>();
  #flushing: Promise<void> | undefined;
  readonly #watch: Disposable;
  readonly #contact: Disposable;

  constructor(store: Store, paths: StorePaths, onError: (error: unknown) => void) {
    this.#store = store;
    this.#paths = paths;
    this.#onError = onError;
    this.#watch = store.watch(paths.tenants, event => {
      if (event.kind === 'resync') this.#markAndRefresh();
      else {
        // Every event of a queue has the same effect: count again.
        this.#dirty.add(event.path.replace(/(\/events)\/[^/]+$/, '$1'));
        this.#schedule();
      }
    });
    // Reads that failed while out of contact are repeated now.
    this.#contact = store.onSessionState(state => {
      if (state === 'connected') this.#markAndRefresh();
    });
  }

  async load(): Promise<void> {
    await this.#markAll();
    this.#schedule();
    await this.#flushing;
  }

  tenants() {
    return [...this.#tenants].filter(([, tenant]) => tenant.layout !== undefined).map(([name]) => name);
  }

  layout(tenant: TenantName) {
    return this.#tenants.get(tenant)?.layout;
  }

  pipeline(tenant: TenantName, name: PipelineName) {
    const live = this.#tenants.get(tenant)?.pipelines.get(name);
    if (live === undefined) return EMPTY_PIPELINE;
    live.state ??= withOwnQueues({ ...live.counters, items: new Map(live.items) });
    return live.state;
  }

  waitingEvents(tenant: TenantName, name: PipelineName) {
    return this.#tenants.get(tenant)?.pipelines.get(name)?.waiting ?? 0;
  }

  onChange(listener: (tenant: TenantName) => void) {
    return this.#listeners.add(listener);
  }

  [Symbol.dispose]() {
    this.#watch[Symbol.dispose]();
    this.#contact[Symbol.dispose]();
  }

  /** Marks everything in the copy, since it may be gone by now. */
  #markKnown(): void {
    for (const [tenant, { pipelines }] of this.#tenants) {
      this.#dirty.add(this.#paths.tenant(tenant).layout);
      for (const [name, { items }] of pipelines) {
        const places = this.#paths.pipeline(tenant, name);
        for (const path of [places.state, places.eventQueue]) this.#dirty.add(path);
        for (const uuid of items.keys()) this.#dirty.add(places.item(uuid));
      }
    }
  }

  async #markAll(): Promise<void> {
    this.#markKnown();
    for (const tenant of (await this.#store.children(this.#paths.tenants)) ?? []) {
      const base = `${this.#paths.tenants}/${tenant}`;
      this.#dirty.add(`${base}/layout`);
      for (const pipeline of (await this.#store.children(`${base}/pipelines`)) ?? [])
        await this.#markPipeline(`${base}/pipelines/${pipeline}`);
    }
  }

  async #markPipeline(base: string): Promise<void> {
    this.#dirty.add(`${base}/state`);
    this.#dirty.add(`${base}/events`);
    for (const item of (await this.#store.children(`${base}/items`)) ?? [])
      this.#dirty.add(`${base}/items/${item}`);
  }

  #markAndRefresh(): void {
    this.#markAll().then(() => this.#schedule(), this.#onError);
  }

  #schedule(): void {
    this.#flushing ??= this.#flush()
      .catch(this.#onError)
      .finally(() => {
        this.#flushing = undefined;
        if (this.#dirty.size > 0) this.#schedule();
      });
  }

  async #flush(): Promise<void> {
    while (this.#dirty.size > 0) {
      const paths = [...this.#dirty];
      this.#dirty.clear();
      const touched = await Promise.all(
        paths.map(path => this.#refresh(path).catch(error => this.#skipUnreadable(error))),
      );
      for (const tenant of new Set(touched)) if (tenant !== undefined) this.#listeners.call(tenant);
    }
  }

  #skipUnreadable(error: unknown): undefined {
    if (!(error instanceof RecordError)) throw error;
    this.#onError(error);
  }

  /** Reads one path again. @returns the tenant it belongs to; undefined: it is not shown. */
  async #refresh(path: string): Promise<TenantName | undefined> {
    const [tenant, part, pipeline, kind, id] = path
      .slice(this.#paths.tenants.length + 1)
      .split('/')
      .map(nameOfNode);
    if (tenant === undefined || tenant === '') return undefined;
    if (part === 'layout') {
      const node = await this.#store.get(path);
      this.#tenantOf(tenant).layout =
        node === undefined || node.data.length === 0 ? undefined : layoutSummaryCodec.decode(node.data);
      return tenant;
    }
    if (part !== 'pipelines' || pipeline === undefined) return undefined;
    const live = this.#pipelineOf(tenant, pipeline);
    if (kind === 'state') await this.#refreshCounters(live, path);
    else if (kind === 'items' && id !== undefined && isUuid(id))
      await this.#refreshItem(live, path, parseUuid(id));
    else if (kind === 'events')
      await this.#countEvents(live, this.#paths.pipeline(tenant, pipeline).eventQueue);
    else return undefined;
    live.state = undefined;
    return tenant;
  }

  async #refreshCounters(live: LivePipeline, path: string): Promise<void> {
    const node = await this.#store.get(path);
    live.counters =
      node === undefined || node.data.length === 0 ? EMPTY_PIPELINE : pipelineCountersCodec.decode(node.data);
  }

  async #refreshItem(live: LivePipeline, path: string, uuid: Uuid): Promise<void> {
    const node = await this.#store.get(path);
    if (node === undefined) live.items.delete(uuid);
    else live.items.set(uuid, queueItemCodec.decode(node.data));
  }

  async #countEvents(live: LivePipeline, path: string): Promise<void> {
    live.waiting = (await this.#store.get(path))?.stat.childCount ?? 0;
  }

  #tenantOf(name: TenantName): LiveTenant {
    const known = this.#tenants.get(name);
    if (known !== undefined) return known;
    const made: LiveTenant = { layout: undefined, pipelines: new Map() };
    this.#tenants.set(name, made);
    return made;
  }

  #pipelineOf(tenant: TenantName, name: PipelineName): LivePipeline {
    const { pipelines } = this.#tenantOf(tenant);
    const known = pipelines.get(name);
    if (known !== undefined) return known;
    const made: LivePipeline = { counters: EMPTY_PIPELINE, items: new Map(), waiting: 0, state: undefined };
    pipelines.set(name, made);
    return made;
  }
}
