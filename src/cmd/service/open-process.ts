/**
 * Opens what the components of one process share, as far as they need it: an executor reads no tenant file, a web opens no
 * mirrors.
 */
import { createGit } from '../../git/process/git.ts';
import { openRepositoryCache, type RepositoryCache } from '../../git/repository-cache.ts';
import { startAside } from '../../git/starter/start-aside.ts';
import type { Clock } from '../../lib/clock.ts';
import { randomIds } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { createMetrics } from '../../metrics/registry.ts';
import type { Settings } from '../../settings/settings.ts';
import { createKeyring } from '../../store/keystore/keyring.ts';
import { storePaths } from '../../store/paths.ts';
import type { Store } from '../../store/port.ts';
import type { ComponentName } from './core.ts';
import type { DriverTable } from './driver-table.ts';
import { gitBounds } from './git-bounds.ts';
import { liveTracing } from './live-tracing.ts';
import type { ProcessCore } from './manage-component.ts';
import { noRepositories } from './no-repositories.ts';
import { hostsOf, openConnections, withoutKey } from './open-connections.ts';
import { openStoreSource, storeName } from './open-store-source.ts';
import { machineName } from './own-installation.ts';
import { openNodes } from './read-nodes.ts';
import { readNotices } from './read-notices.ts';
import { type ReadTenants, readTenants } from './read-tenants.ts';
import { sessionMeasurements, usageMeasurements } from './service-metrics.ts';

/** `components` decides what is opened. */
export interface ProcessOptions {
  readonly settings: Settings;
  readonly log: Log;
  readonly clock: Clock;
  readonly drivers: DriverTable;
  readonly components: ReadonlySet<ComponentName>;
  /** Public URL without trailing slash; called after the port is known. */
  readonly root: () => string;
  /** Owns everything opened. */
  readonly stack: AsyncDisposableStack;
}

/** What was opened before a refusal is closed with {@link ProcessOptions.stack}. */
export type OpenedProcess =
  | { readonly kind: 'opened'; readonly core: ProcessCore }
  /** Each error is one line for a person. */
  | { readonly kind: 'refused'; readonly errors: readonly string[] };

/** @throws StoreFileError, or an error of the file system with its code. */
export async function openProcess(options: ProcessOptions): Promise<OpenedProcess> {
  const { settings, log, clock, root, drivers, components, stack } = options;
  const repositories = stack.use(await openRepositories(options));
  const deps = { clock, log, repositories };
  const opening = await openConnections(settings.connections, drivers, deps);
  const { connections, messengers, errors, loaded } = opening;
  for (const each of [...connections.values(), ...messengers.values()]) stack.defer(() => each.close());
  const tenants = await tenantsFor(options, opening);
  if (tenants.kind === 'invalid') return { kind: 'refused', errors: [...errors, ...tenants.errors] };
  const notices = readNotices(settings.notify, opening);
  for (const warning of tenants.warnings) log.warn({}, warning);
  const nodes = await openNodes(components.has('scheduler') ? settings.nodes.config : undefined);
  if ('errors' in nodes) return { kind: 'refused', errors: [...errors, ...nodes.errors] };
  const keyless = components.has('scheduler') || components.has('merger') ? withoutKey(connections) : [];
  const refused = [...errors, ...keyless, ...notices.errors];
  if (refused.length > 0) return { kind: 'refused', errors: refused };
  const opened = await openStoreSource(settings.store, { clock, log });
  if (opened.kind === 'refused') return opened;
  const source = stack.use(opened.source);
  const metrics = createMetrics();
  const sessions = new Map<string, Store>();
  metrics.source(() => sessionMeasurements(sessions));
  metrics.source(() => usageMeasurements(connections.values()));
  const core: ProcessCore = {
    settings,
    log,
    clock,
    ids: randomIds(),
    host: machineName(settings),
    paths: storePaths(settings.store.root),
    connections,
    messengers,
    notices: notices.rules,
    drivers: loaded,
    tenants: tenants.tenants,
    ...nodes,
    repositories,
    root,
    tracing: liveTracing(settings.tracing, connections, root),
    metrics,
    keyring: settings.keystore === undefined ? undefined : createKeyring(settings.keystore.password),
    storeName: storeName(settings.store),
    async connect(name, signal) {
      const session = await source.connect(name, signal);
      sessions.set(name, session);
      return session;
    },
  };
  return { kind: 'opened', core };
}

async function openRepositories({ settings, log, components }: ProcessOptions): Promise<RepositoryCache> {
  const { merger, executor } = settings;
  const executorShares = components.has('executor') && executor.gitDir === merger.gitDir;
  if (!components.has('scheduler') && !components.has('merger') && !executorShares)
    return noRepositories('this process has no mirrors');
  const git = createGit({
    identity: { name: merger.gitUserName, email: merger.gitUserEmail },
    ...gitBounds(merger),
    start: startAside,
  });
  return openRepositoryCache({ root: merger.gitDir, git, warn: (facts, text) => log.warn(facts, text) });
}

async function tenantsFor(
  { settings, components }: ProcessOptions,
  opening: Parameters<typeof hostsOf>[1],
): Promise<ReadTenants> {
  if (!components.has('scheduler')) return { kind: 'tenants', tenants: [], warnings: [] };
  const { tenantConfig, tenantConfigIsScript = false, ansible } = settings.scheduler;
  if (tenantConfig === undefined)
    return { kind: 'invalid', errors: ['[scheduler] tenant_config: missing; schedulers require it'] };
  const hosts = hostsOf(settings.connections, opening);
  return readTenants(tenantConfig, tenantConfigIsScript, hosts, ansible);
}
