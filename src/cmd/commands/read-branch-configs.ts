/** Configuration files of projects at the tips of their branches, fetched into a temporary directory. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Connection } from '../../driver/connection.ts';
import type { BranchSelection } from '../../driver/source.ts';
import { parseObjectId } from '../../git/objects/object-id.ts';
import { parseRefName } from '../../git/objects/ref-name.ts';
import { createGit } from '../../git/process/git.ts';
import { openRepositoryCache, type RepositoryCache } from '../../git/repository-cache.ts';
import { readConfig } from '../../merger/config-files.ts';
import { configAt } from '../../merger/read-changed-config.ts';
import type { HostTroubleReason } from '../../model/host-trouble.ts';
import type { Tenant } from '../../model/layout.ts';
import type { BranchConfig } from '../../model/merge.ts';
import { type ConnectionName, type ProjectKey, projectIdOf, type TenantName } from '../../model/project.ts';
import { isRemoteFault, troubleOf } from '../../scheduler/remote-fault.ts';
import { branchSelectionOf } from '../../scheduler/tenant/branch-exclusion.ts';
import type { Settings } from '../../settings/settings.ts';
import { gitBounds } from '../service/git-bounds.ts';

/** A project is read whole or not at all. */
export interface ReadConfigs {
  /** The readable projects of each tenant, without branches that the tenant leaves out by the host's rules. */
  readonly configs: ReadonlyMap<TenantName, readonly BranchConfig[]>;
  readonly unreadable: ReadonlySet<ProjectKey>;
  /** One line for each unreadable project, or for each host that does not answer. */
  readonly errors: readonly string[];
}

/** Opens connections that fetch into these mirrors; the caller of the opener closes them. */
export type ConnectionOpener = (
  repositories: RepositoryCache,
) => Promise<ReadonlyMap<ConnectionName, Connection>>;

/**
 * Reads one project after the other; the directory is gone when it returns. A host that does not answer is asked about one project
 * only.
 */
export async function readBranchConfigs(
  { merger }: Pick<Settings, 'merger'>,
  tenants: readonly Tenant[],
  open: ConnectionOpener,
  signal: AbortSignal,
): Promise<ReadConfigs> {
  await using stack = new AsyncDisposableStack();
  const root = await mkdtemp(path.join(tmpdir(), 'gatehouse-check-'));
  stack.defer(() => rm(root, { recursive: true, force: true }));
  const git = createGit({
    identity: { name: merger.gitUserName, email: merger.gitUserEmail },
    ...gitBounds(merger),
  });
  const repositories = stack.use(await openRepositoryCache({ root, git }));
  const connections = await open(repositories);
  for (const connection of connections.values()) stack.defer(() => connection.close());
  const configs = new Map(tenants.map(({ name }) => [name, [] as BranchConfig[]]));
  const failures: Failure[] = [];
  for (const [project, readers] of readersOf(tenants)) {
    const connection = connections.get(projectIdOf(project).connection);
    if (connection === undefined) continue;
    const known = failures.find(({ away, ...each }) => away && each.connection === connection.name);
    if (known !== undefined) {
      failures.push({ ...known, project });
      continue;
    }
    try {
      const found = await readProject(project, readers, { connection, repositories, signal });
      for (const [tenant, its] of found) configs.get(tenant)?.push(...its);
    } catch (error) {
      // An unreachable project is one error; the others are still read.
      if (!(error instanceof Error)) throw error;
      failures.push({ project, connection: connection.name, text: error.message, away: isAway(error) });
    }
  }
  return { configs, unreadable: new Set(failures.map(each => each.project)), errors: errorsOf(failures) };
}

/** A tenant that reads a project, with what the host selects for it. */
interface Reader {
  readonly tenant: TenantName;
  readonly selection: BranchSelection | undefined;
  /** Further places of configuration; the layout chooses those of its tenant. */
  readonly extraPaths: readonly string[];
}

function readersOf(tenants: readonly Tenant[]): ReadonlyMap<ProjectKey, readonly Reader[]> {
  const readers = new Map<ProjectKey, Reader[]>();
  for (const { name, projects } of tenants) {
    for (const each of projects) {
      const { extraConfigPaths: extraPaths = [] } = each;
      const reader = { tenant: name, selection: branchSelectionOf(each), extraPaths };
      readers.set(each.project, [...(readers.get(each.project) ?? []), reader]);
    }
  }
  return readers;
}

interface Failure {
  readonly project: ProjectKey;
  readonly connection: ConnectionName;
  readonly text: string;
  /** It is the host that does not answer. */
  readonly away: boolean;
}

const AWAY: readonly HostTroubleReason[] = ['unreachable', 'limited', 'timeout'];

function isAway(error: Error): boolean {
  return isRemoteFault(error) && AWAY.includes(troubleOf(error).reason);
}

function errorsOf(failures: readonly Failure[]): readonly string[] {
  const groups = Map.groupBy(failures, ({ project, connection, away }) => (away ? connection : project));
  return [...groups].flatMap(([, [first, ...others]]) => {
    if (first === undefined) return [];
    const { project, text } = first;
    const line = text.startsWith(`${project}: `) ? text : `${project}: ${text}`;
    if (others.length === 0) return [line];
    const more = others.length === 1 ? '1 more project was' : `${others.length} more projects were`;
    return [`${line} (${more} not read for it)`];
  });
}

interface ReadDeps {
  readonly connection: Connection;
  readonly repositories: RepositoryCache;
  readonly signal: AbortSignal;
}

async function readProject(
  project: ProjectKey,
  readers: readonly Reader[],
  { connection, repositories, signal }: ReadDeps,
): Promise<ReadonlyMap<TenantName, readonly BranchConfig[]>> {
  const { connection: place, name } = projectIdOf(project);
  const listings = new Map<string, Awaited<ReturnType<Connection['source']['branches']>>>();
  for (const { selection } of readers) {
    const key = JSON.stringify(selection ?? {});
    if (!listings.has(key)) listings.set(key, await connection.source.branches(project, signal, selection));
  }
  const branches = new Map([...listings.values()].flat().map(each => [each.branch, each.commit]));
  const repository = await repositories.repository(place, name);
  const wants = [...branches].map(([branch, commit]) => ({
    ref: parseRefName(`refs/heads/${branch}`),
    commit: parseObjectId(commit),
  }));
  const fetched = await repository.fetch(await connection.remote(project, 'read'), wants);
  if (fetched.kind !== 'fetched') throw new Error(fetched.message);
  const extra = readers.flatMap(each => each.extraPaths);
  const configs = await Promise.all(
    [...branches].map(async ([branch, commit]) => ({
      project,
      branch,
      commit,
      files: await readConfig(repository.reader, await configAt(repository.reader, commit, extra)),
    })),
  );
  return new Map(
    readers.map(({ tenant, selection }) => {
      const listed = new Set(listings.get(JSON.stringify(selection ?? {}))?.map(({ branch }) => branch));
      return [tenant, configs.filter(({ branch }) => listed.has(branch))];
    }),
  );
}
