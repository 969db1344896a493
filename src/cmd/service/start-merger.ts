import { findRemote } from '../../driver/find-remote.ts';
import { pause } from '../../lib/pause.ts';
import { createMerger } from '../../merger/merger.ts';
import { createStoreRequests } from '../../merger/store-requests.ts';
import { mergerRequestCodec } from '../../model/codec/records.ts';
import { RequestQueue } from '../../store/request-queue.ts';
import type { Component } from './core.ts';
import type { WorkerCore } from './worker-core.ts';
import { workerRoom } from './worker-room.ts';
import { startGivingSigns } from './worker-signs.ts';

/** Milliseconds `close` waits for pending answers; a fetch may take minutes, and another merger then serves its request. */
const CLOSE_GRACE = 2_000;

/** Takes requests when it returns, unless it is paused. @throws StoreError when the session is lost before. */
export async function startMerger(core: WorkerCore): Promise<Component> {
  const store = await core.session();
  const queue = new RequestQueue({ store, path: core.paths.requests('merge'), codec: mergerRequestCodec });
  await queue.prepare();
  const log = core.log.child({ component: 'merger' });
  const merger = createMerger({
    clock: core.clock,
    log,
    repositories: core.repositories,
    remote: findRemote(core.connections),
    requests: createStoreRequests({ store, paths: core.paths, queue, clock: core.clock, worker: core.host }),
    worker: core.host,
    room: workerRoom([core.settings.merger.gitDir], log, core.trouble),
  });
  const stopGivingSigns = await startGivingSigns(core, store, log, 'merges', merger.work);
  if (core.paused) merger.pause();
  return {
    name: 'merger',
    ended: merger.ended,
    notReady: () => undefined,
    pause: () => merger.pause(),
    resume: () => merger.resume(),
    drain: () => merger.close(),
    async close() {
      const enough = new AbortController();
      await Promise.race([merger.close(), pause(CLOSE_GRACE, enough.signal)]);
      enough.abort();
      await stopGivingSigns();
      await store.close();
    },
  };
}
