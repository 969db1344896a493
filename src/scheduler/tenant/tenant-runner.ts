/**
 * A tenant in one scheduler, in two parts that need not be in the same process:
 *
 *   follow   every scheduler keeps a copy of the tenant's current layout and contends for each of its pipelines, so that
 *            pipelines spread over schedulers, and another one takes over immediately when one dies
 *   hold     one scheduler holds the tenant's fence: it processes the tenant's events and writes new layouts
 *
 * A pipeline that is removed from the configuration finishes its items under its last definition and takes nothing new.
 */
import type { TenantEvent } from '../../model/event.ts';
import type { Tenant } from '../../model/layout.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import type { PipelineName, ProjectKey } from '../../model/project.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import type { EventQueue } from '../../store/event-queue.ts';
import type { Fence } from '../../store/fence.ts';
import { preparePipeline } from '../../store/load-pipeline.ts';
import type { Operation } from '../../store/port.ts';
import type { LayoutRenewal } from '../../tracing/spans/reconfigure-spans.ts';
import { fencedLoop, runTogether } from '../loop.ts';
import type { SchedulerShared } from '../shared.ts';
import { createPipelineRunner, type PipelineRunner } from '../turn/pipeline-runner.ts';
import { removeLeftoverAnswers } from './ask-merger.ts';
import { initialConfig } from './initial-config.ts';
import type { Layouts } from './layouts.ts';
import { type ConfigurationToRead, type ReconfigureDeps, reconfigure } from './reconfigure.ts';
import type { TenantConfig } from './tenant-config.ts';
import { contextMaker } from './tenant-context.ts';
import { processTenantEvents, type TenantEventsDeps } from './tenant-events.ts';
import { openTenantLayout, type TenantLayout } from './tenant-layout.ts';

export interface TenantRunner {
  readonly queue: EventQueue<TenantEvent>;
  /** Of the tenant in its current layout. */
  projects(): ReadonlySet<ProjectKey>;
  run(signal: AbortSignal): Promise<void>;
  /** A layout is adopted: events can be taken. */
  readonly ready: Promise<void>;
}

interface RunningPipeline {
  readonly runner: PipelineRunner;
  readonly stop: AbortController;
  pipeline: Pipeline;
}

export function createTenantRunner(tenant: Tenant, layouts: Layouts, shared: SchedulerShared): TenantRunner {
  const { deps } = shared;
  const places = deps.paths.tenant(tenant.name);
  const queue = shared.tenantQueue(tenant.name);
  const running = new Map<PipelineName, RunningPipeline>();
  const ready = Promise.withResolvers<void>();
  const config: ReconfigureDeps = {
    clock: deps.clock,
    ids: deps.ids,
    log: deps.log,
    store: deps.store,
    paths: deps.paths,
    mergeRequests: shared.mergeRequests,
    asked: new Set(),
    connections: deps.connections,
    tracing: deps.tracing,
    tenant,
    layouts,
  };
  let projects: ReadonlySet<ProjectKey> = projectsOf(tenant);
  /** Adoptions, one after the other. */
  let adopted: Promise<void> = Promise.resolve();

  async function adopt(next: TenantConfig, layout: TenantLayout, signal: AbortSignal): Promise<void> {
    projects = projectsOf(next.tenant);
    const wanted = [...next.layout.pipelines.values(), ...next.retired];
    for (const [name, { stop }] of running) {
      if (wanted.some(pipeline => pipeline.name === name)) continue;
      stop.abort(new Error(`pipeline ${tenant.name}/${name} is gone`));
      running.delete(name);
    }
    for (const pipeline of wanted) {
      const known = running.get(pipeline.name);
      if (known === undefined) await start(pipeline, layout, signal);
      else known.pipeline = pipeline;
    }
    for (const { runner } of running.values()) runner.poke();
    ready.resolve();
  }

  /** The pipeline's nodes exist before the first event can be put into its queue. */
  async function start(pipeline: Pipeline, layout: TenantLayout, signal: AbortSignal): Promise<void> {
    await preparePipeline(deps.store, deps.paths.pipeline(tenant.name, pipeline.name), signal);
    await shared.pipelineQueue(tenant.name, pipeline.name).prepare(signal);
    const maker = contextMaker(shared, tenant.name, pipeline.name, config, () => entry.runner.poke());
    const stop = new AbortController();
    const entry: RunningPipeline = {
      pipeline,
      stop,
      runner: createPipelineRunner({
        ...maker.runnerDeps,
        layout,
        context: () => {
          if (layout.current === undefined) throw new Error(`tenant ${tenant.name} has no layout yet`);
          return maker.context(layout.current, entry.pipeline);
        },
      }),
    };
    running.set(pipeline.name, entry);
    const either = AbortSignal.any([signal, stop.signal]);
    const known = shared.share.know();
    either.addEventListener('abort', () => known[Symbol.dispose](), { once: true });
    shared.track(entry.runner.run(either), `pipeline ${tenant.name}/${pipeline.name}`);
  }

  async function renew(
    wanted: ConfigurationToRead,
    rowsFor: (renewal: LayoutRenewal) => readonly Operation[],
    layout: TenantLayout,
    fence: Fence,
    signal: AbortSignal,
  ): Promise<'read' | 'unread'> {
    const before = layout.current;
    if (before === undefined) return 'unread';
    const { after, unread } = await reconfigure(before, [wanted], rowsFor, config, fence, signal);
    if (after !== null) {
      layout.adopt(after);
      await adopted;
    }
    return unread ? 'unread' : 'read';
  }

  async function hold(layout: TenantLayout, fence: Fence, signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, fence.lost]);
    layout.adopt(await initialConfig(layout.current, config, fence, either));
    await adopted;
    const events: TenantEventsDeps = {
      tenant: tenant.name,
      clock: deps.clock,
      ids: deps.ids,
      log: deps.log,
      paths: deps.paths,
      connections: deps.connections,
      driverOf: connection => shared.driversOfConnections.get(connection),
      changes: shared.changes,
      dependencies: shared.dependencies,
      tracing: deps.tracing,
      queue,
      pipelines: () => layout.current?.layout.pipelines.values() ?? [],
      retired: () => layout.current?.retired ?? [],
      eventsOf: pipeline => shared.pipelineQueue(tenant.name, pipeline),
      isUnread: project => layout.current?.branches.has(project) === false,
      reconfigure: (wanted, rowsFor, held, stop) => renew(wanted, rowsFor, layout, held, stop),
    };
    await runTogether(either, stop => [
      processTenantEvents(events, fence, stop),
      removeLeftoverAnswers(tenant.name, config, fence, stop),
    ]);
  }

  return {
    queue,
    projects: () => projects,
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
      using layout = openTenantLayout(config);
      layout.onAdopt(next => {
        adopted = adopted.then(() => adopt(next, layout, signal));
        shared.track(adopted, `layout of tenant ${tenant.name}`);
      });
      await layout.refresh();
      const request = {
        lockPath: places.lock,
        epochPath: places.epoch,
        lastOperationPath: places.lastOperation,
        guid: deps.ids.uuid(),
      };
      await fencedLoop(
        `tenant ${tenant.name}`,
        request,
        { ...deps, pauseSwitch: shared.pauseSwitch },
        signal,
        (fence, stop) => hold(layout, fence, stop),
      );
    },
  };
}

function projectsOf(tenant: Tenant): ReadonlySet<ProjectKey> {
  return new Set(tenant.projects.map(each => each.project));
}
