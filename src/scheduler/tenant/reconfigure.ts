/**
 * Renews a tenant's layout: reads the configuration of projects whose branches moved, through mergers, and commits cache and
 * layout. Equal files change nothing, even when their commit is a new one.
 *
 * The new files go first. The record that names them goes last, in the multi-write that makes the layout current; see
 * config-cache.ts.
 */
import type { Connection } from '../../driver/connection.ts';
import type { BranchSelection } from '../../driver/source.ts';
import { extraPathsOf } from '../../layout/tenant/config-files.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import type { IdMaker } from '../../lib/ids.ts';
import type { Log } from '../../lib/log.ts';
import { configErrorText } from '../../model/config-error.ts';
import type { Tenant } from '../../model/layout.ts';
import type { BranchConfig, TooLargeBranch } from '../../model/merge.ts';
import {
  type BranchName,
  type CommitId,
  type ConnectionName,
  type ProjectKey,
  projectIdOf,
} from '../../model/project.ts';
import { isOutOfContact, settle } from '../../store/connection.ts';
import type { Committed, Fence } from '../../store/fence.ts';
import type { StorePaths } from '../../store/paths.ts';
import { type Operation, set } from '../../store/port.ts';
import { splitOperations } from '../../store/split-operations.ts';
import type { LiveTracing } from '../../tracing/live-tracing.ts';
import type { ConfigRead, LayoutRenewal } from '../../tracing/spans/reconfigure-spans.ts';
import { isRemoteFault } from '../remote-fault.ts';
import { type AskDeps, askMerger } from './ask-merger.ts';
import { branchSelectionOf } from './branch-exclusion.ts';
import { cacheChange } from './config-cache.ts';
import {
  type ConfigDeps,
  encodeSummary,
  layoutFrom,
  retiredFrom,
  sameBranches,
  type TenantConfig,
  withProject,
} from './tenant-config.ts';

/** Of one tenant in this scheduler; only the holder of its fence uses them to write. */
export interface ReconfigureDeps extends ConfigDeps, AskDeps {
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly tenant: Tenant;
  readonly paths: StorePaths;
  readonly tracing: Pick<LiveTracing, 'spans' | 'isSampled'>;
  readonly connections: ReadonlyMap<ConnectionName, Connection>;
}

/** The configuration to read of one project. */
export interface ConfigurationToRead {
  readonly project: ProjectKey;
  /** null: every branch, as the host lists them. */
  readonly branches: readonly BranchName[] | null;
  /** Commits that events named: older answers are not enough. */
  readonly atLeast: readonly { readonly branch: BranchName; readonly commit: CommitId }[];
}

/**
 * @param rowsFor the trace of the renewal, as rows for the commit that makes the layout current.
 * @returns the committed configuration, null when no file is different; and whether the host did not give a project's configuration,
 *   so that it has to be read again.
 */
export async function reconfigure(
  before: TenantConfig,
  wanted: readonly ConfigurationToRead[],
  rowsFor: (renewal: LayoutRenewal) => readonly Operation[],
  deps: ReconfigureDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<{ readonly after: TenantConfig | null; readonly unread: boolean }> {
  const startedAt = deps.clock.now();
  const { branches, reads, unread } = await readProjects(before.branches, wanted, deps, signal);
  if (sameBranches(before.branches, branches)) return { after: null, unread };
  const layout = await layoutFrom(deps.tenant, branches, deps);
  const after = {
    tenant: deps.tenant,
    branches,
    layout,
    retired: retiredFrom([...before.retired, ...before.layout.pipelines.values()], layout),
    version: before.version + 1,
    reconfiguredAt: deps.clock.now(),
  };
  const projects = wanted.map(each => each.project);
  const rows = rowsFor(renewalOf(startedAt, deps.clock.now(), after, reads));
  return { after: await storeLayout(after, projects, rows, deps, fence), unread };
}

/** The renewal of a layout, for its trace. */
export function renewalOf(
  startedAt: Nanoseconds,
  endedAt: Nanoseconds,
  { layout, version }: Pick<TenantConfig, 'layout' | 'version'>,
  reads: readonly ConfigRead[],
): LayoutRenewal {
  return { startedAt, endedAt, version, errors: layout.errorCount, reads };
}

/** The configuration of all projects after these were read again, and the work of the mergers. */
export async function readProjects(
  before: TenantConfig['branches'],
  wanted: readonly ConfigurationToRead[],
  deps: ReconfigureDeps,
  signal: AbortSignal,
): Promise<{
  readonly branches: TenantConfig['branches'];
  readonly reads: readonly ConfigRead[];
  /** The host of one of them does not serve now. */
  readonly unread: boolean;
}> {
  const all = await Promise.all(wanted.map(each => readProject(before, each, deps, signal)));
  const done = all.filter(read => read !== undefined && read !== 'host-trouble');
  return {
    unread: all.includes('host-trouble'),
    branches: done.reduce(
      (known, { project, configs, existing }) => withProject(known, project, configs, existing),
      before,
    ),
    reads: done.flatMap(({ read }) => read ?? []),
  };
}

/**
 * Makes it the tenant's layout.
 *
 * @param projects whose stored files may have to change.
 * @param rows written in the multi-write that makes it current.
 */
export async function storeLayout(
  next: Omit<TenantConfig, 'node'>,
  projects: Iterable<ProjectKey>,
  rows: readonly Operation[],
  deps: ReconfigureDeps,
  fence: Fence,
): Promise<TenantConfig> {
  const { store, paths, tenant, log } = deps;
  const place = paths.tenant(tenant.name).layout;
  const { before, after } = await cacheChange(tenant.name, projects, next.branches, store, paths);
  let committed: Committed | undefined;
  for (const part of splitOperations(before, undefined, [...rows, set(place, encodeSummary(next))]))
    committed = await fence.commit(part, deps.ids.uuid());
  const node =
    committed?.kind === 'committed'
      ? committed.results.at(-1)?.version
      : (await settle(store, () => store.get(place)))?.stat.version;
  for (const part of splitOperations(after)) await fence.commit(part, deps.ids.uuid());
  const { errors, errorCount } = next.layout;
  log.info(
    { tenant: tenant.name, version: next.version, errors: errorCount },
    `tenant ${tenant.name} has a new layout`,
  );
  for (const error of errors.slice(0, 20))
    log.warn({ tenant: tenant.name, code: error.code }, configErrorText(error));
  return { ...next, node: node ?? 0 };
}

/** A merger could not read the repository because its host does not serve. */
class HostTroubleOfMerger extends Error {
  readonly retryable = true;
}

interface ProjectRead {
  readonly project: ProjectKey;
  readonly configs: readonly BranchConfig[];
  readonly existing: ReadonlySet<BranchName>;
  /** null: it has no branches, so no merger was asked. */
  readonly read: ConfigRead | null;
}

/**
 * @returns `host-trouble`, undefined: the project cannot be read, for its host's sake or another reason, which is logged; its known
 *   configuration stays in force.
 */
async function readProject(
  before: TenantConfig['branches'],
  wanted: ConfigurationToRead,
  deps: ReconfigureDeps,
  signal: AbortSignal,
): Promise<ProjectRead | 'host-trouble' | undefined> {
  const known = new Set(before.get(wanted.project)?.keys());
  try {
    const { branches, existing } = await branchesToRead(wanted, known, deps, signal);
    const { configs, tooLarge, read } =
      branches.length === 0 ? NO_CONFIGS : await configsOf(wanted, branches, deps, signal);
    logUnread(wanted.project, branches, configs, tooLarge, deps.log);
    const [culprit] = tooLarge;
    // To begin with no configuration at all would be as if its jobs had been deleted.
    if (culprit !== undefined && configs.length === 0 && known.size === 0)
      throw new Error(tooLargeText(wanted.project, culprit));
    return { project: wanted.project, configs, existing, read };
  } catch (error) {
    signal.throwIfAborted();
    // Not about the project: it is read when the store answers again.
    if (isOutOfContact(error)) throw error;
    deps.log.error(
      { err: error, project: wanted.project },
      `cannot read the configuration of ${wanted.project}; the known configuration stays in force`,
    );
    return isRemoteFault(error) ? 'host-trouble' : undefined;
  }
}

const NO_CONFIGS = { configs: [], tooLarge: [], read: null };

/** Branches named in the log for one reading. */
const MOST_NAMED = 20;

function logUnread(
  project: ProjectKey,
  branches: readonly BranchName[],
  configs: readonly BranchConfig[],
  tooLarge: readonly TooLargeBranch[],
  log: Log,
): void {
  for (const each of tooLarge.slice(0, MOST_NAMED))
    log.warn(
      { project, branch: each.branch, commit: each.commit, branches: tooLarge.length },
      `${tooLargeText(project, each)}; its known configuration stays in force`,
    );
  const read = new Set([...configs, ...tooLarge].map(({ branch }) => branch));
  const gone = branches.filter(branch => !read.has(branch));
  if (gone.length > 0)
    log.info(
      { project, branches: gone.slice(0, MOST_NAMED) },
      `${project} has branches that are gone; their known configuration stays in force`,
    );
}

function tooLargeText(project: ProjectKey, { branch, text }: TooLargeBranch): string {
  return `branch ${branch} of ${project} is ${text}`;
}

/** Where the host's rules select branches, it is asked which they are: a branch may be among them since, or not any more. */
async function branchesToRead(
  { project, branches }: ConfigurationToRead,
  known: ReadonlySet<BranchName>,
  deps: ReconfigureDeps,
  signal: AbortSignal,
): Promise<{ readonly branches: readonly BranchName[]; readonly existing: ReadonlySet<BranchName> }> {
  const selection = branchSelectionOf(deps.tenant.projects.find(each => each.project === project));
  if (branches !== null && selection === undefined)
    return { branches, existing: known.union(new Set(branches)) };
  const listed = await branchesOf(project, selection, deps, signal);
  const existing = new Set(listed);
  return { branches: branches === null ? listed : branches.filter(branch => existing.has(branch)), existing };
}

async function branchesOf(
  project: ProjectKey,
  selection: BranchSelection | undefined,
  deps: ReconfigureDeps,
  signal: AbortSignal,
): Promise<readonly BranchName[]> {
  const connection = deps.connections.get(projectIdOf(project).connection);
  if (connection === undefined)
    throw new Error(`connection ${projectIdOf(project).connection} is not configured`);
  return (await connection.source.branches(project, signal, selection)).map(each => each.branch);
}

async function configsOf(
  wanted: ConfigurationToRead,
  branches: readonly BranchName[],
  deps: ReconfigureDeps,
  signal: AbortSignal,
): Promise<Pick<ProjectRead, 'configs' | 'read'> & { readonly tooLarge: readonly TooLargeBranch[] }> {
  const askedAt = deps.clock.now();
  const extraPaths = extraPathsOf(deps.tenant, wanted.project);
  const request = {
    kind: 'config-files' as const,
    uuid: deps.ids.uuid(),
    tenant: deps.tenant.name,
    requestedAt: askedAt,
    priority: 100,
    project: wanted.project,
    branches,
    atLeast: wanted.atLeast,
    ...(extraPaths.length === 0 ? {} : { extraPaths }),
  };
  const outcome = await askMerger(request, deps, signal);
  if (outcome.kind === 'config-files') {
    const { branches: configs, tooLarge = [], worker, steps } = outcome;
    return {
      configs,
      tooLarge,
      read: { project: wanted.project, askedAt, answeredAt: deps.clock.now(), worker, steps },
    };
  }
  if (outcome.kind !== 'failed') throw new Error(`a merger answered with ${outcome.kind}`);
  throw outcome.trouble === undefined ? new Error(outcome.text) : new HostTroubleOfMerger(outcome.text);
}
