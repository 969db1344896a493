/**
 * A tenant's configuration files and the layout they make, kept in memory and in the store's cache: a restart, or a second
 * scheduler, starts from the cache and asks no merger.
 */
import type { Driver } from '../driver/driver.ts';
import { buildLayout, type LayoutInput } from '../layout/build-layout.ts';
import type { Layout } from '../layout/layout.ts';
import type { ParseCache } from '../layout/parse-cache.ts';
import type { Nanoseconds } from '../lib/clock.ts';
import { branchConfigCodec, layoutSummaryCodec } from '../model/codec/records.ts';
import type { LayoutSummary, Tenant } from '../model/layout.ts';
import type { BranchConfig } from '../model/merge.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { BranchName, ConnectionName, ProjectKey } from '../model/project.ts';
import type { StorePaths } from '../store/paths.ts';
import { create, type Operation, remove, type Store, set } from '../store/port.ts';

export interface TenantConfig {
  /** Every branch of every project, as last read. */
  readonly branches: ReadonlyMap<ProjectKey, ReadonlyMap<BranchName, BranchConfig>>;
  readonly layout: Layout;
  /** Pipelines that are gone from the layout and may still hold items: they finish under their last definition. */
  readonly retired: readonly Pipeline[];
  readonly version: number;
  readonly reconfiguredAt: Nanoseconds;
}

export interface ConfigDeps {
  readonly tenant: Tenant;
  readonly driversOfConnections: ReadonlyMap<ConnectionName, Driver>;
  readonly cache: ParseCache;
}

/** Errors beyond this many are counted, not stored. */
const MAX_STORED_ERRORS = 300;

/** Of pipelines that were there before, those the new layout lacks; the newest definition of each. */
export function retiredFrom(before: readonly Pipeline[], layout: Layout): readonly Pipeline[] {
  const byName = new Map(before.map(pipeline => [pipeline.name, pipeline]));
  return [...byName.values()].filter(pipeline => !layout.pipelines.has(pipeline.name));
}

export function layoutFrom(branches: TenantConfig['branches'], deps: ConfigDeps): Layout {
  return buildLayout(layoutInput(branches, deps));
}

export function layoutInput(branches: TenantConfig['branches'], deps: ConfigDeps): LayoutInput {
  return {
    tenant: deps.tenant,
    configs: [...branches.values()].flatMap(each => [...each.values()]),
    languages: languagesOf(deps.driversOfConnections),
    cache: deps.cache,
  };
}

export function languagesOf(
  drivers: ReadonlyMap<ConnectionName, Driver>,
): ReadonlyMap<ConnectionName, Driver['config']> {
  return new Map([...drivers].map(([connection, driver]) => [connection, driver.config]));
}

/** What `next` changes in the files of one project; branches that are gone are dropped. */
export function withProject(
  branches: TenantConfig['branches'],
  project: ProjectKey,
  read: readonly BranchConfig[],
  existing: ReadonlySet<BranchName>,
): TenantConfig['branches'] {
  const kept = [...(branches.get(project) ?? new Map<BranchName, BranchConfig>())].filter(([branch]) =>
    existing.has(branch),
  );
  return new Map([
    ...branches,
    [project, new Map([...kept, ...read.map(each => [each.branch, each] as const)])],
  ]);
}

/** Configuration that reads the same makes the same layout, whatever the commit. */
export function sameFiles(a: BranchConfig | undefined, b: BranchConfig | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.files.length === b.files.length &&
    a.files.every(
      (file, index) =>
        file.path === b.files[index]?.path &&
        file.text === b.files[index]?.text &&
        file.problem === b.files[index]?.problem,
    )
  );
}

/** Operations that bring the stored cache from `before` to `after`. */
export function cacheOperations(
  before: TenantConfig['branches'],
  after: TenantConfig['branches'],
  tenant: string,
  paths: StorePaths,
): readonly Operation[] {
  const operations: Operation[] = [];
  for (const [project, branches] of after) {
    for (const [branch, config] of branches) {
      const old = before.get(project)?.get(branch);
      if (old === config) continue;
      const path = paths.cachedConfig(tenant, project, branch);
      operations.push(
        old === undefined
          ? create(path, branchConfigCodec.encode(config))
          : set(path, branchConfigCodec.encode(config)),
      );
    }
    for (const branch of before.get(project)?.keys() ?? []) {
      if (!branches.has(branch)) operations.push(remove(paths.cachedConfig(tenant, project, branch)));
    }
  }
  return operations;
}

export async function readCachedConfig(
  tenant: Tenant,
  store: Store,
  paths: StorePaths,
): Promise<TenantConfig['branches']> {
  const found = new Map<ProjectKey, Map<BranchName, BranchConfig>>();
  for (const { project } of tenant.projects) {
    const base = paths.cachedConfigs(tenant.name, project);
    const names = (await store.children(base)) ?? [];
    const nodes = await store.getMany(names.map(name => `${base}/${name}`));
    const configs = nodes.flatMap(node => (node === undefined ? [] : [branchConfigCodec.decode(node.data)]));
    if (configs.length > 0) found.set(project, new Map(configs.map(config => [config.branch, config])));
  }
  return found;
}

export function layoutSummary(config: TenantConfig, tenant: Tenant): LayoutSummary {
  return {
    tenant: tenant.name,
    version: config.version,
    reconfiguredAt: config.reconfiguredAt,
    projects: tenant.projects,
    pipelines: [...config.layout.pipelines.values()],
    retired: config.retired,
    jobs: [...config.layout.jobs.keys()].sort(),
    errors: config.layout.errors.slice(0, MAX_STORED_ERRORS),
    errorCount: config.layout.errors.length,
  };
}

export function encodeSummary(config: TenantConfig, tenant: Tenant): Uint8Array {
  return layoutSummaryCodec.encode(layoutSummary(config, tenant));
}
