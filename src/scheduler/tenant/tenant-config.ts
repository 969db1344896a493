/**
 * A tenant's configuration as one scheduler holds it: the files of all branches and the layout they make.
 *
 * The layout is a function of what the stored record says it was built from ({@link LayoutSources}) and of the program, so
 * every scheduler makes the same one without a merger (`tenant-layout.ts`); only the holder of the tenant's fence writes a new one
 * (`reconfigure.ts`). Where the tenant files of two schedulers differ, the holder's file counts for all.
 */
import type { LayoutFacts } from '../../layout/layout-facts.ts';
import type { Nanoseconds } from '../../lib/clock.ts';
import { layoutSummaryCodec } from '../../model/codec/records.ts';
import type { LayoutSources, LayoutSummary, Tenant } from '../../model/layout.ts';
import type { BranchConfig } from '../../model/merge.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import { type BranchName, type ConnectionName, type ProjectKey, projectIdOf } from '../../model/project.ts';
import { type CachedConfig, hashed } from './config-cache.ts';
import type { Layouts } from './layouts.ts';

/** Immutable: a new layout is a new object. */
export interface TenantConfig {
  /** The tenant that the layout was built for; this process's tenant file may differ. */
  readonly tenant: Tenant;
  /** Every branch of every project, as last read. */
  readonly branches: ReadonlyMap<ProjectKey, ReadonlyMap<BranchName, CachedConfig>>;
  readonly layout: LayoutFacts;
  /** Pipelines that are gone from the layout and may still hold items: they finish under their last definition. */
  readonly retired: readonly Pipeline[];
  /** Counts the tenant's layouts; the same in every scheduler. */
  readonly version: number;
  readonly reconfiguredAt: Nanoseconds;
  /**
   * Version of the stored record's node. A turn's commit checks it, so that no turn under an old layout takes effect after a
   * new one is there.
   */
  readonly node: number;
}

/** Where layouts are built: the thread of the tenant. */
export interface ConfigDeps {
  readonly layouts: Pick<Layouts, 'build' | 'freeze'>;
}

/** The previous pipelines that the new layout lacks; the newest definition of each. */
export function retiredFrom(
  before: readonly Pipeline[],
  layout: Pick<LayoutFacts, 'pipelines'>,
): readonly Pipeline[] {
  const byName = new Map(before.map(pipeline => [pipeline.name, pipeline]));
  return [...byName.values()].filter(pipeline => !layout.pipelines.has(pipeline.name));
}

/** @throws Error when the files cost more than a layout may. */
export function layoutFrom(
  tenant: Tenant,
  branches: TenantConfig['branches'],
  { layouts }: ConfigDeps,
): Promise<LayoutFacts> {
  const configs = [...branches.values()].flatMap(each => [...each.values()]);
  return layouts.build(tenant, configs);
}

/**
 * The branches with newly read configuration of one project; branches that are gone are removed. Equal files stay the same object,
 * even when their commit is a new one.
 */
export function withProject(
  branches: TenantConfig['branches'],
  project: ProjectKey,
  read: readonly BranchConfig[],
  existing: ReadonlySet<BranchName>,
): TenantConfig['branches'] {
  const before = branches.get(project) ?? new Map<BranchName, CachedConfig>();
  const kept = [...before].filter(([branch]) => existing.has(branch));
  const next = read.map(hashed).map(config => {
    const known = before.get(config.branch);
    return [config.branch, known?.digest === config.digest ? known : config] as const;
  });
  return new Map([...branches, [project, new Map([...kept, ...next])]]);
}

/** Whether both hold the same files of the same branches. */
export function sameBranches(a: TenantConfig['branches'], b: TenantConfig['branches']): boolean {
  if (a.size !== b.size) return false;
  return [...a].every(([project, branches]) => {
    const others = b.get(project);
    if (others === undefined || others.size !== branches.size) return false;
    return [...branches].every(([branch, { digest }]) => others.get(branch)?.digest === digest);
  });
}

function sourcesOf({ tenant, branches }: Pick<TenantConfig, 'tenant' | 'branches'>): LayoutSources {
  return {
    tenant,
    projects: [...branches].map(([project, configs]) => ({
      project,
      branches: [...configs.values()].map(({ branch, digest }) => ({ branch, digest })),
    })),
  };
}

/** The stored record: what views show of the layout, and what another scheduler builds it from. */
export function layoutSummary(config: Omit<TenantConfig, 'node'>): LayoutSummary {
  return {
    tenant: config.tenant.name,
    version: config.version,
    reconfiguredAt: config.reconfiguredAt,
    projects: config.tenant.projects,
    pipelines: [...config.layout.pipelines.values()],
    retired: config.retired,
    jobs: config.layout.jobs.toSorted(),
    semaphores: [...config.layout.semaphores]
      .map(([name, rule]) => ({ name, ...rule }))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    cycleConnections: cycleConnections(config.layout),
    errors: config.layout.errors,
    errorCount: config.layout.errorCount,
    builtFrom: sourcesOf(config),
  };
}

/** By name. */
function cycleConnections({ projects }: Pick<LayoutFacts, 'projects'>): readonly ConnectionName[] {
  const connections = [...projects].flatMap(([project, { queue }]) =>
    queue?.allowsCycles === true ? [projectIdOf(project).connection] : [],
  );
  return [...new Set(connections)].toSorted();
}

/** {@link layoutSummary} as the bytes of the tenant's layout node. */
export function encodeSummary(config: Omit<TenantConfig, 'node'>): Uint8Array {
  return layoutSummaryCodec.encode(layoutSummary(config));
}
