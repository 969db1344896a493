/**
 * The service in one process: scheduler, merger, executor and web over one embedded store. Everything is built here by hand;
 * each component has a store session of its own and gets only the interfaces it needs.
 */

import { mkdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import { createGit } from '../../git/git.ts';
import { openRepositoryCache } from '../../git/repository-cache.ts';
import { openHistory } from '../../history/history.ts';
import { systemClock } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import { derivedUuid, randomIds } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import { buildPage, itemPage } from '../../scheduler/pages.ts';
import { publicRoot, type Settings } from '../../settings/settings.ts';
import { openEmbeddedStore } from '../../store/embedded/server.ts';
import { storePaths } from '../../store/paths.ts';
import type { SpanOptions } from '../../tracing/spans/span-options.ts';
import { VERSION } from '../version.ts';
import type { Component, Core } from './core.ts';
import { createHistoryDelivery } from './history-delivery.ts';
import { openConnections } from './open-connections.ts';
import { readTenants } from './read-tenants.ts';
import { createSpanDelivery, type SpanDelivery } from './span-delivery.ts';
import { startExecutor } from './start-executor.ts';
import { startMerger } from './start-merger.ts';
import { startScheduler } from './start-scheduler.ts';
import { startWeb } from './start-web.ts';

export type StartedService =
  | { readonly kind: 'started'; readonly service: Service }
  /** Nothing was opened that others could see. Each error is one line for a person. */
  | { readonly kind: 'refused'; readonly errors: readonly string[] };

export interface Service {
  /** Where the page is, without trailing slash. */
  readonly url: string;
  /** All tenants are configured. */
  readonly ready: Promise<void>;
  /** What isolates jobs, or that nothing does. */
  readonly sandboxReport: string;
  /** Rejects with the failure of the first component that fails for good. */
  readonly ended: Promise<never>;
  /** Stops taking work, stops builds, sends what can be sent in a moment; the rest is taken up by the next start. */
  close(): Promise<void>;
}

/** Milliseconds the sender may take to finish when the service stops. */
const SEND_GRACE = 2_000;

export async function startService(settings: Settings, log: Log): Promise<StartedService> {
  await using stack = new AsyncDisposableStack();
  const clock = systemClock();
  const { merger } = settings;
  const git = createGit({
    identity: { name: merger.gitUserName, email: merger.gitUserEmail },
    timeoutMs: merger.gitTimeout * 1000,
  });
  const repositories = stack.use(await openRepositoryCache({ root: merger.gitDir, git }));
  const { connections, errors } = openConnections(settings.connections, { clock, log, repositories });
  for (const connection of connections.values()) stack.defer(() => connection.close());
  const tenants = await readTenants(
    settings.scheduler.tenantConfig,
    new Set(settings.connections.map(each => each.connection)),
  );
  if (tenants.kind === 'invalid') return { kind: 'refused', errors: [...errors, ...tenants.errors] };
  if (errors.length > 0) return { kind: 'refused', errors };

  await mkdir(path.dirname(settings.store.path), { recursive: true });
  await mkdir(path.dirname(settings.database.path), { recursive: true });
  const server = stack.use(openEmbeddedStore({ file: settings.store.path }));
  const history = await openHistory({ file: settings.database.path });
  stack.defer(() => history.close());
  let port = settings.web.port;
  const root = () => publicRoot(settings.web, port);
  const core: Core = {
    settings,
    log,
    clock,
    ids: randomIds(),
    host: hostname(),
    paths: storePaths(settings.store.root),
    connections,
    tenants: tenants.tenants,
    repositories,
    root,
    spans: spanOptions(settings, root),
    session: () => server.connect(),
  };
  const delivery = startDelivery(core, stack);
  startHistory(core, history, stack);

  let starting = true;
  const components: Component[] = [];
  const begun = <T extends Component>(component: T): T => {
    components.push(component);
    stack.defer(() => component.close());
    return component;
  };
  const health = () => components.map(component => healthOf(component));
  // The web first: its port is part of every address the others put into reports and spans.
  const web = begun(
    await startWeb(core, {
      history,
      delivery,
      health: () => (starting ? [{ component: 'scheduler', ready: false, reason: 'starting' }] : health()),
    }),
  );
  port = web.port;
  begun(await startMerger(core));
  const executor = begun(await startExecutor(core));
  const scheduler = begun(await startScheduler(core));
  starting = false;

  const ended = Promise.race(
    components.map(component => component.ended.then(() => new Promise<never>(() => {}))),
  );
  ended.catch(() => {}); // the caller may look later
  const owned = stack.move();
  return {
    kind: 'started',
    service: {
      url: root(),
      ready: scheduler.ready,
      sandboxReport: executor.sandboxReport,
      ended,
      close: () => owned.disposeAsync(),
    },
  };
}

function healthOf(component: Component) {
  const reason = component.notReady();
  return reason === undefined
    ? { component: component.name, ready: true }
    : { component: component.name, ready: false, reason };
}

function spanOptions({ tracing, connections }: Settings, root: () => string): SpanOptions | undefined {
  if (tracing.kind === 'off') return undefined;
  return {
    names: tracing.spanNames,
    urls: {
      item: (item: QueueItem) => itemPage(root(), item.tenant, item.uuid),
      build: (item: QueueItem, build: Uuid) => buildPage(root(), item.tenant, build),
    },
    providers: new Map(connections.map(each => [each.connection, each.driver])),
  };
}

/** The sender outlives the components, so that what their last turns ended is sent too, if the collector is quick. */
function startDelivery(core: Core, stack: AsyncDisposableStack): SpanDelivery | undefined {
  const { tracing } = core.settings;
  if (tracing.kind === 'off') return undefined;
  const stop = new AbortController();
  const delivery = createSpanDelivery({
    settings: tracing,
    store: core.session(),
    paths: core.paths,
    clock: core.clock,
    log: core.log,
    version: VERSION,
    host: core.host,
    // The same after a restart: a span sent again is the same byte for byte. Only one process can hold the store.
    instance: derivedUuid(core.host, core.settings.store.path),
    component: 'all',
  });
  const running = delivery.drain
    .run(stop.signal)
    .catch(error => core.log.error({ err: error }, 'spans are not sent any more'));
  stack.defer(async () => {
    await delivery.sender.close(SEND_GRACE);
    stop.abort();
    await running;
  });
  return delivery;
}

function startHistory(
  core: Core,
  history: Awaited<ReturnType<typeof openHistory>>,
  stack: AsyncDisposableStack,
): void {
  const stop = new AbortController();
  const drain = createHistoryDelivery({
    history,
    store: core.session(),
    paths: core.paths,
    clock: core.clock,
    log: core.log,
  });
  const running = drain
    .run(stop.signal)
    .catch(error => core.log.error({ err: error }, 'history is not written any more'));
  stack.defer(async () => {
    stop.abort();
    await running;
  });
}
