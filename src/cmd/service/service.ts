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
 *                              read-tenants.ts (run-tenant-script.ts), read-nodes.ts, read-notices.ts, live-tracing.ts; driver-table.ts, git-bounds.ts, own-installation.ts, no-repositories.ts
 *     manage-component.ts      a component over all its sessions, on supervise.ts; contact.ts: since when the store is away
 *     web-and-history.ts       what only a process with a web has
 *     start-web.ts, start-merger.ts, start-executor.ts, start-scheduler.ts    one component each, wired by hand
 *     worker-core.ts           what mergers and executors share: worker-room.ts (disks), worker-signs.ts; provided-repositories.ts; log-keeping.ts of executors
 *     open-layouts.ts          layouts in threads: layout-thread.ts; frozen-branches.ts: for the web
 *     deliveries.ts            outboxes to collector and history, by leader election (elected.ts): span-delivery.ts,
 *                              history-delivery.ts, history-database.ts, prune-history.ts
 *     live-view.ts             the web's copy of the store: outbox-view.ts, record-view.ts, waiting-events.ts, waiting-requests.ts, node-view.ts,
 *                              leaving-items.ts, throttled-signal.ts; build-logs.ts, explain-change.ts; web-view.ts makes a tenant's snapshot of it,
 *                              access-rules.ts reads who may read what
 *     webhook-intake.ts, span-intake.ts, operator-acts.ts (operator-requests.ts, enqueue-request.ts; act-costs.ts: what they would do), hold-acts.ts    what the web writes to the store; duplicate-delivery.ts
 *     metrics-server.ts, service-metrics.ts, playbook-holders.ts, intake-governor.ts    metrics and health
 *
 * This folder wires: it decides nothing about changes, and no other room imports it.
 */
import { type Clock, systemClock } from '../../lib/clock.ts';
import type { Log } from '../../lib/log.ts';
import { readAuthKeys } from '../../settings/auth-keys.ts';
import { publicRoot, type Settings } from '../../settings/settings.ts';
import type { TracingSettings } from '../../settings/tracing-settings.ts';
import { COMPONENT_KINDS } from '../../store/paths.ts';
import type { ComponentHealth } from '../../web/deps.ts';
import type { Component, ComponentName } from './core.ts';
import { type DriverTable, driverTable } from './driver-table.ts';
import { type Managed, manageComponent, type ProcessCore } from './manage-component.ts';
import { openMetricsServer } from './metrics-server.ts';
import { openProcess } from './open-process.ts';
import { reloadNodes } from './read-nodes.ts';
import { deliveryMeasurements, healthMeasurements } from './service-metrics.ts';
import type { OpenWeb } from './start-web.ts';
import type { WebAndHistory } from './web-and-history.ts';

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
  /** Reads `nodes.yaml` again, where this process has one; an invalid one changes nothing. */
  reloadNodes(): Promise<void>;
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
  const program = await loadProgram(wanted);
  let port = settings.web.port;
  const root = () => publicRoot(settings.web, port);
  const keys = readAuthKeys(wanted.has('web') ? settings.auth : []);
  if (keys.kind === 'invalid') return { kind: 'refused', errors: keys.errors };
  const { realms } = keys;
  const opened = await openProcess({ settings, log, clock, drivers, components: wanted, root, stack });
  if (opened.kind === 'refused') return opened;
  const { core } = opened;
  const delivery = program.deliveries?.startSpanDelivery(core);
  stack.defer(() => delivery?.close());
  if (delivery !== undefined) core.metrics.source(() => deliveryMeasurements(delivery));
  const managed: Managed<Component>[] = [];
  const health = () => START_ORDER.filter(name => wanted.has(name)).map(name => healthOf(name, managed));
  core.metrics.source(() => healthMeasurements(health()));
  if (settings.metrics !== undefined) {
    const server = stack.use(await openMetricsServer(settings.metrics, { metrics: core.metrics, health }));
    log.info({ url: server.url }, `metrics and health are at ${server.url}`);
  }
  const shown = await program.webAndHistory?.openWebAndHistory(core, { realms, health, stack });
  const web = shown?.web;
  port = web?.port ?? port;
  if (web === undefined && settings.web.root === undefined && wanted.has('scheduler'))
    log.warn({ root: root() }, `[web] root is not set: reports and spans will link to ${root()}`);

  for (const [name, starter] of program.starters) {
    const component = manageComponent(name, core, starter(shown));
    managed.push(component);
    stack.defer(() => component.close());
    if (settings.store.kind === 'embedded') await component.begun;
  }
  return { kind: 'started', service: serviceOf(managed, web, core, stack.move()) };
}

type Starter = Parameters<typeof manageComponent<Component>>[2];

/**
 * Each process loads the modules of its own components only: all of them take it up to 0.3 s of processor time more. They are loaded
 * before anything is opened: loading holds the event loop, and sessions must not wait for it.
 */
async function loadProgram(wanted: ReadonlySet<ComponentName>) {
  const starters = new Map<ComponentName, (shown: WebAndHistory | undefined) => Starter>();
  for (const name of START_ORDER) if (wanted.has(name)) starters.set(name, await loadStarter(name));
  return {
    /** In {@link START_ORDER}. */
    starters,
    deliveries: wanted.has('scheduler') ? await import('./deliveries.ts') : undefined,
    webAndHistory: wanted.has('web') ? await import('./web-and-history.ts') : undefined,
  };
}

async function loadStarter(name: ComponentName): Promise<(shown: WebAndHistory | undefined) => Starter> {
  switch (name) {
    case 'scheduler': {
      const { startScheduler } = await import('./start-scheduler.ts');
      return shown => core => startScheduler(core, shown?.history);
    }
    case 'merger': {
      const { startMerger } = await import('./start-merger.ts');
      return () => startMerger;
    }
    case 'executor': {
      const { startExecutor } = await import('./start-executor.ts');
      return () => startExecutor;
    }
    case 'web':
      return shown => async core => {
        if (shown === undefined) throw new Error('the web is not open');
        return shown.web.join(await core.session());
      };
  }
}

function serviceOf(
  managed: readonly Managed<Component>[],
  web: OpenWeb | undefined,
  {
    root,
    tracing,
    nodes,
    settings,
    log,
  }: Pick<ProcessCore, 'root' | 'tracing' | 'nodes' | 'settings' | 'log'>,
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
    async reloadNodes() {
      if (nodes !== undefined && settings.nodes.config !== undefined)
        await reloadNodes(settings.nodes.config, nodes, log);
    },
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
