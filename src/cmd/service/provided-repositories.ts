/** The executor's source of commits: its mirrors, the code hosts of the connections, and the queue items in the store. */
import { findRemote } from '../../driver/find-remote.ts';
import { borrowAccess } from '../../executor/borrow-access.ts';
import type { Repositories } from '../../executor/deps.ts';
import { obtainedRepositories } from '../../executor/obtain-commit.ts';
import type { RepositoryCache } from '../../git/repository-cache.ts';
import { queueItemCodec } from '../../model/codec/records.ts';
import { projectIdOf } from '../../model/project.ts';
import { withRecipe } from '../../store/chain-recipe.ts';
import type { Store } from '../../store/port.ts';
import { readNow } from '../../store/read-now.ts';
import type { WorkerCore } from './worker-core.ts';

/**
 * @param store the executor's session: a worker that read the request through it also finds the item, and it holds the claims.
 * @param repositories the executor's mirrors.
 */
export function providedRepositories(
  core: Pick<WorkerCore, 'paths' | 'connections' | 'ids'>,
  store: Store,
  repositories: RepositoryCache,
): Repositories {
  const { paths, connections, ids } = core;
  const own = findRemote(connections);
  return obtainedRepositories({
    repositories,
    async remote(project, build, time) {
      const remote = await own(project);
      if (connections.get(projectIdOf(project).connection)?.borrowsAccess !== true || 'trouble' in remote)
        return remote;
      const borrowed = await time('BuildRepoAccess', () =>
        borrowAccess({ store, paths, ids }, build.uuid, project),
      );
      return 'trouble' in borrowed ? borrowed : { ...remote, headers: borrowed.headers };
    },
    async readItem({ tenant, pipeline, item }) {
      // This session has seen the request, and the item was written no later.
      const path = paths.pipeline(tenant, pipeline).item(item);
      const node = await readNow(store, () => store.get(path));
      return node === undefined ? undefined : withRecipe(store, paths, queueItemCodec.decode(node.data));
    },
  });
}
