/** Makes the context of one pipeline's turns, from the tenant's current configuration. */
import { changeQueueOf } from '../../layout/change-queue.ts';
import type { LayoutFacts } from '../../layout/layout-facts.ts';
import { leadChange } from '../../model/about-item.ts';
import type { Change, ProposedChange } from '../../model/change.ts';
import type { LandingMode } from '../../model/landed.ts';
import type { ProjectState } from '../../model/merge.ts';
import type { DriverConfig, Pipeline } from '../../model/pipeline.ts';
import { type PipelineName, type ProjectKey, projectIdOf, type TenantName } from '../../model/project.ts';
import type { ChangeFacts } from '../../pipeline/turn.ts';
import { check } from '../../store/port.ts';
import { createQuarantine } from '../../store/quarantine.ts';
import type { TracePolicy } from '../../tracing/live-tracing.ts';
import { foreignTenants } from '../events/foreign-tenants.ts';
import type { SchedulerShared } from '../shared.ts';
import { createJobGraphs } from '../turn/job-graphs.ts';
import { pendingFreezes } from '../turn/pending-freezes.ts';
import { pipelineClock } from '../turn/pipeline-clock.ts';
import type { PipelineContext } from '../turn/pipeline-context.ts';
import type { PipelineRunnerDeps } from '../turn/pipeline-runner.ts';
import { createRechecks } from '../turn/rechecks.ts';
import type { ConfigDeps, TenantConfig } from './tenant-config.ts';

export interface ContextMaker {
  context(config: TenantConfig, pipeline: Pipeline): PipelineContext;
  readonly runnerDeps: Omit<PipelineRunnerDeps, 'context' | 'layout'>;
}

/** @param wake called when the pipeline should take a turn. */
export function contextMaker(
  shared: SchedulerShared,
  tenant: TenantName,
  name: PipelineName,
  { layouts }: ConfigDeps,
  wake: () => void,
): ContextMaker {
  const { deps } = shared;
  const log = deps.log.child({ tenant, pipeline: name });
  const events = shared.pipelineQueue(tenant, name);
  const places = deps.paths.pipeline(tenant, name);
  const graphs = createJobGraphs(deps.store, deps.paths);
  const clock = pipelineClock(deps.clock);
  /** Heads that jobs needed last time, by project and branch. */
  const learned = new Map<string, readonly ProjectState[]>();
  let remembered:
    | { readonly config: TenantConfig; readonly pipeline: Pipeline; readonly context: PipelineContext }
    | undefined;

  function make(config: TenantConfig, pipeline: Pipeline): PipelineContext {
    return {
      clock,
      ids: deps.ids,
      store: deps.store,
      staged: places.staged,
      log,
      tenant: config.tenant,
      layoutCheck: check(deps.paths.tenant(tenant).layout, config.node),
      layoutVersion: config.version,
      pipeline,
      retired: !config.layout.pipelines.has(name),
      events,
      async tenantsOf(project) {
        const others = await foreignTenants(new Set([tenant]), deps.store, deps.paths);
        const holding = [...others].flatMap(([other, held]) => (held.has(project) ? [other] : []));
        return [tenant, ...holding].map(each => ({ tenant: each, queue: shared.tenantQueue(each) }));
      },
      graphs,
      changes: shared.changes,
      facts: {
        pipeline,
        driverOf: connection => shared.driversOfConnections.get(connection),
        record: key => shared.changes.record(key),
        dependentsOf: key => shared.changes.dependentsOf(key),
        queueOf: change => queueOf(config.layout, change),
      },
      rechecks: createRechecks(),
      freezing: {
        graphs,
        pending: pendingFreezes({ clock, pipeline: name, layout: config.layout, layouts, wake }),
        learn: (change, states) => learned.set(placeOf(change), states),
      },
      commanding: {
        clock,
        ids: deps.ids,
        tenant,
        pipeline,
        webRoot: deps.webRoot,
        tracing: () => tracePolicy() ?? null,
        viewer: () => deps.tracing.spans()?.viewer ?? null,
        places: {
          ...deps.places,
          defaultBranch: project => config.layout.projects.get(project)?.defaultBranch,
        },
        mergeRequests: shared.mergeRequests,
        buildRequests: shared.buildRequests,
        ...(deps.relativePriority === true
          ? {
              relativeGroup: item => {
                const change = leadChange(item);
                return queueOf(config.layout, change)?.key ?? change.project;
              },
            }
          : {}),
        executors: shared.executors,
        reportOutbox: deps.paths.reportOutbox(tenant, name),
        landings: deps.paths.landings,
        events,
        eventsOf: other =>
          config.layout.pipelines.has(other) ? shared.pipelineQueue(tenant, other) : undefined,
        graph: blob => graphs.get(blob),
        record: key => shared.changes.record(key),
        mergeMessage: change => messageOf(change),
        likelyStates: item => learned.get(placeOf(leadChange(item))) ?? [],
        landingMode,
      },
      expected: shared.expected,
      metrics: deps.metrics,
      tracePolicy,
      committing: {
        spans: () => deps.tracing.spans(),
        keep: () => deps.tracing.policy().keep,
        places: {
          counters: places.state,
          item: places.item,
          spanOutbox: deps.paths.spanOutbox,
          historyOutbox: deps.paths.historyOutbox,
        },
      },
    };
  }

  function tracePolicy(): TracePolicy | undefined {
    return deps.tracing.spans() === undefined ? undefined : deps.tracing.policy();
  }

  /** A project that is not in the pipeline yet has a queue of its own, so that the change that adds it is tested like any other. */
  function queueOf(layout: LayoutFacts, change: Change): ChangeFacts['queue'] {
    const configured = changeQueueOf(layout, name, change.project, change.branch ?? null);
    if (configured !== null || !layout.projects.has(change.project)) return configured;
    return { key: `project ${change.project}`, name: projectIdOf(change.project).name };
  }

  function messageOf(change: ProposedChange): string {
    const source = deps.connections.get(projectIdOf(change.project).connection)?.source;
    return source?.mergeMessage(change) ?? `Merge ${change.id}`;
  }

  function landingMode({ connection, config }: DriverConfig): LandingMode | null {
    return shared.driversOfConnections.get(connection)?.config.landingMode(config) ?? null;
  }

  return {
    context(config, pipeline) {
      if (remembered?.config !== config || remembered.pipeline !== pipeline)
        remembered = { config, pipeline, context: make(config, pipeline) };
      return remembered.context;
    },
    runnerDeps: {
      metrics: deps.metrics,
      name: deps.name,
      tenant,
      pipeline: name,
      store: deps.store,
      paths: deps.paths,
      clock,
      ids: deps.ids,
      log,
      events,
      lostWork: {
        clock,
        ids: deps.ids,
        paths: deps.paths,
        tracing: deps.tracing,
        log,
        mergeRequests: shared.mergeRequests,
        buildRequests: shared.buildRequests,
      },
      reports: {
        clock,
        ids: deps.ids,
        log,
        connections: deps.connections,
        store: deps.store,
        outbox: deps.paths.reportOutbox(tenant, name),
        events,
        quarantine: createQuarantine({ ...deps, clock, log, path: deps.paths.quarantine }),
      },
      pauseSwitch: shared.pauseSwitch,
      share: shared.share,
    },
  };
}

function placeOf(change: Change): `${ProjectKey} ${string}` {
  return `${change.project} ${change.branch ?? ''}`;
}
