/**
 * The tenant's current layout in one scheduler: a copy that follows the stored record.
 *
 *     using layout = openTenantLayout(deps);
 *     layout.onAdopt(config => …);           // start and poke pipelines
 *     await layout.refresh();                // adopts the stored one, if this process can build it
 *     await layout.upToDate();               // before a turn: every announced change is adopted
 *     await layout.settled(project);         // before a write at a host: no new tenant file is about to replace it
 *
 * A layout is built from the files that the record names, without a merger. A record that this process cannot read (written by a
 * newer version) makes `upToDate` throw, so that the tenant's pipelines are left to upgraded schedulers.
 */
import type { Log } from '../../lib/log.ts';
import { pause } from '../../lib/pause.ts';
import { layoutSummaryCodec } from '../../model/codec/records.ts';
import type { Tenant } from '../../model/layout.ts';
import type { ProjectKey } from '../../model/project.ts';
import type { StorePaths } from '../../store/paths.ts';
import type { Store, StoredNode } from '../../store/port.ts';
import { readNow } from '../../store/read-now.ts';
import { createRefresher } from '../../store/refresher.ts';
import { readConfigs } from './config-cache.ts';
import { type ConfigDeps, layoutFrom, type TenantConfig } from './tenant-config.ts';

/** Of one tenant in this scheduler. */
export interface TenantLayoutDeps extends ConfigDeps {
  /** From this process's tenant file. */
  readonly tenant: Pick<Tenant, 'name' | 'projects'>;
  readonly store: Store;
  readonly paths: StorePaths;
  readonly log: Log;
}

/** Every scheduler has one for each of its tenants, holder or not. Disposing of it stops following the record. */
export interface TenantLayout extends Disposable {
  /** Undefined: none is stored yet, or none could be adopted so far. */
  readonly current: TenantConfig | undefined;
  /**
   * Resolves when every announced change of the record is adopted.
   *
   * @throws the error for which the newest record could not be adopted.
   */
  upToDate(): Promise<void>;
  /**
   * After a restart with a tenant file that does not name the project any more: resolves when the tenant's holder has committed a
   * layout, or has had the time to. Otherwise immediately.
   */
  settled(project: ProjectKey): Promise<void>;
  /** Reads the record again. Failures show in `upToDate`. */
  refresh(): Promise<void>;
  /** Adopts the configuration that this process has just committed. */
  adopt(next: TenantConfig): void;
  /** Called with each newer configuration. */
  onAdopt(listener: (config: TenantConfig) => void): void;
}

/** Milliseconds a holder of the tenant has, after our start, to make the layout of its tenant file current. */
const RENEWAL_LIMIT = 30_000;

/** Reads nothing before the first change of the record: call `refresh`. */
export function openTenantLayout(deps: TenantLayoutDeps): TenantLayout {
  const { store, paths, log, tenant } = deps;
  const path = paths.tenant(tenant.name).layout;
  const listeners: ((config: TenantConfig) => void)[] = [];
  let current: TenantConfig | undefined;
  let failure: { readonly error: unknown } | undefined;
  let pending: Promise<void> = Promise.resolve();
  const disposed = new AbortController();
  const renewed = Promise.withResolvers<void>();
  void pause(RENEWAL_LIMIT, disposed.signal).then(renewed.resolve);
  const own = new Set(tenant.projects.map(each => each.project));

  function adopt(next: TenantConfig): void {
    failure = undefined;
    if (current !== undefined && next.node <= current.node) return;
    if (current !== undefined) renewed.resolve();
    current = next;
    for (const listener of listeners) listener(next);
  }

  async function read(): Promise<void> {
    let missing = -1;
    for (;;) {
      const stored = await readNow(store, () => store.get(path));
      if (stored === undefined || stored.data.length === 0) return;
      if (stored.stat.version === current?.node) return;
      const built = await configOf(stored, current, deps);
      if (built === 'not-recorded') return;
      if (built !== 'gone') return adopt(built);
      if (missing === stored.stat.version)
        throw new Error(`files of tenant ${tenant.name} are gone from the store`);
      missing = stored.stat.version;
    }
  }

  const copy = createRefresher(
    async () => {
      await read();
      failure = undefined;
    },
    error => {
      failure = { error };
      log.error({ err: error, tenant: tenant.name }, 'the stored layout of the tenant cannot be adopted');
    },
  );
  const refresh = (): Promise<void> => {
    pending = copy.touch();
    return pending;
  };
  const watch = store.watch(path, () => void refresh());

  return {
    get current() {
      return current;
    },
    async upToDate() {
      await pending;
      // It may have been temporary.
      if (failure !== undefined) await refresh();
      if (failure !== undefined) throw failure.error;
    },
    settled: async project => {
      if (!own.has(project)) await renewed.promise;
    },
    refresh,
    adopt(next) {
      adopt(next);
      renewed.resolve();
    },
    onAdopt: listener => void listeners.push(listener),
    [Symbol.dispose]() {
      watch[Symbol.dispose]();
      copy[Symbol.dispose]();
      disposed.abort();
    },
  };
}

/** Builds the layout that the record describes. `gone`: a file is missing, because there is a newer record. */
async function configOf(
  { stat, data }: StoredNode,
  current: TenantConfig | undefined,
  deps: TenantLayoutDeps,
): Promise<TenantConfig | 'gone' | 'not-recorded'> {
  const { store, paths, tenant } = deps;
  const { builtFrom, retired, version, reconfiguredAt } = layoutSummaryCodec.decode(data);
  if (builtFrom === null) return 'not-recorded';
  const known = current?.branches ?? new Map();
  const branches = await readNow(store, () => readConfigs(tenant.name, builtFrom, known, store, paths));
  if (branches === undefined) return 'gone';
  const layout = await layoutFrom(builtFrom.tenant, branches, deps);
  return {
    tenant: builtFrom.tenant,
    branches,
    layout,
    retired,
    version,
    reconfiguredAt,
    node: stat.version,
  };
}
