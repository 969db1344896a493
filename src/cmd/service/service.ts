/**
 * The service of one process: all components over one embedded store, or any of them over an ensemble of ZooKeeper.
 *
 *     const started = await startService(settings, log, ['executor', 'merger']);
 *     if (started.kind === 'refused') …
 *     await started.service.ready;
 *     await started.service.stopGracefully();
 *     await started.service.close();
 *
 * Every component and every delivery has a session of its own with the store and is supervised by itself (supervise.ts).
 *
 * Map of this folder, in the order of a start:
 *
 *     open-process.ts          what the components of a process share (core.ts): open-connections.ts, open-store-source.ts,
 *                              read-tenants.ts, live-tracing.ts
 *     manage-component.ts      a component over all its sessions, on supervise.ts
 *     start-web.ts, start-merger.ts, start-executor.ts, start-scheduler.ts    one component each, wired by hand
 *     deliveries.ts            outboxes to collector and history, by leader election (elected.ts): span-delivery.ts,
 *                              history-delivery.ts, history-database.ts, prune-history.ts
 *     live-view.ts             the web's copy of the store: outbox-view.ts, record-view.ts, waiting-events.ts, waiting-requests.ts;
 *                              web-view.ts makes a tenant's snapshot of it
 *     webhook-intake.ts, span-intake.ts, operator-requests.ts    what the web writes to the store
 *     metrics-server.ts, service-metrics.ts            metrics and health
 *
 * This folder wires: it decides nothing about changes, and no other room imports it.
 */
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { History } from '../../history/history.ts';
import { openThreadedHistory } from '../../history/threaded-history.ts';
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { type AuthRealm, readAuthKeys } from '../../settings/auth-keys.ts';
import { publicRoot, type Settings } from '../../settings/settings.ts';
import type { TracingSettings } from '../../settings/tracing-settings.ts';
import { COMPONENT_KINDS } from '../../store/paths.ts';
import type { ComponentHealth } from '../../web/deps.ts';
import type { Component, ComponentName } from './core.ts';
import { startHistoryDelivery, startSpanDelivery } from './deliveries.ts';
import { type DriverTable, driverTable } from './driver-table.ts';
import { type Managed, manageComponent, type ProcessCore } from './manage-component.ts';
import { openMetricsServer } from './metrics-server.ts';
import { openProcess } from './open-process.ts';
import { deliveryMeasurements, healthMeasurements, outboxMeasurements } from './service-metrics.ts';
import { startExecutor } from './start-executor.ts';
import { startMerger } from './start-merger.ts';
import { startScheduler } from './start-scheduler.ts';
import { type OpenWeb, openWeb } from './start-web.ts';

/** The caller must close a started service. */
export type StartedService =
  | { readonly kind: 'started'; readonly service: Service }
  /** Nothing visible to others was opened. Each error is one line for a person. */
  | { readonly kind: 'refused'; readonly errors: readonly string[] };

/** The components of this process as one. */
export interface Service {
  /** URL of the page without trailing slash; in a process without web, the expected one. */
  readonly url: string;
  /** Resolves when all components work: registered, store read, all tenants configured. Rejects when one never will. */
  readonly ready: Promise<void>;
  /** Resolves when every component was stopped (by an operator or by `close`); rejects with the first permanent failure. */
  readonly ended: Promise<void>;
  /** Applies reloaded `[tracing]` settings immediately; no waiting span is lost. */
  adoptTracing(tracing: TracingSettings): void;
  /** Every component finishes its work and deregisters, the web last. `close` ends the wait early. */
  stopGracefully(): Promise<void>;
  /** Stops taking work, kills builds, sends what fits into a short grace period; other processes or the next start continue. */
  close(): Promise<void>;
}

/** The web first: its port is part of every URL that the others put into reports and spans. */
const START_ORDER = ['web', 'merger', 'executor', 'scheduler'] as const satisfies readonly ComponentName[];

/**
 * With the embedded store it returns when all components have started. With an ensemble it returns immediately: they start as soon
 * as the ensemble answers.
 *
 * @throws Error when a component cannot start; `start-failure.ts` has texts for those an operator can fix.
 */
export async function startService(
  settings: Settings,
  log: Log,
  components: readonly ComponentName[] = COMPONENT_KINDS,
  clock: Clock = systemClock(),
  drivers: DriverTable = driverTable,
): Promise<StartedService> {
  await using stack = new AsyncDisposableStack();
  const wanted = new Set(components);
  let port = settings.web.port;
  const root = () => publicRoot(settings.web, port);
  const keys = readAuthKeys(wanted.has('web') ? settings.auth : []);
  if (keys.kind === 'invalid') return { kind: 'refused', errors: keys.errors };
  const { realms } = keys;
  const opened = await openProcess({ settings, log, clock, drivers, components: wanted, root, stack });
  if (opened.kind === 'refused') return opened;
  const { core } = opened;
  const delivery = wanted.has('scheduler') ? startSpanDelivery(core) : undefined;
  stack.defer(() => delivery?.close());
  if (delivery !== undefined) core.metrics.source(() => deliveryMeasurements(delivery));
  const managed: Managed<Component>[] = [];
  const health = () => START_ORDER.filter(name => wanted.has(name)).map(name => healthOf(name, managed));
  core.metrics.source(() => healthMeasurements(health()));
  if (settings.metrics !== undefined) {
    const server = stack.use(await openMetricsServer(settings.metrics, { metrics: core.metrics, health }));
    log.info({ url: server.url }, `metrics and health are at ${server.url}`);
  }
  const history = wanted.has('web') ? await openDatabase(core, stack) : undefined;
  const web = history === undefined ? undefined : await startWeb(core, { history, realms, health, stack });
  port = web?.port ?? port;
  if (web === undefined && settings.web.root === undefined && wanted.has('scheduler'))
    log.warn({ root: root() }, `[web] root is not set: reports and spans will link to ${root()}`);

  for (const name of START_ORDER) {
    if (!wanted.has(name)) continue;
    const component = manageComponent(name, core, starterOf(name, web, history));
    managed.push(component);
    stack.defer(() => component.close());
    if (settings.store.kind === 'embedded') await component.begun;
  }
  return { kind: 'started', service: serviceOf(managed, web, core, stack.move()) };
}

interface WebStart {
  readonly history: History;
  readonly realms: readonly AuthRealm[];
  readonly health: () => readonly ComponentHealth[];
  readonly stack: AsyncDisposableStack;
}

async function startWeb(core: ProcessCore, { history, realms, health, stack }: WebStart): Promise<OpenWeb> {
  const historyDelivery = startHistoryDelivery(core, history);
  stack.defer(() => historyDelivery.close());
  core.metrics.source(() => outboxMeasurements('history', historyDelivery.outbox()));
  return stack.use(await openWeb(core, { history, health, realms }));
}

/** @param stack closes it. */
async function openDatabase(
  { settings: { database }, log }: ProcessCore,
  stack: AsyncDisposableStack,
): Promise<History> {
  if (database.kind === 'sqlite') await mkdir(path.dirname(database.path), { recursive: true });
  const history = await openThreadedHistory(database, error =>
    log.warn({ err: error }, 'a connection to the history database was lost'),
  );
  stack.defer(() => history.close());
  return history;
}

function starterOf(
  name: ComponentName,
  web: OpenWeb | undefined,
  history: History | undefined,
): Parameters<typeof manageComponent<Component>>[2] {
  switch (name) {
    case 'scheduler':
      return core => startScheduler(core, history);
    case 'merger':
      return startMerger;
    case 'executor':
      return startExecutor;
    case 'web':
      return async core => {
        if (web === undefined) throw new Error('the web is not open');
        return web.join(await core.session());
      };
  }
}

function serviceOf(
  managed: readonly Managed<Component>[],
  web: OpenWeb | undefined,
  { root, tracing }: Pick<ProcessCore, 'root' | 'tracing'>,
  owned: AsyncDisposableStack,
): Service {
  const ended = Promise.all(managed.map(component => component.ended)).then(() => {});
  ended.catch(() => {}); // the caller may await it later
  const ready = Promise.all([web?.ready, ...managed.map(component => component.ready)]).then(() => {});
  ready.catch(() => {}); // likewise
  const isWeb = ({ name }: Managed<Component>) => name === 'web';
  return {
    url: root(),
    ready,
    ended,
    adoptTracing: settings => tracing.adopt(settings),
    async stopGracefully() {
      const workers = managed.filter(component => !isWeb(component));
      await Promise.all(workers.map(component => component.stopGracefully()));
      await managed.find(isWeb)?.stopGracefully();
    },
    close: () => owned.disposeAsync(),
  };
}

function healthOf(name: ComponentName, managed: readonly Managed<Component>[]): ComponentHealth {
  const component = managed.find(each => each.name === name);
  const reason = component === undefined ? 'starting' : component.notReady();
  return reason === undefined ? { component: name, ready: true } : { component: name, ready: false, reason };
}
