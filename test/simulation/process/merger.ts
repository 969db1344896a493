/** A merger process: the real end of the store, a made-up git. */

import { pause } from '../../../src/lib/pause.ts';
import { createWorkCount } from '../../../src/lib/work-count.ts';
import type { ClaimedRequest } from '../../../src/merger/deps.ts';
import { createStoreRequests } from '../../../src/merger/store-requests.ts';
import { mergerRequestCodec } from '../../../src/model/codec/records.ts';
import type { MergerOutcome } from '../../../src/model/merge.ts';
import type { ProjectKey } from '../../../src/model/project.ts';
import type { Step } from '../../../src/model/step.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { RequestQueue } from '../../../src/store/request-queue.ts';
import { giveSigns } from '../../../src/store/signs-of-life.ts';
import { RemoteTrouble } from '../host/remote-call.ts';
import type { Incarnation } from '../kernel/incarnation.ts';
import type { ProcessParts } from './parts.ts';
import { projectsOf, serveMerge, tipsOf } from './serve-merge.ts';

const AT_ONCE = 8;

export async function runMerger(life: Incarnation, parts: ProcessParts, stop: AbortSignal): Promise<void> {
  const { host, call, paths } = parts;
  const store = parts.connect(life);
  const queue = new RequestQueue({ store, path: paths.requests('merge'), codec: mergerRequestCodec });
  await queue.prepare(stop);
  const requests = createStoreRequests({ store, paths, queue, clock: life.clock, worker: life.name });
  const working = new Set<Promise<void>>();
  await ensureNode(store, paths.signs);
  const signs = { store, path: paths.sign(store.sessionId), clock: life.clock };
  const count = createWorkCount();
  life.background(giveSigns({ ...signs, work: count }, stop));

  async function answer({ request }: ClaimedRequest): Promise<MergerOutcome> {
    const startedAt = life.clock.now();
    const steps = (): readonly Step[] => [
      { kind: 'FetchRefs', subject: request.tenant, startedAt, endedAt: life.clock.now() },
    ];
    try {
      const tips = new Map<ProjectKey, ReturnType<typeof tipsOf>>();
      for (const project of projectsOf(request))
        tips.set(project, await call(life, 'host', `tips ${project}`, () => tipsOf(host, project)));
      await pause(life.random.range(5, 80), stop);
      return serveMerge(request, tips, host, { clock: life.clock, worker: life.name, steps: steps() });
    } catch (error) {
      if (!(error instanceof RemoteTrouble)) throw error;
      return { kind: 'failed', text: error.message, retryable: true, steps: steps(), worker: life.name };
    }
  }

  async function serve(claimed: ClaimedRequest): Promise<void> {
    using _work = count.hold();
    await claimed.complete(await answer(claimed));
  }

  while (!stop.aborted) {
    for (const claimed of await requests.claim(AT_ONCE - working.size, stop)) {
      const work = serve(claimed).finally(() => working.delete(work));
      life.background(work);
      working.add(work);
    }
    if (working.size >= AT_ONCE) await Promise.race(working);
  }
  await Promise.all(working);
  await store.close();
}
