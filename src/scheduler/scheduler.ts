/**
 * The scheduler: one loop per connection, per tenant and per pipeline, and one that sweeps, each under a fence of its own, so
 * that any number of schedulers share the work without doing any of it twice. One object lives as long as its session with the
 * store; when that is lost `run` rejects, and the service starts again with a new session and a new object.
 *
 * A map of the room, in the order in which an event passes (`src/model/event.ts` has the whole path):
 *
 *     events/    connection-runner → connection-events (lanes)             events of the host, forwarded to tenants
 *                → read-host → forward-event
 *     tenant/    tenant-runner → tenant-events → reconfigure               the layout in force; which pipelines want an event
 *     timers/    run-timers → forward-ticks                            what begins at times, by the holder of the tenant
 *     turn/      pipeline-runner → pipeline-turn → `src/pipeline/`          one turn of a pipeline: read, decide (pure), write
 *                → turn-operations → turn-commit                           all of it or nothing
 *     report/    report-intents → report-loop → perform-report             landing a change, reporting on it
 *     changes/   change-cache, change-facts, own-merges                    what hosts last reported of changes
 *     care/      sweeper, lost-workers, settle-lost-work                   lost work settled, unused records removed
 *
 * Beside them: loop.ts (how every loop runs), pause-switch.ts and fair-share.ts (which fences to hold), deps.ts and shared.ts.
 */
import { driversOfConnections } from '../driver/language-of.ts';
import { aborted } from '../lib/aborted.ts';
import { pause } from '../lib/pause.ts';
import {
  buildRequestCodec,
  internalEventCodec,
  mergerRequestCodec,
  pipelineEventCodec,
  tenantEventCodec,
} from '../model/codec/records.ts';
import type { PipelineEvent, TenantEvent } from '../model/event.ts';
import type { InternalEvent } from '../model/internal-event.ts';
import { type ConnectionName, type ProjectKey, projectIdOf, type TenantName } from '../model/project.ts';
import { openHostTable } from '../nodes/host-table.ts';
import { openExecutorLabels } from '../store/components.ts';
import { ensureNode } from '../store/ensure-node.ts';
import { EventQueue } from '../store/event-queue.ts';
import { type Store, StoreError } from '../store/port.ts';
import { RequestQueue } from '../store/request-queue.ts';
import { giveSigns } from '../store/signs-of-life.ts';
import { steadyExecutors } from './care/steady-executors.ts';
import { runSweeper } from './care/sweeper.ts';
import { openChangeCache } from './changes/change-cache.ts';
import { createDependencyResolver, type DependencyResolverDeps } from './changes/resolve-dependencies.ts';
import type { SchedulerDeps } from './deps.ts';
import { runConnection, type TenantsOf } from './events/connection-runner.ts';
import { createFairShare } from './fair-share.ts';
import { createNoticeRules } from './notices/notice-rules.ts';
import { createPauseSwitch } from './pause-switch.ts';
import { watchedMessengers } from './report/watched-messengers.ts';
import type { SchedulerShared } from './shared.ts';
import { createSecretCheck } from './tenant/check-secrets.ts';
import { createLayouts } from './tenant/layouts.ts';
import { createTenantRunner, type TenantRunner } from './tenant/tenant-runner.ts';
import { createExpectedDurations, followHistory } from './turn/expected-durations.ts';

/**
 * Milliseconds the loops may take to end: one may wait for a code host that does not answer. Later it can do nothing, because it
 * holds no fence.
 */
const END_LIMIT = 10_000;

/** One object per session with the store; a new session needs a new one. */
export interface Scheduler {
  /** A layout of every tenant is adopted. Never settles when the scheduler ends before. */
  readonly ready: Promise<void>;
  /**
   * Resolves when aborted, after everything is released.
   *
   * @throws StoreError `SessionExpired` when the session is over; otherwise the error of the first loop that fails for good.
   */
  run(signal: AbortSignal): Promise<void>;
  /** Ends the present work, releases all fences and acquires none until `resume`. Idempotent. */
  pause(): void;
  resume(): void;
  /** As `pause`; resolves when all fences are released. */
  drain(): Promise<void>;
}

/**
 * Creates the nodes that all loops expect and reads the change cache; no loop runs before `run`.
 *
 * @throws StoreError when the store cannot be read or written.
 */
export async function createScheduler(deps: SchedulerDeps): Promise<Scheduler> {
  const { store, paths } = deps;
  const cached = [...deps.connections.keys()].map(name => paths.changeCache(name));
  for (const path of [
    ...cached,
    paths.spanOutbox,
    paths.historyOutbox,
    paths.landings,
    paths.blobs,
    paths.signs,
    paths.tenants,
  ])
    await ensureNode(store, path);
  const loops = trackedLoops(deps);
  const runners = new Map<TenantName, TenantRunner>();
  const secrets = createSecretCheck(deps.secretKeys);
  const shared = await share(deps, loops.track, name => projectsOf(name, runners));
  const { pauseSwitch } = shared;
  const tenants = deps.tenants.map(tenant => {
    const layouts = createLayouts(deps.openLayouts(shared.driversOfConnections), secrets);
    const runner = createTenantRunner(tenant, layouts, shared);
    runners.set(tenant.name, runner);
    return { layouts, runner };
  });
  const ready = Promise.all([...runners.values()].map(runner => runner.ready)).then(() => {});

  return {
    ready,
    pause: () => pauseSwitch.pause(),
    resume: () => pauseSwitch.resume(),
    async drain() {
      pauseSwitch.pause();
      await pauseSwitch.idle();
    },
    async run(signal) {
      const stop = new AbortController();
      const both = AbortSignal.any([signal, stop.signal]);
      /** Events wait in their queues until the tenants can match them. */
      const afterReady = async (loop: () => Promise<void>): Promise<void> => {
        await Promise.race([ready, aborted(both)]);
        if (!both.aborted) await loop();
      };
      for (const [name, runner] of runners) loops.track(runner.run(both), `tenant ${name}`);
      for (const [name, connection] of deps.connections) {
        const projects = () => projectsOf(name, runners);
        loops.track(
          afterReady(() => runConnection(connection, projects, tenantsHolding(runners), shared, both)),
          `connection ${name}`,
        );
      }
      if (deps.recordedDurations !== undefined)
        loops.track(
          followHistory(shared.expected, deps.recordedDurations, deps.log, both),
          'expected durations',
        );
      const { work } = shared.share;
      loops.track(giveSigns({ ...deps, path: paths.sign(store.sessionId), work }, both), 'signs of life');
      // From the start: a merger may be lost with the request that makes a tenant ready.
      loops.track(runSweeper(shared, both), 'sweeper');
      try {
        await Promise.race([loops.failed, aborted(signal), sessionLost(store)]);
      } finally {
        stop.abort(signal.reason ?? new Error('the scheduler ends'));
        await loops.settled(END_LIMIT);
        shared.changes[Symbol.dispose]();
        shared.executors[Symbol.dispose]();
        await Promise.all(tenants.map(({ layouts }) => layouts[Symbol.asyncDispose]()));
      }
    },
  };
}

async function share(
  deps: SchedulerDeps,
  track: SchedulerShared['track'],
  projects: DependencyResolverDeps['projects'],
): Promise<SchedulerShared> {
  const { store, paths, clock } = deps;
  const problem = (error: unknown) =>
    deps.log.error({ err: error }, 'the change cache could not be read again');
  const onDeadLetter = (path: string, error: unknown) =>
    deps.log.error({ err: error, path }, 'an event could not be read; it is a dead letter now');
  const queues = new Map<string, EventQueue<PipelineEvent>>();
  return {
    deps,
    pauseSwitch: createPauseSwitch(),
    share: createFairShare(),
    expected: createExpectedDurations(),
    notices: createNoticeRules(deps.notices ?? [], deps),
    changes: await openChangeCache(deps.connections.keys(), store, paths, problem),
    dependencies: createDependencyResolver({ ...deps, projects }),
    messengers: watchedMessengers(deps.messengers ?? new Map(), deps),
    mergeRequests: new RequestQueue({ store, path: paths.requests('merge'), codec: mergerRequestCodec }),
    buildRequests: new RequestQueue({ store, path: paths.requests('build'), codec: buildRequestCodec }),
    executors: steadyExecutors(
      await openExecutorLabels(store, paths, error =>
        deps.log.error({ err: error }, 'the list of executors could not be read'),
      ),
      store,
      paths,
      clock,
      deps.executorPatience ?? 0,
      await openHostTable(store, paths, error =>
        deps.log.error({ err: error }, 'the list of hosts could not be read'),
      ),
    ),
    driversOfConnections: driversOfConnections(deps.connections, deps.drivers),
    onDeadLetter,
    tenantQueue: tenant =>
      new EventQueue<TenantEvent>({
        store,
        path: paths.tenant(tenant).triggerQueue,
        codec: tenantEventCodec,
        clock,
        onDeadLetter,
      }),
    internalQueue: tenant =>
      new EventQueue<InternalEvent>({
        store,
        path: paths.tenant(tenant).internal,
        codec: internalEventCodec,
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
    track,
  };
}

function tenantsHolding(runners: ReadonlyMap<string, TenantRunner>): TenantsOf {
  return project =>
    [...runners]
      .filter(([, runner]) => runner.projects().has(project))
      .map(([tenant, { queue }]) => ({ tenant, queue }));
}

/** All projects of any tenant on this connection. */
function projectsOf(
  connection: ConnectionName,
  runners: ReadonlyMap<string, TenantRunner>,
): ReadonlySet<ProjectKey> {
  const projects = [...runners.values()].flatMap(runner => [...runner.projects()]);
  return new Set(projects.filter(project => projectIdOf(project).connection === connection));
}

/** Loops that run beside one another: the first that fails ends all. */
function trackedLoops(deps: SchedulerDeps) {
  const tracked: Promise<void>[] = [];
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {}); // `run` awaits it; before that it must not count as unhandled
  return {
    failed: failed.promise,
    track(loop: Promise<void>, name: string): void {
      tracked.push(loop);
      loop.catch(error => {
        if (deps.store.sessionState !== 'lost') deps.log.error({ err: error }, `${name} ended`);
        failed.reject(error);
      });
    },
    async settled(limit: number): Promise<void> {
      const ended = new AbortController();
      const late = pause(limit, ended.signal).then(() => {
        if (!ended.signal.aborted)
          deps.log.warn({}, `the scheduler ends although some of its loops did not within ${limit} ms`);
      });
      await Promise.race([Promise.allSettled(tracked), late]);
      ended.abort();
    },
  };
}

function sessionLost(store: Store): Promise<never> {
  return new Promise((_, reject) => {
    const lost = () => reject(new StoreError('SessionExpired', '/'));
    if (store.sessionState === 'lost') lost();
    else store.onSessionState(state => state === 'lost' && lost());
  });
}
