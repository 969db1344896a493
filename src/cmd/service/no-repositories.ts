import type { RepositoryCache } from '../../git/repository-cache.ts';

/** For connections that are opened only to read their options. @param why begins the error if one uses git after all. */
export function noRepositories(why: string): RepositoryCache {
  return {
    repository: (connection, project) =>
      Promise.reject(new Error(`${why}, but ${connection} wanted the repository ${project}`)),
    counters: () => ({ fetches: 0, listings: 0, pushes: 0, merges: 0, spawns: 0 }),
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
