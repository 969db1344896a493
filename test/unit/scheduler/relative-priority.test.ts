import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { projectKey } from '../../../src/model/project.ts';
import { rankOf, ranksOf } from '../../../src/pipeline/relative-priority.ts';
import { priorityOf } from '../../../src/scheduler/turn/merge-requests.ts';
import { createPriorityRevision } from '../../../src/scheduler/turn/revise-priorities.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import type { Store } from '../../../src/store/port.ts';
import { RequestQueue } from '../../../src/store/request-queue.ts';
import { createRequestWorker } from '../../../src/store/request-worker.ts';
import { job, nameOf, World } from '../pipeline/world.ts';
import { manualClock } from '../store/test-bench.ts';

interface Request {
  readonly uuid: string;
  readonly priority: number;
}

const codec = {
  encode: (request: Request) => new TextEncoder().encode(JSON.stringify(request)),
  decode: (bytes: Uint8Array): Request => JSON.parse(new TextDecoder().decode(bytes)),
};

let server: EmbeddedStore;
let store: Store;
beforeEach(() => {
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
});
afterEach(async () => {
  await server.close();
});

test('a rank is the index below 10, then one for each ten, then one for each hundred', () => {
  expect([0, 1, 9, 10, 19, 20, 99, 100, 199, 200, 999].map(rankOf)).toEqual([
    0, 1, 9, 10, 10, 11, 18, 19, 19, 20, 27,
  ]);
  expect(priorityOf('high') + rankOf(1_000_000)).toBeLessThan(priorityOf('normal'));
});

/** A and B of one project, C and D of others, in check, with all their builds asked for. */
function checkOfThreeProjects() {
  const world = new World();
  const check = world.pipeline('check');
  for (const project of ['app', 'lib', 'tool']) world.jobs(project, [job('test')]);
  world.change('A', { project: 'app' });
  world.change('B', { project: 'app' });
  world.change('C', { project: 'lib' });
  world.change('D', { project: 'tool' });
  for (const name of ['A', 'B', 'C', 'D']) check.enqueue(name);
  while (check.merges.length > 0) check.turn(check.merges.map(merge => check.mergeEvent(merge)));
  return { world, check };
}

describe('with relative_priority', () => {
  test('the second change of a project stands behind the first one of every project', () => {
    const { check } = checkOfThreeProjects();
    const ranks = ranksOf(check.state, item => item.changes[0].project);
    const named = [...ranks].map(([uuid, rank]) => [
      nameOf(check.state.items.get(uuid) ?? check.item('A')),
      rank,
    ]);
    expect(named).toEqual([
      ['A', 0],
      ['B', 1],
      ['C', 0],
      ['D', 0],
    ]);
    expect([
      ...ranksOf(check.state, () => projectKey({ connection: 'local', name: 'all' })).values(),
    ]).toEqual([0, 1, 2, 3]);
  });

  test('one slot serves A, C, B, D: B moves up when A has left, and keeps its age', async () => {
    const { world, check } = checkOfThreeProjects();
    const requests = new RequestQueue<Request>({ store, path: '/requests/build/default', codec });
    await requests.prepare();
    const relativeGroup = (item: ReturnType<typeof check.item>) => item.changes[0].project;
    const context = { buildRequests: requests, relativeGroup, pipeline: check.pipeline, ids: world.ids };
    const fence = {
      commit: async (operations: Parameters<Store['multi']>[0]) => ({
        kind: 'committed' as const,
        results: await store.multi(operations),
      }),
    };
    const ranks = ranksOf(check.state, relativeGroup);
    for (const { build, item } of check.builds)
      await store.multi(requests.submit({ uuid: build, priority: 200 + (ranks.get(item.uuid) ?? 0) }));
    const worker = createRequestWorker(requests, { worker: 'one-slot', clock: manualClock() });
    const revise = createPriorityRevision();
    const served: string[] = [];
    let claim = await worker.next(AbortSignal.timeout(20_000));
    for (let left = 4; left > 0; left--) {
      const build = check.builds.find(each => each.build === claim.request.uuid);
      if (build === undefined) throw new Error(`no build ${claim.request.uuid}`);
      served.push(nameOf(build.item));
      check.turn([check.startEvent(build)]);
      await claim.complete([]);
      // The slot is free at once; the scheduler hears of the result afterwards.
      if (left > 1) claim = await worker.next(AbortSignal.timeout(20_000));
      check.turn([check.resultEvent(build, 'SUCCESS')]);
      for (const report of check.reports) check.turn([check.reportEvent(report)]);
      await revise(check.state, context, fence);
    }
    expect(served).toEqual(['A', 'C', 'B', 'D']);
  });
});
