/**
 * A tenant's life in one scheduler: read its configuration, then process its events and run its pipelines.
 *
 * A pipeline that vanishes from the configuration finishes what it holds under its last definition and takes nothing new.
 */
import { parseCache } from '../layout/parse-cache.ts';
import { layoutSummaryCodec } from '../model/codec/records.ts';
import type { TenantEvent } from '../model/event.ts';
import type { LayoutSummary, Tenant } from '../model/layout.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { PipelineName, ProjectKey } from '../model/project.ts';
import { ensureNode } from '../store/ensure-node.ts';
import type { EventQueue } from '../store/event-queue.ts';
import type { Fence } from '../store/fence.ts';
import { preparePipeline } from '../store/load-pipeline.ts';
import { set } from '../store/port.ts';
import { fencedLoop } from './loop.ts';
import { createPipelineRunner, type PipelineRunner } from './pipeline-runner.ts';
import { type ProjectNews, type ReconfigureDeps, reconfigure } from './reconfigure.ts';
import type { SchedulerShared } from './shared.ts';
import {
  encodeSummary,
  layoutFrom,
  readCachedConfig,
  retiredFrom,
  type TenantConfig,
} from './tenant-config.ts';
import { contextMaker } from './tenant-context.ts';
import { processTenantEvents, type Reconfigured } from './tenant-events.ts';

export interface TenantRunner {
  readonly queue: EventQueue<TenantEvent>;
  holds(project: ProjectKey): boolean;
  run(signal: AbortSignal): Promise<void>;
  /** The layout is there: events can be taken. */
  readonly ready: Promise<void>;
}

export function createTenantRunner(tenant: Tenant, shared: SchedulerShared): TenantRunner {
  const { deps } = shared;
  const places = deps.paths.tenant(tenant.name);
  const queue = shared.tenantQueue(tenant.name);
  const projects = new Set(tenant.projects.map(each => each.project));
  const runners = new Map<PipelineName, { readonly runner: PipelineRunner; pipeline: Pipeline }>();
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {}); // nobody may be waiting; `run` rejects with the same reason
  const config: ReconfigureDeps = {
    clock: deps.clock,
    ids: deps.ids,
    log: deps.log,
    store: deps.store,
    paths: deps.paths,
    mergeRequests: shared.mergeRequests,
    connections: deps.connections,
    tenant,
    driversOfConnections: shared.driversOfConnections,
    cache: parseCache(),
  };
  let current: TenantConfig | undefined;

  async function adopt(next: TenantConfig, signal: AbortSignal): Promise<void> {
    const changed = next.layout !== current?.layout;
    current = next;
    if (!changed) return;
    for (const pipeline of [...next.layout.pipelines.values(), ...next.retired]) {
      const known = runners.get(pipeline.name);
      if (known !== undefined) known.pipeline = pipeline;
      else await start(pipeline, signal);
    }
    for (const { runner } of runners.values()) runner.poke();
  }

  /** The pipeline's nodes are there before the first event can be put into its queue. */
  async function start(pipeline: Pipeline, signal: AbortSignal): Promise<void> {
    await preparePipeline(deps.store, deps.paths.pipeline(tenant.name, pipeline.name), signal);
    await shared.pipelineQueue(tenant.name, pipeline.name).prepare(signal);
    const maker = contextMaker(shared, tenant, pipeline.name, config);
    const entry: { readonly runner: PipelineRunner; pipeline: Pipeline } = {
      pipeline,
      runner: createPipelineRunner({
        ...maker.runnerDeps,
        context: () => {
          if (current === undefined) throw new Error(`tenant ${tenant.name} has no layout yet`);
          return maker.context(current, entry.pipeline);
        },
      }),
    };
    runners.set(pipeline.name, entry);
    shared.track(entry.runner.run(signal), `pipeline ${tenant.name}/${pipeline.name}`);
  }

  async function storedSummary(): Promise<LayoutSummary | undefined> {
    const stored = await deps.store.get(places.layout);
    return stored === undefined || stored.data.length === 0
      ? undefined
      : layoutSummaryCodec.decode(stored.data);
  }

  /** Pipelines that vanished from the configuration, as long as they hold items. */
  async function stillHolding(pipelines: readonly Pipeline[]): Promise<readonly Pipeline[]> {
    const held = await Promise.all(
      pipelines.map(({ name }) => deps.store.children(deps.paths.pipeline(tenant.name, name).items)),
    );
    return pipelines.filter((_, index) => (held[index]?.length ?? 0) > 0);
  }

  async function initial(fence: Fence, signal: AbortSignal): Promise<TenantConfig> {
    const branches = await readCachedConfig(tenant, deps.store, deps.paths);
    const stored = await storedSummary();
    const layout = layoutFrom(branches, config);
    const cached: TenantConfig = {
      branches,
      layout,
      retired: await stillHolding(
        retiredFrom([...(stored?.retired ?? []), ...(stored?.pipelines ?? [])], layout),
      ),
      version: (stored?.version ?? 0) + 1,
      reconfiguredAt: deps.clock.now(),
    };
    const unread = tenant.projects.filter(each => !branches.has(each.project));
    const news = unread.map((each): ProjectNews => ({ project: each.project, branches: null, atLeast: [] }));
    const read = news.length === 0 ? cached : await reconfigure(cached, news, config, fence, signal);
    const missing = tenant.projects.find(each => each.trusted && !read.branches.has(each.project));
    // Without its config-projects a tenant has no pipelines: better to try again than to run half of it.
    if (missing !== undefined)
      throw new Error(`config-project ${missing.project} of tenant ${tenant.name} cannot be read`);
    if (read.version === cached.version)
      await fence.commit([set(places.layout, encodeSummary(read, tenant))], deps.ids.uuid());
    return read;
  }

  /** It could not be read when the tenant was configured. */
  function isUnread(project: ProjectKey): boolean {
    return current?.branches.has(project) === false;
  }

  async function renew(news: ProjectNews, fence: Fence, signal: AbortSignal): Promise<Reconfigured | null> {
    if (current === undefined) return null;
    const startedAt = deps.clock.now();
    const before = current;
    const after = await reconfigure(before, [news], config, fence, signal);
    await adopt(after, signal);
    return after.version === before.version
      ? null
      : { startedAt, endedAt: deps.clock.now(), version: after.version };
  }

  async function tenure(fence: Fence, signal: AbortSignal): Promise<void> {
    await adopt(await initial(fence, signal), signal);
    ready.resolve();
    await processTenantEvents(
      {
        tenant: tenant.name,
        clock: deps.clock,
        ids: deps.ids,
        log: deps.log,
        paths: deps.paths,
        connections: deps.connections,
        driverOf: connection => shared.driversOfConnections.get(connection),
        changes: shared.changes,
        spans: deps.spans,
        queue,
        pipelines: () => current?.layout.pipelines.values() ?? [],
        retired: () => current?.retired ?? [],
        eventsOf: pipeline => shared.pipelineQueue(tenant.name, pipeline),
        isUnread,
        reconfigure: renew,
      },
      fence,
      AbortSignal.any([signal, fence.lost]),
    );
  }

  return {
    queue,
    holds: project => projects.has(project),
    ready: ready.promise,
    async run(signal) {
      for (const path of [
        places.pipelines,
        places.layout,
        ...tenant.projects.map(each => deps.paths.cachedConfigs(tenant.name, each.project)),
      ]) {
        await ensureNode(deps.store, path, signal);
      }
      await queue.prepare(signal);
      const request = {
        lockPath: places.lock,
        epochPath: places.epoch,
        lastOperationPath: places.lastOperation,
        guid: deps.ids.uuid(),
      };
      await fencedLoop(`tenant ${tenant.name}`, request, deps, signal, tenure);
    },
  };
}
