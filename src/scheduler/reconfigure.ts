/**
 * Renews a tenant's layout: reads the configuration of projects whose branches moved, through mergers, and commits cache and
 * layout together. Files that read the same as before change nothing, whatever their commit.
 */
import type { Connection } from '../driver/connection.ts';
import type { Clock } from '../lib/clock.ts';
import type { IdMaker } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { configErrorText } from '../model/config-error.ts';
import type { Tenant } from '../model/layout.ts';
import type { BranchConfig } from '../model/merge.ts';
import {
  type BranchName,
  type CommitId,
  type ConnectionName,
  type ProjectKey,
  projectIdOf,
} from '../model/project.ts';
import type { Fence } from '../store/fence.ts';
import type { StorePaths } from '../store/paths.ts';
import { set } from '../store/port.ts';
import { splitOperations } from '../store/split-operations.ts';
import { type AskDeps, askMerger } from './ask-merger.ts';
import {
  type ConfigDeps,
  cacheOperations,
  encodeSummary,
  layoutFrom,
  retiredFrom,
  sameFiles,
  type TenantConfig,
  withProject,
} from './tenant-config.ts';

export interface ReconfigureDeps extends ConfigDeps, AskDeps {
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly tenant: Tenant;
  readonly paths: StorePaths;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
}

/** What to read of one project. */
export interface ProjectNews {
  readonly project: ProjectKey;
  /** null: every branch, and which there are. */
  readonly branches: readonly BranchName[] | null;
  /** Commits events told of: older answers will not do. */
  readonly atLeast: readonly { readonly branch: BranchName; readonly commit: CommitId }[];
}

/** @returns the new configuration after it is committed, or `before` when nothing reads differently. */
export async function reconfigure(
  before: TenantConfig,
  news: readonly ProjectNews[],
  deps: ReconfigureDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<TenantConfig> {
  const reads = await Promise.all(news.map(each => readProject(before, each, deps, signal)));
  const branches = reads.reduce(
    (all, read) => (read === undefined ? all : withProject(all, read.project, read.configs, read.existing)),
    before.branches,
  );
  const different = reads.some(read => read !== undefined && changesConfiguration(before, read));
  if (!different) {
    await commit(fence, cacheOperations(before.branches, branches, deps.tenant.name, deps.paths), deps);
    return { ...before, branches };
  }
  const layout = layoutFrom(branches, deps);
  const after: TenantConfig = {
    branches,
    layout,
    retired: retiredFrom([...before.retired, ...before.layout.pipelines.values()], layout),
    version: before.version + 1,
    reconfiguredAt: deps.clock.now(),
  };
  await commit(
    fence,
    [
      ...cacheOperations(before.branches, branches, deps.tenant.name, deps.paths),
      set(deps.paths.tenant(deps.tenant.name).layout, encodeSummary(after, deps.tenant)),
    ],
    deps,
  );
  deps.log.info(
    { tenant: deps.tenant.name, version: after.version, errors: layout.errors.length },
    `tenant ${deps.tenant.name} has a new layout`,
  );
  for (const error of layout.errors.slice(0, 20))
    deps.log.warn({ tenant: deps.tenant.name, code: error.code }, configErrorText(error));
  return after;
}

async function commit(
  fence: Fence,
  operations: Parameters<typeof splitOperations>[0],
  deps: ReconfigureDeps,
): Promise<void> {
  for (const part of splitOperations(operations)) await fence.commit(part, deps.ids.uuid());
}

interface ProjectRead {
  readonly project: ProjectKey;
  readonly configs: readonly BranchConfig[];
  readonly existing: ReadonlySet<BranchName>;
}

function changesConfiguration(before: TenantConfig, read: ProjectRead): boolean {
  const known = before.branches.get(read.project);
  if (read.configs.some(config => !sameFiles(known?.get(config.branch), config))) return true;
  return [...(known?.keys() ?? [])].some(branch => !read.existing.has(branch));
}

/** @returns undefined when the project cannot be read now: what is known of it stays in force, and the log says why. */
async function readProject(
  before: TenantConfig,
  news: ProjectNews,
  deps: ReconfigureDeps,
  signal: AbortSignal,
): Promise<ProjectRead | undefined> {
  const known = new Set(before.branches.get(news.project)?.keys());
  try {
    const branches = news.branches ?? (await branchesOf(news.project, deps, signal));
    const existing = news.branches === null ? new Set(branches) : known.union(new Set(branches));
    const configs = branches.length === 0 ? [] : await configsOf(news, branches, deps, signal);
    return { project: news.project, configs, existing };
  } catch (error) {
    signal.throwIfAborted();
    deps.log.error(
      { err: error, project: news.project },
      `cannot read the configuration of ${news.project}; what was read before stays in force`,
    );
    return undefined;
  }
}

async function branchesOf(
  project: ProjectKey,
  deps: ReconfigureDeps,
  signal: AbortSignal,
): Promise<readonly BranchName[]> {
  const connection = deps.connections.get(projectIdOf(project).connection);
  if (connection === undefined)
    throw new Error(`connection ${projectIdOf(project).connection} is not configured`);
  return (await connection.source.branches(project, signal)).map(each => each.branch);
}

async function configsOf(
  news: ProjectNews,
  branches: readonly BranchName[],
  deps: ReconfigureDeps,
  signal: AbortSignal,
): Promise<readonly BranchConfig[]> {
  const request = {
    kind: 'config-files' as const,
    uuid: deps.ids.uuid(),
    tenant: deps.tenant.name,
    requestedAt: deps.clock.now(),
    priority: 100,
    project: news.project,
    branches,
    atLeast: news.atLeast,
  };
  const outcome = await askMerger(request, deps, signal);
  if (outcome.kind === 'config-files') return outcome.branches;
  throw new Error(outcome.kind === 'failed' ? outcome.text : `a merger answered with ${outcome.kind}`);
}
