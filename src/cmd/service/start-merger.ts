import { createMerger } from '../../merger/merger.ts';
import { createStoreRequests } from '../../merger/store-requests.ts';
import { mergerRequestCodec } from '../../model/codec/records.ts';
import { projectIdOf } from '../../model/project.ts';
import { RequestQueue } from '../../store/request-queue.ts';
import type { Component, Core } from './core.ts';

export async function startMerger(core: Core): Promise<Component> {
  const store = core.session();
  const queue = new RequestQueue({ store, path: core.paths.requests('merge'), codec: mergerRequestCodec });
  await queue.prepare();
  const merger = createMerger({
    clock: core.clock,
    log: core.log.child({ component: 'merger' }),
    repositories: core.repositories,
    remote: project => core.connections.get(projectIdOf(project).connection)?.remote(project),
    requests: createStoreRequests({ store, paths: core.paths, queue, clock: core.clock, worker: core.host }),
    worker: core.host,
  });
  return {
    name: 'merger',
    ended: merger.ended,
    notReady: () => undefined,
    async close() {
      await merger.close();
      await store.close();
    },
  };
}
