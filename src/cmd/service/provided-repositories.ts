/**
 * The executor's source of commits: the mirrors of this machine, which its merger filled. A commit that is not there ends the build as
 * RETRY with this reason; nothing is fetched, because in one process there is nowhere else to fetch it from.
 */
import type { Repositories } from '../../executor/deps.ts';
import { parseObjectId } from '../../git/object-id.ts';
import type { RepositoryCache } from '../../git/repository-cache.ts';
import { projectIdOf } from '../../model/project.ts';

export function providedRepositories({
  repositories,
}: {
  readonly repositories: RepositoryCache;
}): Repositories {
  return {
    async provide({ project, remote, commit }) {
      const { connection, name } = projectIdOf(project);
      const repository = await repositories.repository(connection, name);
      const id = parseObjectId(commit);
      if ((await repository.reader.missing([id])).length === 0)
        return { kind: 'ready', gitDir: repository.path, fetched: false };
      return {
        kind: 'unavailable',
        reason: `commit ${commit} of ${project} is not in the mirror ${repository.path} (wanted from ${remote})`,
      };
    },
  };
}
