/**
 * A tenant in one scheduler, in two parts that need not be in the same process:
 *
 *   follow   every scheduler keeps a copy of the tenant's current layout and contends for each of its pipelines, so that
 *            pipelines spread over schedulers, and another one takes over immediately when one dies
 *   hold     one scheduler holds the tenant's fence: it processes the tenant's events and writes new layouts
 *
 * A pipeline that is removed from the configuration finishes its items under its last definition and takes nothing new.
 *
 * A map of the folder, in the order of reading:
 *
 *     following       tenant-layout → tenant-config, config-cache, layouts (the thread that builds them), check-secrets
 *     pipelines       tenant-pipelines → tenant-context; branch-exclusion (branches that a tenant leaves out)
 *     events          tenant-events (the loop) → held-places (events that wait), tenant-event → tenant-matching, tenant-event-rows (traces), enqueue-by-hand
 *     configuration   initial-config, reconfigure → ask-merger
 *     own triggers    `../timers/`, `../internal/`
 *
 * Only the holder of the tenant's fence writes a layout or takes an event. Layouts are built in their thread, never in the loop.
 */
import { createDirty } from '../../lib/signal.ts';
import { tickCodec } from '../../model/codec/records.ts';
import type { TenantEvent } from '../../model/event.ts';
import type { InternalEvent } from '../../model/internal-event.ts';
import type { Tenant } from '../../model/layout.ts';
import type { ProjectKey } from '../../model/project.ts';
import type { Tick } from '../../model/tick.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import { EventQueue } from '../../store/event-queue.ts';
import type { Fence } from '../../store/fence.ts';
import { createTopicQuestions, type TopicQuestions } from '../events/topic-members.ts';
import { type ForwardInternalDeps, forwardInternalEvents } from '../internal/forward-internal.ts';
import { fencedLoop, runTogether } from '../loop.ts';
import type { SchedulerShared } from '../shared.ts';
import { type ForwardTicksDeps, forwardTicks } from '../timers/forward-ticks.ts';
import { runTimers, type TimersDeps } from '../timers/run-timers.ts';
import { removeLeftoverAnswers } from './ask-merger.ts';
import { exclusionOf } from './branch-exclusion.ts';
import { initialConfig } from './initial-config.ts';
import type { Layouts } from './layouts.ts';
import { type ReconfigureDeps, reconfigure } from './reconfigure.ts';
import { processTenantEvents, type TenantEventsDeps } from './tenant-events.ts';
import { openTenantLayout, type TenantLayout } from './tenant-layout.ts';
import { TenantPipelines } from './tenant-pipelines.ts';

/** One for each tenant of this process's tenant file. */
export interface TenantRunner {
  readonly queue: EventQueue<TenantEvent>;
  /** Of the tenant in its current layout. */
  projects(): ReadonlySet<ProjectKey>;
  /** Returns when aborted, or when the session with the store is over. */
  run(signal: AbortSignal): Promise<void>;
  /** A layout is adopted: events can be taken. */
  readonly ready: Promise<void>;
}

/** Reads and writes nothing before `run`. */
export function createTenantRunner(tenant: Tenant, layouts: Layouts, shared: SchedulerShared): TenantRunner {
  return new TenantLoop(tenant, layouts, shared);
}

class TenantLoop implements TenantRunner {
  readonly queue: EventQueue<TenantEvent>;
  readonly #shared: SchedulerShared;
  readonly #tenant: Tenant;
  readonly #config: ReconfigureDeps;
  readonly #ready = Promise.withResolvers<void>();
  readonly #ticks: EventQueue<Tick>;
  readonly #internalEvents: EventQueue<InternalEvent>;
  readonly #timersWake = createDirty();
  #projects: ReadonlySet<ProjectKey>;
  /** Adoptions, one after the other. */
  #adopted: Promise<void> = Promise.resolve();

  constructor(tenant: Tenant, layouts: Layouts, shared: SchedulerShared) {
    const { clock, ids, log, store, paths, connections, tracing } = shared.deps;
    const { mergeRequests } = shared;
    const asked = new Set<string>();
    this.queue = shared.tenantQueue(tenant.name);
    this.#ticks = new EventQueue<Tick>({
      ...{ store, clock, codec: tickCodec, onDeadLetter: shared.onDeadLetter },
      path: paths.tenant(tenant.name).ticks,
    });
    this.#internalEvents = shared.internalQueue(tenant.name);
    this.#shared = shared;
    this.#tenant = tenant;
    this.#projects = projectsOf(tenant);
    this.#config = {
      ...{ clock, ids, log, store, paths, connections, tracing },
      ...{ mergeRequests, asked, tenant, layouts },
    };
  }

  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  projects(): ReadonlySet<ProjectKey> {
    return this.#projects;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { deps, pauseSwitch, track } = this.#shared;
    const { name, projects } = this.#tenant;
    const { pipelines, layout: record, timers, lock, epoch, lastOperation } = deps.paths.tenant(name);
    const cached = projects.map(each => deps.paths.cachedConfigs(name, each.project));
    for (const path of [pipelines, record, timers, ...cached]) await ensureNode(deps.store, path, signal);
    await this.queue.prepare(signal);
    await this.#ticks.prepare(signal);
    await this.#internalEvents.prepare(signal);
    using layout = openTenantLayout(this.#config);
    const running = new TenantPipelines(name, layout, this.#config, this.#shared);
    layout.onAdopt(next => {
      this.#timersWake.set();
      this.#adopted = this.#adopted.then(async () => {
        this.#projects = projectsOf(next.tenant);
        await running.adopt(next, signal);
        this.#ready.resolve();
      });
      track(this.#adopted, `layout of tenant ${name}`);
    });
    await layout.refresh();
    const guid = deps.ids.uuid();
    const request = { lockPath: lock, epochPath: epoch, lastOperationPath: lastOperation, guid };
    await fencedLoop(`tenant ${name}`, request, { ...deps, pauseSwitch }, signal, (fence, stop) =>
      this.#hold(layout, fence, stop),
    );
  }

  async #hold(layout: TenantLayout, fence: Fence, signal: AbortSignal): Promise<void> {
    const either = AbortSignal.any([signal, fence.lost]);
    layout.adopt(await initialConfig(layout.current, this.#config, fence, either));
    await this.#adopted;
    await runTogether(either, stop => [
      processTenantEvents(this.#eventsDeps(layout), fence, stop),
      runTimers(this.#timersDeps(layout), fence, stop),
      forwardTicks(this.#ticksDeps(layout), fence, stop),
      forwardInternalEvents(this.#internalDeps(layout), fence, stop),
      removeLeftoverAnswers(this.#tenant.name, this.#config, fence, stop),
    ]);
  }

  #timersDeps(layout: TenantLayout): TimersDeps {
    const { store, clock, ids, log, paths, metrics } = this.#shared.deps;
    const { name } = this.#tenant;
    return {
      ...{ tenant: name, store, clock, ids, log, ticks: this.#ticks, wake: this.#timersWake },
      ...(metrics === undefined ? {} : { metrics }),
      path: paths.tenant(name).timers,
      wall: this.#shared.deps.wall,
      config: () => layout.current,
    };
  }

  #ticksDeps(layout: TenantLayout): ForwardTicksDeps {
    const { deps, changes, pipelineQueue } = this.#shared;
    const { clock, ids, log, paths, connections, tracing, metrics } = deps;
    const { name } = this.#tenant;
    return {
      ...{ tenant: name, clock, ids, log, paths, connections, tracing, changes, ticks: this.#ticks },
      ...(metrics === undefined ? {} : { metrics }),
      config: () => layout.current,
      eventsOf: pipeline => pipelineQueue(name, pipeline),
    };
  }

  #internalDeps(layout: TenantLayout): ForwardInternalDeps {
    const { deps, changes, dependencies, pipelineQueue } = this.#shared;
    const { clock, ids, log, paths, connections, tracing, metrics } = deps;
    const { name } = this.#tenant;
    return {
      ...{ tenant: name, clock, ids, log, paths, connections, tracing, changes, dependencies },
      ...(metrics === undefined ? {} : { metrics }),
      internalEvents: this.#internalEvents,
      topics: this.#topics(layout),
      config: () => layout.current,
      eventsOf: pipeline => pipelineQueue(name, pipeline),
    };
  }

  #topics(layout: TenantLayout): TopicQuestions {
    const { connections, clock } = this.#shared.deps;
    return createTopicQuestions({
      ...{ connections, clock },
      counts: ({ change, topic }) =>
        topic?.landsWhole === true ||
        layout.current?.layout.projects.get(change.project)?.queue?.byTopic === true,
    });
  }

  #eventsDeps(layout: TenantLayout): TenantEventsDeps {
    const { deps, changes, dependencies, driversOfConnections, pipelineQueue } = this.#shared;
    const { clock, ids, log, paths, connections, tracing } = deps;
    const { name } = this.#tenant;
    return {
      ...{ clock, ids, log, paths, connections, tracing, changes, dependencies },
      tenant: name,
      topics: this.#topics(layout),
      queue: this.queue,
      driverOf: connection => driversOfConnections.get(connection),
      pipelines: () => layout.current?.layout.pipelines.values() ?? [],
      retired: () => layout.current?.retired ?? [],
      eventsOf: pipeline => pipelineQueue(name, pipeline),
      exclusionOf: (project, branch) =>
        layout.current === undefined ? undefined : exclusionOf(layout.current, project, branch),
      isUnread: project => layout.current?.branches.has(project) === false,
      reconfigure: async (wanted, rowsFor, fence, signal) => {
        const before = layout.current;
        if (before === undefined) return 'unread';
        const { after, unread } = await reconfigure(before, [wanted], rowsFor, this.#config, fence, signal);
        if (after !== null) {
          layout.adopt(after);
          await this.#adopted;
        }
        return unread ? 'unread' : 'read';
      },
    };
  }
}

function projectsOf(tenant: Tenant): ReadonlySet<ProjectKey> {
  return new Set(tenant.projects.map(each => each.project));
}
