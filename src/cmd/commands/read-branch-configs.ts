/** Configuration files of projects at the tips of their branches, fetched into a temporary directory. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Connection } from '../../driver/connection.ts';
import { createGit } from '../../git/git.ts';
import { parseObjectId } from '../../git/object-id.ts';
import { parseRefName } from '../../git/ref-name.ts';
import { openRepositoryCache, type RepositoryCache } from '../../git/repository-cache.ts';
import { readConfig } from '../../merger/config-files.ts';
import { configAt } from '../../merger/read-changed-config.ts';
import type { BranchConfig } from '../../model/merge.ts';
import { type ConnectionName, type ProjectKey, projectIdOf } from '../../model/project.ts';
import type { Settings } from '../../settings/settings.ts';
import { gitBounds } from '../service/git-bounds.ts';

/** All branches of the readable projects; a project is read whole or not at all. */
export interface ReadConfigs {
  readonly configs: readonly BranchConfig[];
  readonly unreadable: ReadonlySet<ProjectKey>;
  /** One line for each unreadable project. */
  readonly errors: readonly string[];
}

/** Opens connections that fetch into these mirrors; the caller of the opener closes them. */
export type ConnectionOpener = (repositories: RepositoryCache) => ReadonlyMap<ConnectionName, Connection>;

/**
 * Reads one project after the other; the directory is gone when it returns.
 *
 * @param projects those of an unknown connection are skipped.
 */
export async function readBranchConfigs(
  { merger }: Pick<Settings, 'merger'>,
  projects: ReadonlySet<ProjectKey>,
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
  const connections = open(repositories);
  for (const connection of connections.values()) stack.defer(() => connection.close());
  const configs: BranchConfig[] = [];
  const errors: string[] = [];
  const unreadable = new Set<ProjectKey>();
  for (const project of projects) {
    const connection = connections.get(projectIdOf(project).connection);
    if (connection === undefined) continue;
    try {
      configs.push(...(await readProject(project, connection, repositories, signal)));
    } catch (error) {
      // An unreachable project is one error; the others are still read.
      if (!(error instanceof Error)) throw error;
      unreadable.add(project);
      errors.push(error.message.startsWith(`${project}: `) ? error.message : `${project}: ${error.message}`);
    }
  }
  return { configs, unreadable, errors };
}

async function readProject(
  project: ProjectKey,
  connection: Connection,
  repositories: RepositoryCache,
  signal: AbortSignal,
): Promise<readonly BranchConfig[]> {
  const { connection: place, name } = projectIdOf(project);
  const branches = await connection.source.branches(project, signal);
  const repository = await repositories.repository(place, name);
  const wants = branches.map(({ branch, commit }) => ({
    ref: parseRefName(`refs/heads/${branch}`),
    commit: parseObjectId(commit),
  }));
  const fetched = await repository.fetch(await connection.remote(project, 'read'), wants);
  if (fetched.kind !== 'fetched') throw new Error(fetched.message);
  return Promise.all(
    branches.map(async ({ branch, commit }) => ({
      project,
      branch,
      commit,
      files: await readConfig(repository.reader, await configAt(repository.reader, commit)),
    })),
  );
}
