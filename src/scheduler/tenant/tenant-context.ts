/** Makes the context of one pipeline's turns: services of the process, place of the pipeline, rules of the tenant's layout. */
import { type ChangeQueueName, changeQueueOf } from '../../layout/change-queue.ts';
import { type LayoutFacts, mergeModeIn, semaphoreIn } from '../../layout/layout-facts.ts';
import { leadChange } from '../../model/about-item.ts';
import { type Change, targetBranchOf } from '../../model/change.ts';
import type { ProjectState } from '../../model/merge.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import { type PipelineName, projectIdOf, type TenantName } from '../../model/project.ts';
import { check } from '../../store/port.ts';
import { createQuarantine } from '../../store/quarantine.ts';
import { foreignTenants } from '../events/foreign-tenants.ts';
import { awaitedTypes } from '../internal/note-internal.ts';
import type { SchedulerShared } from '../shared.ts';
import { createJobGraphs } from '../turn/job-graphs.ts';
import { pendingFreezes } from '../turn/pending-freezes.ts';
import { pipelineClock } from '../turn/pipeline-clock.ts';
import type {
  PipelineContext,
  PipelinePlace,
  PipelineRules,
  PipelineServices,
} from '../turn/pipeline-context.ts';
import { createPipelineForecasts } from '../turn/pipeline-forecasts.ts';
import type { PipelineRunnerDeps } from '../turn/pipeline-runner.ts';
import { pipelineSemaphores } from '../turn/pipeline-semaphores.ts';
import { createRechecks } from '../turn/rechecks.ts';
import type { ConfigDeps, TenantConfig } from './tenant-config.ts';

/** Of one pipeline, for as long as this scheduler runs it. */
export interface ContextMaker {
  /** The same object until layout or definition differ, so that job graphs under way are kept from turn to turn. */
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
  const { deps, pauseSwitch, share } = shared;
  const { paths, connections, tracing } = deps;
  const services = servicesOf(shared);
  const place = placeOf(shared, tenant, name, wake);
  const { clock, log } = place;
  const learned: LearnedStates = new Map();
  let last:
    | { readonly config: TenantConfig; readonly pipeline: Pipeline; readonly context: PipelineContext }
    | undefined;
  return {
    context(config, pipeline) {
      if (last?.config === config && last.pipeline === pipeline) return last.context;
      const pending = pendingFreezes({ clock, pipeline: name, layout: config.layout, layouts, wake });
      const rules = { ...rulesOf(config, pipeline, shared, learned), pending };
      last = { config, pipeline, context: { ...services, ...place, ...rules } };
      return last.context;
    },
    runnerDeps: {
      ...services,
      ...place,
      ...{ paths, connections, tracing, pauseSwitch, share },
      name: deps.name,
      tenant,
      pipeline: name,
      outbox: place.nodes.reportOutbox,
      messages: { outbox: place.nodes.messageOutbox, messengers: shared.messengers },
      quarantine: createQuarantine({ ...deps, clock, log, path: paths.quarantine }),
    },
  };
}

function servicesOf(shared: SchedulerShared): PipelineServices {
  const { deps, changes, driversOfConnections } = shared;
  const { ids, store, paths, webRoot, metrics, tracing, connections } = deps;
  const { expected, mergeRequests, buildRequests, executors, notices } = shared;
  const landingMode: PipelineServices['landingMode'] = ({ connection, config }) =>
    driversOfConnections.get(connection)?.config.landingMode(config) ?? null;
  return {
    ...{ ids, store, paths, webRoot, metrics, changes, expected, notices },
    ...{ mergeRequests, buildRequests, executors },
    spans: () => tracing.spans(),
    tracePolicy: () => (tracing.spans() === undefined ? undefined : tracing.policy()),
    keep: () => tracing.policy().keep,
    record: key => changes.record(key),
    dependentsOf: key => changes.dependentsOf(key),
    sameTopic: record => changes.sameTopic(record),
    driverOf: connection => driversOfConnections.get(connection),
    mergeMessage(change) {
      const source = connections.get(projectIdOf(change.project).connection)?.source;
      return source?.mergeMessage(change) ?? `Merge ${change.id}`;
    },
    landingMode,
    messengers: new Set(shared.messengers.keys()),
    landsSeveral: reporter =>
      landingMode(reporter) !== null &&
      connections.get(reporter.connection)?.landing?.landInOrder !== undefined,
  };
}

function placeOf(
  shared: SchedulerShared,
  tenant: TenantName,
  pipeline: PipelineName,
  wake: () => void,
): PipelinePlace {
  const { store, paths, clock, log, history } = shared.deps;
  const { state, item, staged } = paths.pipeline(tenant, pipeline);
  const { spanOutbox, historyOutbox, landings } = paths;
  const reportOutbox = paths.reportOutbox(tenant, pipeline);
  const messageOutbox = paths.messageOutbox(tenant, pipeline);
  const own = { tenant, pipeline, clock, log: log.child({ tenant, pipeline }) };
  return {
    clock: pipelineClock(clock),
    log: own.log,
    forecasts: createPipelineForecasts({ ...own, history, expected: shared.expected }),
    nodes: { state, item, staged, spanOutbox, historyOutbox, landings, reportOutbox, messageOutbox },
    events: shared.pipelineQueue(tenant, pipeline),
    internalEvents: shared.internalQueue(tenant),
    graphs: createJobGraphs(store, paths),
    semaphores: pipelineSemaphores({ store, paths, tenant, wake }),
    async tenantsOf(project) {
      const others = await foreignTenants(new Set([tenant]), store, paths);
      const holding = [...others].flatMap(([other, held]) => (held.has(project) ? [other] : []));
      return [tenant, ...holding].map(each => ({ tenant: each, queue: shared.tenantQueue(each) }));
    },
  };
}

/** Heads that jobs needed last time, by project and branch. */
type LearnedStates = Map<string, readonly ProjectState[]>;

function rulesOf(
  { tenant, layout, version, node }: TenantConfig,
  pipeline: Pipeline,
  { deps, pipelineQueue }: SchedulerShared,
  learned: LearnedStates,
): Omit<PipelineRules, 'pending'> {
  const queueOf = (change: Change) => queueIn(layout, pipeline.name, change);
  const awaited = awaitedTypes(layout.pipelines, pipeline.name);
  const learnedFor = (change: Change) => `${change.project} ${targetBranchOf(change) ?? ''}`;
  return {
    tenant,
    pipeline,
    retired: !layout.pipelines.has(pipeline.name),
    layoutCheck: check(deps.paths.tenant(tenant.name).layout, node),
    layoutVersion: version,
    rechecks: createRechecks(),
    projects: {
      ...deps.places,
      defaultBranch: project => layout.projects.get(project)?.defaultBranch,
      isTrusted: project => tenant.projects.some(each => each.trusted && each.project === project),
    },
    ...(deps.relativePriority === true
      ? { relativeGroup: item => queueOf(leadChange(item))?.key ?? leadChange(item).project }
      : {}),
    semaphoreOf: name => semaphoreIn(layout, name),
    queueOf,
    mergeMode: change => mergeModeIn(layout, change),
    eventsOf: other => (layout.pipelines.has(other) ? pipelineQueue(tenant.name, other) : undefined),
    isAwaited: type => awaited.has(type),
    learn: (change, states) => void learned.set(learnedFor(change), states),
    likelyStates: item => learned.get(learnedFor(leadChange(item))) ?? [],
  };
}

/**
 * A project that is not in the pipeline yet has a queue of its own, so that the change that adds it is tested like any other. What its
 * configured queue says of changes that depend on each other holds all the same.
 */
function queueIn(layout: LayoutFacts, pipeline: PipelineName, change: Change): ChangeQueueName | null {
  const { project } = change;
  const configured = changeQueueOf(layout, pipeline, project, targetBranchOf(change) ?? null);
  const facts = layout.projects.get(project);
  if (configured !== null || facts === undefined) return configured;
  const { allowsCycles = false, byTopic = false } = facts.queue ?? {};
  return { key: `project ${project}`, name: projectIdOf(project).name, allowsCycles, byTopic };
}
