/**
 * The configuration that a new holder of a tenant's fence starts with: the stored layout, or a new one where this process's tenant
 * file or program makes a different one of the same files, or where files of projects are missing. Mergers read only those.
 */
import { isBrokenRecord } from '../../model/codec/record.ts';
import { layoutSummaryCodec } from '../../model/codec/records.ts';
import type { LayoutSummary, Tenant } from '../../model/layout.ts';
import type { Pipeline } from '../../model/pipeline.ts';
import { type ProjectKey, projectKey } from '../../model/project.ts';
import { settle } from '../../store/connection.ts';
import { ensureNode } from '../../store/ensure-node.ts';
import type { Fence } from '../../store/fence.ts';
import { nameOfNode } from '../../store/paths.ts';
import type { Operation } from '../../store/port.ts';
import { createQuarantine } from '../../store/quarantine.ts';
import {
  type LayoutRebuild,
  type LayoutRenewal,
  takeoverSpans,
} from '../../tracing/spans/reconfigure-spans.ts';
import { traceRows } from '../care/trace-rows.ts';
import { selectsOther } from './branch-exclusion.ts';
import { readConfigs } from './config-cache.ts';
import { type ReconfigureDeps, readProjects, renewalOf, storeLayout } from './reconfigure.ts';
import { layoutFrom, layoutSummary, retiredFrom, type TenantConfig } from './tenant-config.ts';

type Draft = Omit<TenantConfig, 'node'>;

/** @param current the configuration that this process has already. @throws Error when a config-project cannot be read. */
export async function initialConfig(
  current: TenantConfig | undefined,
  deps: ReconfigureDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<TenantConfig> {
  const { tenant, store, paths } = deps;
  for (const { project } of tenant.projects)
    await ensureNode(store, paths.cachedConfigs(tenant.name, project), signal);
  await ensureNode(store, paths.tenant(tenant.name).answers, signal);
  const stored = await storedSummary(deps);
  const known = await storedBranches(stored?.summary, current, deps);
  const before = stored?.summary;
  const readFor = new Map(before?.builtFrom?.tenant.projects.map(each => [each.project, each]));
  const unread = tenant.projects.filter(
    each => !known.has(each.project) || selectsOther(readFor.get(each.project), each),
  );
  const missingFiles = unread.map(({ project }) => ({ project, branches: null, atLeast: [] }));
  const startedAt = deps.clock.now();
  const { branches, reads } =
    missingFiles.length === 0
      ? { branches: known, reads: [] }
      : await readProjects(known, missingFiles, deps, signal);
  // Without its config-projects a tenant has no pipelines: retry rather than run a part of it.
  const missing = tenant.projects.find(each => each.trusted && !branches.has(each.project));
  if (missing !== undefined)
    throw new Error(`config-project ${missing.project} of tenant ${tenant.name} cannot be read`);
  const layout = await layoutFrom(tenant, branches, deps);
  const next: Draft = {
    tenant,
    branches,
    layout,
    retired: await stillHolding(
      retiredFrom([...(before?.retired ?? []), ...(before?.pipelines ?? [])], layout),
      deps,
    ),
    version: (before?.version ?? 0) + 1,
    reconfiguredAt: deps.clock.now(),
  };
  if (stored !== undefined && before !== undefined && sameLayout(before, next)) {
    if (current?.node === stored.node) return current;
    const { version, reconfiguredAt, retired } = before;
    return { ...next, version, reconfiguredAt, retired, node: stored.node };
  }
  const renewal = renewalOf(startedAt, deps.clock.now(), next, reads);
  const reason =
    before === undefined ? 'first-layout' : missingFiles.length > 0 ? 'files-missing' : 'tenant-file-changed';
  const rows = renewalRows(reason, renewal, deps);
  return storeLayout(next, await cachedProjects(tenant, deps), rows, deps, fence);
}

/** The layout's trace, for the commit that makes it current. */
function renewalRows(
  reason: LayoutRebuild['reason'],
  renewal: LayoutRenewal,
  { ids, tracing, tenant, paths }: ReconfigureDeps,
): readonly Operation[] {
  const style = tracing.spans();
  const pass = ids.uuid();
  if (style === undefined || !tracing.isSampled(pass)) return [];
  const spans = takeoverSpans({ pass, tenant: tenant.name, reason }, renewal, style);
  return traceRows(paths, spans, renewal.endedAt);
}

interface Stored {
  /** Undefined: there is none, or it is unreadable. */
  readonly summary: LayoutSummary | undefined;
  readonly node: number;
}

/** @throws RecordError when an upgraded scheduler wrote it: the tenant is left to that one. */
async function storedSummary({ store, paths, tenant, log }: ReconfigureDeps): Promise<Stored | undefined> {
  const stored = await settle(store, () => store.get(paths.tenant(tenant.name).layout));
  if (stored === undefined || stored.data.length === 0) return undefined;
  const node = stored.stat.version;
  try {
    return { summary: layoutSummaryCodec.decode(stored.data), node };
  } catch (error) {
    if (!isBrokenRecord(error)) throw error;
    log.error(
      { err: error, tenant: tenant.name },
      `the layout of tenant ${tenant.name} is unreadable and is built again`,
    );
    return { summary: undefined, node };
  }
}

/** The stored files of the tenant's projects; none when any is missing, because then all are read again. */
async function storedBranches(
  stored: LayoutSummary | undefined,
  current: TenantConfig | undefined,
  deps: ReconfigureDeps,
): Promise<TenantConfig['branches']> {
  const { store, paths, tenant } = deps;
  const sources = stored?.builtFrom ?? null;
  if (sources === null) return new Map();
  const own = new Set(tenant.projects.map(each => each.project));
  const wanted = { ...sources, projects: sources.projects.filter(each => own.has(each.project)) };
  const known = current?.branches ?? new Map();
  const { move } = createQuarantine({ ...deps, path: paths.quarantine });
  const read = () => readConfigs(tenant.name, wanted, known, store, paths, move);
  return (await settle(store, read)) ?? new Map();
}

/** Also projects of an earlier tenant file, whose files are removed. */
async function cachedProjects(
  tenant: Tenant,
  { store, paths }: ReconfigureDeps,
): Promise<ReadonlySet<ProjectKey>> {
  const names = (await store.children(paths.tenantConfigs(tenant.name))) ?? [];
  const stored = names.map(name => {
    const [connection = '', ...rest] = nameOfNode(name).split('/');
    return projectKey({ connection, name: rest.join('/') });
  });
  return new Set([...tenant.projects.map(each => each.project), ...stored]);
}

/** Pipelines that are gone from the configuration and still have work to finish. */
async function stillHolding(
  pipelines: readonly Pipeline[],
  { store, paths, tenant }: ReconfigureDeps,
): Promise<readonly Pipeline[]> {
  const held = await Promise.all(
    pipelines.map(async ({ name }) => {
      const { items, eventQueue } = paths.pipeline(tenant.name, name);
      const work = await Promise.all(
        [
          items,
          eventQueue,
          paths.reportOutbox(tenant.name, name),
          paths.messageOutbox(tenant.name, name),
        ].map(path => store.children(path)),
      );
      return work.some(children => (children?.length ?? 0) > 0);
    }),
  );
  return pipelines.filter((_, index) => held[index] === true);
}

/** Equal content, also when another program or tenant file made it. */
function sameLayout(stored: LayoutSummary, next: Draft): boolean {
  const text = (summary: LayoutSummary) =>
    JSON.stringify({ ...summary, version: 0, reconfiguredAt: '', retired: [] });
  return text(stored) === text(layoutSummary(next));
}
