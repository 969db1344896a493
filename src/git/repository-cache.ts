/**
 * The bare mirrors of all projects, below one directory: `<root>/<connection>/<project>.git`, names encoded by
 * `path-name.ts`. Processes of one machine may share the directory: git's own locks guard the refs, and objects are never
 * removed. All of it can be fetched or computed again, and it may be deleted while no service runs.
 *
 *     const cache = await openRepositoryCache({ root: '/var/lib/gatehouse/git', git: createGit({ identity }) });
 *     const repository = await cache.repository('github', 'acme/app');
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureMirror } from './disk/mirror-directory.ts';
import { pathName } from './disk/path-name.ts';
import type { MergeTreeMode } from './merge/merge-tree.ts';
import { probeMergeTree } from './merge/probe-merge-tree.ts';
import { createCoprocessBudget } from './process/coprocess-budget.ts';
import type { Git } from './process/git.ts';
import { openRepository, type Repository, type RepositoryCounters } from './repository.ts';
import { createUploadPackHost, type UploadPackHost } from './wire/upload-pack-host.ts';

/** All mirrors of one process, each opened with its first use; closing the cache closes them. */
export interface RepositoryCache extends AsyncDisposable {
  /** The mirror of a project, made (empty) when there is none. */
  repository(connection: string, project: string): Promise<Repository>;
  /** Sums over all repositories, and git processes started. */
  counters(): CacheCounters;
  /** Ends all coprocesses after their open questions. */
  close(): Promise<void>;
}

interface CacheCounters extends RepositoryCounters {
  readonly spawns: number;
}

/** Of one process: others that share the directory may have their own. */
export interface RepositoryCacheOptions {
  /** Absolute path; made when missing. */
  readonly root: string;
  readonly git: Git;
  /** How merges are run; default: found by trying. */
  readonly mergeTreeMode?: MergeTreeMode;
  /** Coprocesses alive at a time, over all repositories; default 64, each with some 10 MB. */
  readonly coprocesses?: number;
  /** Closed with the cache; default: one of its own. */
  readonly host?: UploadPackHost;
  /** Reports trouble that fails no call; default: not reported. */
  readonly warn?: (facts: object, text: string) => void;
}

/** @throws Error when git is older than 2.38, or the directory cannot be made. */
export async function openRepositoryCache(options: RepositoryCacheOptions): Promise<RepositoryCache> {
  const { git, root } = options;
  await mkdir(root, { recursive: true });
  const mergeTreeMode = options.mergeTreeMode ?? (await probeMergeTree(git));
  const budget = createCoprocessBudget(options.coprocesses ?? 64);
  const host = options.host ?? createUploadPackHost({ proxied: git.isProxied });
  const warn = options.warn ?? (() => undefined);
  const opened = new Map<string, Promise<Repository>>();
  const ready: Repository[] = [];

  async function open(path: string): Promise<Repository> {
    await ensureMirror(path);
    const repository = openRepository({ git, path, mergeTreeMode, budget, host, warn });
    ready.push(repository);
    return repository;
  }

  function total(count: (counters: RepositoryCounters) => number): number {
    return ready.reduce((sum, repository) => sum + count(repository.counters()), 0);
  }

  async function close(): Promise<void> {
    host.close();
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
