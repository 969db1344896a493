/**
 * The scheduler: one loop per connection, per tenant and per pipeline, each under a fence of its own, so that any number of
 * schedulers share the work and none does what another is doing.
 */
import {
  buildRequestCodec,
  mergerRequestCodec,
  pipelineEventCodec,
  tenantEventCodec,
} from '../model/codec/records.ts';
import type { PipelineEvent, TenantEvent } from '../model/event.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import { projectIdOf } from '../model/project.ts';
import { openExecutorLabels } from '../store/components.ts';
import { ensureNode } from '../store/ensure-node.ts';
import { EventQueue } from '../store/event-queue.ts';
import { RequestQueue } from '../store/request-queue.ts';
import { openChangeCache } from './change-cache.ts';
import { runConnection, type TenantsOf } from './connection-runner.ts';
import type { SchedulerDeps } from './deps.ts';
import type { SchedulerShared } from './shared.ts';
import { runSweeper } from './sweeper.ts';
import { createTenantRunner, type TenantRunner } from './tenant-runner.ts';

export interface Scheduler {
  /** All tenants have a layout. */
  readonly ready: Promise<void>;
  /** Ends with the first loop that fails for good, or when aborted; then everything is released. */
  run(signal: AbortSignal): Promise<void>;
}

export async function createScheduler(deps: SchedulerDeps): Promise<Scheduler> {
  const { store, paths } = deps;
  const cached = [...deps.connections.keys()].map(name => paths.changeCache(name));
  for (const path of [...cached, paths.spanOutbox, paths.historyOutbox, paths.blobs, paths.tenants])
    await ensureNode(store, path);
  const states = new Map<string, PipelineState>();
  const loops = trackedLoops(deps);
  const shared = await share(deps, states, loops.track);
  const runners = new Map(deps.tenants.map(tenant => [tenant.name, createTenantRunner(tenant, shared)]));
  const ready = Promise.all([...runners.values()].map(runner => runner.ready)).then(() => {});

  return {
    ready,
    async run(signal) {
      const stop = new AbortController();
      const both = AbortSignal.any([signal, stop.signal]);
      for (const [name, runner] of runners) loops.track(runner.run(both), `tenant ${name}`);
      // Events wait in their queues until the tenants can match them.
      for (const [name, connection] of deps.connections) {
        const mine = new Set(
          deps.tenants
            .flatMap(tenant => tenant.projects.map(each => each.project))
            .filter(project => projectIdOf(project).connection === name),
        );
        loops.track(
          ready.then(() => runConnection(connection, mine, tenantsHolding(runners), shared, both)),
          `connection ${name}`,
        );
      }
      loops.track(
        ready.then(() => runSweeper(shared, () => [...states.values()], both)),
        'sweeper',
      );
      try {
        await Promise.race([loops.failed, aborted(signal)]);
      } finally {
        stop.abort(signal.reason);
        await loops.settled();
        shared.changes[Symbol.dispose]();
        shared.executors[Symbol.dispose]();
      }
    },
  };
}

async function share(
  deps: SchedulerDeps,
  states: Map<string, PipelineState>,
  track: SchedulerShared['track'],
): Promise<SchedulerShared> {
  const { store, paths, clock } = deps;
  const problem = (error: unknown) =>
    deps.log.error({ err: error }, 'the change cache could not be read again');
  const onDeadLetter = (path: string, error: unknown) =>
    deps.log.error({ err: error, path }, 'an event could not be read; it is laid aside');
  const queues = new Map<string, EventQueue<PipelineEvent>>();
  return {
    deps,
    changes: await openChangeCache(deps.connections.keys(), store, paths, problem),
    mergeRequests: new RequestQueue({ store, path: paths.requests('merge'), codec: mergerRequestCodec }),
    buildRequests: new RequestQueue({ store, path: paths.requests('build'), codec: buildRequestCodec }),
    executors: await openExecutorLabels(store, paths, error =>
      deps.log.error({ err: error }, 'the list of executors could not be read'),
    ),
    driversOfConnections: driversOfConnections(deps),
    onDeadLetter,
    tenantQueue: tenant =>
      new EventQueue<TenantEvent>({
        store,
        path: paths.tenant(tenant).triggerQueue,
        codec: tenantEventCodec,
        clock,
        onDeadLetter,
      }),
    pipelineQueue(tenant, pipeline) {
      const { eventQueue: path } = paths.pipeline(tenant, pipeline);
      const queue =
        queues.get(path) ??
        new EventQueue<PipelineEvent>({ store, path, codec: pipelineEventCodec, clock, onDeadLetter });
      queues.set(path, queue);
      return queue;
    },
    onState(tenant, pipeline, state) {
      states.set(`${tenant}/${pipeline}`, state);
    },
    track,
  };
}

function driversOfConnections(deps: SchedulerDeps): SchedulerShared['driversOfConnections'] {
  return new Map(
    [...deps.connections].flatMap(([name, connection]) => {
      const driver = deps.drivers.get(connection.driver);
      return driver === undefined ? [] : [[name, driver] as const];
    }),
  );
}

function tenantsHolding(runners: ReadonlyMap<string, TenantRunner>): TenantsOf {
  return project =>
    [...runners]
      .filter(([, runner]) => runner.holds(project))
      .map(([tenant, { queue }]) => ({ tenant, queue }));
}

/** Loops that run beside one another: the first that fails ends all. */
function trackedLoops(deps: SchedulerDeps) {
  const tracked: Promise<void>[] = [];
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {}); // `run` sees it; before that nobody listens
  return {
    failed: failed.promise,
    track(loop: Promise<void>, name: string): void {
      tracked.push(loop);
      loop.catch(error => {
        deps.log.error({ err: error }, `${name} ended`);
        failed.reject(error);
      });
    },
    settled: () => Promise.allSettled(tracked),
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
