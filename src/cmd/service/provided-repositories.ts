/** The executor's source of commits: its mirrors, the code hosts of the connections, and the queue items in the store. */
import { findRemote } from '../../driver/find-remote.ts';
import type { Repositories } from '../../executor/deps.ts';
import { obtainedRepositories } from '../../executor/obtain-commit.ts';
import type { RepositoryCache } from '../../git/repository-cache.ts';
import { queueItemCodec } from '../../model/codec/records.ts';
import type { Store } from '../../store/port.ts';
import { readNow } from '../../store/read-now.ts';
import type { WorkerCore } from './worker-core.ts';

/**
 * @param store the executor's session: a worker that read the request through it also finds the item.
 * @param repositories the executor's mirrors.
 */
export function providedRepositories(
  { paths, connections }: Pick<WorkerCore, 'paths' | 'connections'>,
  store: Store,
  repositories: RepositoryCache,
): Repositories {
  return obtainedRepositories({
    repositories,
    remote: findRemote(connections),
    async readItem({ tenant, pipeline, item }) {
      // This session has seen the request, and the item was written no later.
      const path = paths.pipeline(tenant, pipeline).item(item);
      const node = await readNow(store, () => store.get(path));
      return node === undefined ? undefined : queueItemCodec.decode(node.data);
    },
  });
}
