/**
 * The bare mirrors of all projects, below one directory: `<root>/<connection>/<project>.git`, names encoded by
 * `path-name.ts`. The directory belongs to one process at a time; it holds nothing that cannot be fetched or computed again,
 * and may be deleted while the process is down.
 *
 *     const cache = await openRepositoryCache({ root: '/var/lib/gatehouse/git', git: createGit({ identity }) });
 *     const repository = await cache.repository('github', 'acme/app');
 */
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Git } from './git.ts';
import type { MergeTreeMode } from './merge-tree.ts';
import { pathName } from './path-name.ts';
import { probeMergeTree } from './probe-merge-tree.ts';
import { openRepository, type Repository, type RepositoryCounters } from './repository.ts';

export interface RepositoryCache extends AsyncDisposable {
  /** The mirror of a project, made (empty) when there is none. */
  repository(connection: string, project: string): Promise<Repository>;
  /** Sums over all repositories, and git processes started. */
  counters(): CacheCounters;
  /** Ends all coprocesses after their open questions. */
  close(): Promise<void>;
}

export interface CacheCounters extends RepositoryCounters {
  readonly spawns: number;
}

export interface RepositoryCacheOptions {
  /** Absolute path; made when missing. */
  readonly root: string;
  readonly git: Git;
  /** How merges are asked for; default: found out by trying. */
  readonly mergeTreeMode?: MergeTreeMode;
}

export async function openRepositoryCache(options: RepositoryCacheOptions): Promise<RepositoryCache> {
  const { git, root } = options;
  await mkdir(root, { recursive: true });
  const mode = options.mergeTreeMode ?? (await probeMergeTree(git));
  const opened = new Map<string, Promise<Repository>>();
  const ready: Repository[] = [];

  async function open(path: string): Promise<Repository> {
    await ensureMirror(path);
    const repository = openRepository(git, path, mode);
    ready.push(repository);
    return repository;
  }

  function total(count: (counters: RepositoryCounters) => number): number {
    return ready.reduce((sum, repository) => sum + count(repository.counters()), 0);
  }

  async function close(): Promise<void> {
    await Promise.allSettled(opened.values());
    await Promise.all(ready.map(repository => repository.close()));
  }

  return {
    repository(connection, project) {
      const path = join(root, pathName(connection), `${pathName(project)}.git`);
      const known = opened.get(path);
      if (known !== undefined) return known;
      const repository = open(path);
      opened.set(path, repository);
      // A disk that is full now may not be at the next call.
      repository.catch(() => opened.delete(path));
      return repository;
    },
    counters: () => ({
      fetches: total(counters => counters.fetches),
      listings: total(counters => counters.listings),
      pushes: total(counters => counters.pushes),
      merges: total(counters => counters.merges),
      spawns: git.spawns(),
    }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Commits are fetched from here by id; nothing here is ever checked out or hooked. */
const CONFIG = `[core]
\trepositoryformatversion = 0
\tfilemode = true
\tbare = true
\tlogAllRefUpdates = false
[uploadpack]
\tallowAnySHA1InWant = true
`;

/** Makes the mirror if there is none, whole or not at all, and removes what a killed git left in one that is there. */
async function ensureMirror(path: string): Promise<void> {
  if (await exists(join(path, 'HEAD'))) return removeStaleLocks(path);
  const temporary = `${path}.new`;
  await rm(temporary, { recursive: true, force: true });
  await mkdir(join(temporary, 'objects', 'info'), { recursive: true });
  await mkdir(join(temporary, 'objects', 'pack'), { recursive: true });
  await mkdir(join(temporary, 'refs', 'heads'), { recursive: true });
  await writeFile(join(temporary, 'config'), CONFIG);
  // HEAD names a branch that never exists here: our refs are below refs/tips.
  await writeFile(join(temporary, 'HEAD'), 'ref: refs/heads/none\n');
  await rename(temporary, path);
}

/** Lock files outlive a killed process and would stop every later fetch. */
async function removeStaleLocks(path: string): Promise<void> {
  const places = [path, ...['tips', 'notes'].map(name => join(path, 'refs', name))];
  for (const place of places) {
    const names = (await exists(place)) ? await readdir(place) : [];
    for (const name of names.filter(each => each.endsWith('.lock')))
      await rm(join(place, name), { force: true });
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
