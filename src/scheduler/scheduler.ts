/**
 * The scheduler: one loop per connection, per tenant and per pipeline, each under a fence of its own, so that any number of
 * schedulers share the work and none does what another is doing.
 */
import { addMilliseconds } from '../lib/clock.ts';
import { graphOf } from '../model/build-set.ts';
import { buildRequestCodec, connectionEventCodec, mergerRequestCodec, pipelineEventCodec, tenantEventCodec } from '../model/codec/records.ts';
import type { ConnectionEvent, PipelineEvent, TenantEvent } from '../model/event.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { ProjectKey } from '../model/project.ts';
import { ensureNode } from '../store/ensure-node.ts';
import { EventQueue } from '../store/event-queue.ts';
import { RequestQueue } from '../store/request-queue.ts';
import { sweepSeen } from '../store/seen.ts';
import { wakeUps } from '../store/wake-ups.ts';
import { openChangeCache } from './change-cache.ts';
import { driverMemory, processConnectionEvents } from './connection-events.ts';
import type { SchedulerDeps } from './deps.ts';
import { createJobGraphs } from './job-graphs.ts';
import { fencedLoop } from './loop.ts';
import { settleLostWorkers } from './lost-workers.ts';
import { outdatedChanges } from './outdated-changes.ts';
import type { SchedulerShared } from './shared.ts';
import { createTenantRunner, type TenantRunner } from './tenant-runner.ts';
import { splitOperations } from '../store/split-operations.ts';
import { createBlobSweeper } from './sweep-blobs.ts';

export interface Scheduler {
  /** All tenants have a layout. */
  readonly ready: Promise<void>;
  /** Ends with the first loop that fails for good, or when aborted; then everything is released. */
  run(signal: AbortSignal): Promise<void>;
}

/** Milliseconds between sweeps of what nobody needs any more. */
const SWEEP_INTERVAL = 3_600_000;
/** Milliseconds a closed change that no item holds stays in the cache. */
const CLOSED_CHANGE_KEPT = 3_600_000;

export async function createScheduler(deps: SchedulerDeps): Promise<Scheduler> {
  const { store, paths, clock, ids } = deps;
  const problem = (error: unknown) => deps.log.error({ err: error }, 'the change cache could not be read again');
  for (const connection of deps.connections.keys()) await ensureNode(store, paths.changeCache(connection));
  for (const path of [paths.spanOutbox, paths.historyOutbox, paths.blobs, paths.tenants]) await ensureNode(store, path);
  const changes = await openChangeCache(deps.connections.keys(), store, paths, problem);
  const states = new Map<string, PipelineState>();
  const tracked: Promise<void>[] = [];
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {}); // seen by `run`; without it nobody listens
  const queues = new Map<string, EventQueue<PipelineEvent>>();
  const sweepBlobs = createBlobSweeper(store, paths);

  const shared: SchedulerShared = {
    deps,
    changes,
    graphs: createJobGraphs(store, paths),
    mergeRequests: new RequestQueue({ store, path: paths.requests('merge'), codec: mergerRequestCodec }),
    buildRequests: new RequestQueue({ store, path: paths.requests('build'), codec: buildRequestCodec }),
    driversOfConnections: new Map([...deps.connections].flatMap(([name, connection]) => {
      const driver = deps.drivers.get(connection.driver);
      return driver === undefined ? [] : [[name, driver] as const];
    })),
    tenantQueue: tenant => new EventQueue<TenantEvent>({ store, path: paths.tenant(tenant).triggerQueue, codec: tenantEventCodec, clock, onDeadLetter }),
    pipelineQueue(tenant, pipeline) {
      const { eventQueue: path } = paths.pipeline(tenant, pipeline);
      const queue = queues.get(path) ?? new EventQueue<PipelineEvent>({ store, path, codec: pipelineEventCodec, clock, onDeadLetter });
      queues.set(path, queue);
      return queue;
    },
    onState(tenant, pipeline, state) {
      states.set(`${tenant}/${pipeline}`, state);
      shared.graphs.retain(new Set([...states.values()].flatMap(each => [...each.items.values()].flatMap(item => graphOf(item.buildset)?.blob ?? []))));
    },
    track: (loop, name) => {
      tracked.push(loop);
      loop.catch(error => {
        deps.log.error({ err: error }, `${name} ended`);
        failed.reject(error);
      });
    },
  };

  function onDeadLetter(path: string, error: unknown): void {
    deps.log.error({ err: error, path }, 'an event could not be read; it is laid aside');
  }

  const runners = deps.tenants.map(tenant => createTenantRunner(tenant, shared));
  const projects = new Set(deps.tenants.flatMap(tenant => tenant.projects.map(each => each.project)));

  async function listen(name: string, signal: AbortSignal): Promise<void> {
    const connection = deps.connections.get(name);
    if (connection === undefined) return;
    const places = paths.connection(name);
    const queue = new EventQueue<ConnectionEvent>({ store, path: places.queue, seenPath: places.seen, codec: connectionEventCodec, clock, onDeadLetter });
    await queue.prepare(signal);
    await ensureNode(store, places.memory, signal);
    const tenantsOf = (project: ProjectKey) => deps.tenants.flatMap((tenant, index) => queueOf(runners[index], tenant.name, project));
    await fencedLoop(`connection ${name}`, { lockPath: places.election, epochPath: places.epoch, lastOperationPath: places.lastOperation, guid: ids.uuid() }, deps, signal, async (fence, stop) => {
      const held = AbortSignal.any([stop, fence.lost]);
      const mine = new Set([...projects].filter(project => project.startsWith(`${name}/`)));
      const events = { connection, store, paths, clock, ids, log: deps.log, changes, spans: deps.spans, queue, tenantsOf, projects: () => mine };
      const emit = async (event: { readonly deliveryId: string; readonly type: string; readonly payload: ConnectionEvent['payload'] }) => {
        const now = clock.now();
        await queue.offer({ uuid: ids.uuid(), connection: name, ...event, receivedAt: now, storedAt: now, sampled: deps.sample() }, event.deliveryId);
      };
      const listening = connection.listener?.listen({ emit, projects: () => mine, memory: driverMemory(events), signal: held }) ?? Promise.resolve();
      await Promise.all([processConnectionEvents(events, fence, held), listening]);
      held.throwIfAborted();
    });
  }

  /** Also after each lost claim, which tells of a worker that is gone. */
  async function sweep(signal: AbortSignal): Promise<void> {
    await shared.mergeRequests.prepare(signal);
    await shared.buildRequests.prepare(signal);
    const settle = () => settleLostWorkers({ store, clock, log: deps.log, mergeRequests: shared.mergeRequests, buildRequests: shared.buildRequests, pipelineQueue: shared.pipelineQueue });
    const claims = [paths.requests('merge'), paths.requests('build')].map(async base => {
      for await (const _ of wakeUps(store, `${base}/claimed`, signal, event => event.kind === 'deleted')) await settle();
    });
    await Promise.all([...claims, tidyRegularly(signal)]);
  }

  async function tidyRegularly(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await tidy();
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, SWEEP_INTERVAL);
        signal.addEventListener('abort', () => { clearTimeout(timer); resolve(); }, { once: true });
      });
    }
  }

  async function tidy(): Promise<void> {
    const now = clock.now();
    for (const name of deps.connections.keys()) await sweepSeen(store, paths.connection(name).seen, now);
    const old = outdatedChanges(changes.all(), [...states.values()], addMilliseconds(now, -CLOSED_CHANGE_KEPT));
    for (const part of splitOperations(changes.forget(old))) await store.multi(part);
    await sweepBlobs([...states.values()]);
    for (const queue of [shared.mergeRequests, shared.buildRequests]) for (const operation of await queue.staleCancels()) await store.multi([operation]);
  }

  const ready = Promise.all(runners.map(runner => runner.ready)).then(() => {});
  return {
    ready,
    async run(signal) {
      const stop = new AbortController();
      const both = AbortSignal.any([signal, stop.signal]);
      runners.forEach((runner, index) => {
        shared.track(runner.run(both), `tenant ${deps.tenants[index]?.name}`);
      });
      // Events wait until the tenants can match them: the queues keep them.
      for (const name of deps.connections.keys()) shared.track(ready.then(() => listen(name, both)), `connection ${name}`);
      shared.track(ready.then(() => sweep(both)), 'sweeper');
      try {
        await Promise.race([failed.promise, aborted(signal)]);
      } finally {
        stop.abort(signal.reason);
        await Promise.allSettled(tracked);
        changes[Symbol.dispose]();
      }
    },
  };
}

function queueOf(runner: TenantRunner | undefined, tenant: string, project: ProjectKey) {
  return runner?.holds(project) === true ? [{ tenant, queue: runner.queue }] : [];
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
