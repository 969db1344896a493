import { describe, expect, test } from 'vitest';
import type { Uuid } from '../../../../src/lib/ids.ts';
import {
  buildRequestCodec,
  chainRecipeCodec,
  jobGraphCodec,
  layoutSummaryCodec,
  mergerRequestCodec,
  pipelineEventCodec,
  queueItemCodec,
} from '../../../../src/model/codec/records.ts';
import type { PipelineEvent } from '../../../../src/model/event.ts';
import type { MergedBranch } from '../../../../src/model/merge.ts';
import { parseCommitId } from '../../../../src/model/project.ts';
import { createSweep } from '../../../../src/scheduler/care/sweeper.ts';
import { openChangeCache } from '../../../../src/scheduler/changes/change-cache.ts';
import type { SchedulerShared } from '../../../../src/scheduler/shared.ts';
import { createJobGraphs } from '../../../../src/scheduler/turn/job-graphs.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { create, remove, set } from '../../../../src/store/port.ts';
import { RequestQueue } from '../../../../src/store/request-queue.ts';
import { gatePipeline } from '../../../fake/pipeline.ts';
import { APP, itemStory, jobNode, proposedChange } from '../../../fake/queue-item.ts';
import { emptyBuildRequest, emptyLayout } from '../../../fake/records.ts';
import { openStand, type Stand } from '../stand.ts';

const HOUR = 3_600_000;

async function open(stand: Stand, name = 'sweeper') {
  const { store, paths, clock } = stand;
  for (const path of [paths.blobs, paths.tenants, paths.changeCache('local')]) await ensureNode(store, path);
  for (const path of Object.values(paths.pipeline('acme', 'gate'))) {
    if (typeof path === 'string') await ensureNode(store, path);
  }
  const mergeRequests = new RequestQueue({ store, path: '/merge', codec: mergerRequestCodec });
  const buildRequests = new RequestQueue({ store, path: '/build', codec: buildRequestCodec });
  await mergeRequests.prepare();
  await buildRequests.prepare();
  const shared = {
    deps: { ...stand, connections: new Map() },
    mergeRequests,
    buildRequests,
    changes: await openChangeCache(['local'], store, paths, () => {}),
  } as unknown as SchedulerShared;
  const events = new EventQueue({
    store,
    path: paths.pipeline('acme', 'gate').eventQueue,
    codec: pipelineEventCodec,
    clock,
  });
  return { shared, events, sweep: createSweep(shared, await stand.fence(name)) };
}

const GRAPH = { jobs: [] };
const COMMIT = parseCommitId('c'.repeat(40));
const MERGED = {
  ...{ project: APP, branch: 'main', base: COMMIT, commit: COMMIT, tree: COMMIT },
  ...{ before: COMMIT, beforeTree: null, inputs: [] },
};

function mergedEvent(stand: Stand, branches: readonly MergedBranch[]): PipelineEvent {
  const work = { filesChanged: [], config: [], heads: [], steps: [], worker: 'merger1' };
  const [uuid, item, buildset, request] = [0, 1, 2, 3].map(() => stand.ids.uuid()) as [
    Uuid,
    Uuid,
    Uuid,
    Uuid,
  ];
  const outcome = { kind: 'merged', branches, ...work } as const;
  return { kind: 'merger-result', uuid, item, buildset, request, at: stand.clock.now(), outcome };
}

/** An item of the stored pipeline that names the graph. */
async function storeItem(stand: Stand, blob: string) {
  const { item } = itemStory()
    .merge()
    .wait(1)
    .merged()
    .freeze([jobNode('unit')]);
  const { stage } = item.buildset;
  if (stage.state !== 'running') throw new Error(`the story is in ${stage.state}`);
  const named = {
    ...item,
    buildset: { ...item.buildset, stage: { ...stage, graph: { ...stage.graph, blob } } },
  };
  const path = stand.paths.pipeline('acme', 'gate').item(item.uuid);
  await stand.store.multi([create(path, queueItemCodec.encode(named))]);
  return path;
}

describe('the recipe of a chain', () => {
  test('stays while an answer or an item names it; unused ones go together, with the second sweep after', async () => {
    await using stand = openStand();
    const { shared, events } = await open(stand);
    const fence = await stand.fence('other');
    const commits: number[] = [];
    const sweep = createSweep(shared, {
      commit: (operations: Parameters<typeof fence.commit>[0], id: string) => {
        const removed = operations.filter(({ path }) => path.startsWith(stand.paths.blobs)).length;
        if (removed > 0) commits.push(removed);
        return fence.commit(operations, id);
      },
    } as typeof fence);
    const recipes = ['a', 'b', 'c'].map(digit => digit.repeat(64));
    const bytes = chainRecipeCodec.encode({ request: stand.ids.uuid(), branches: [] });
    await stand.store.multi(recipes.map(recipe => create(stand.paths.blob(recipe), bytes)));
    const branches = recipes.map(recipe => ({ ...MERGED, recipe }));
    await stand.store.multi(events.put(mergedEvent(stand, branches)));
    for (let sweeps = 0; sweeps < 3; sweeps++) await sweep();
    expect(await stand.store.children(stand.paths.blobs)).toEqual(recipes);

    const { item } = itemStory();
    const tested = { branches, heads: [] };
    const path = stand.paths.pipeline('acme', 'gate').item(item.uuid);
    const named = { ...item, buildset: { ...item.buildset, stage: { state: 'merged', tested } as const } };
    const [event] = await events.list();
    if (event === undefined) throw new Error('no event');
    await stand.store.multi([create(path, queueItemCodec.encode(named)), events.ack(event)]);
    for (let sweeps = 0; sweeps < 3; sweeps++) await sweep();
    expect(await stand.store.children(stand.paths.blobs)).toEqual(recipes);

    await stand.store.multi([remove(path)]);
    await sweep();
    expect(commits).toEqual([]);
    await sweep();
    expect(commits).toEqual([3]);
    expect(await stand.store.children(stand.paths.blobs)).toEqual([]);
  });
});

describe('a job graph', () => {
  test('that an item names stays, in the pipeline of any scheduler; it goes with the second sweep after', async () => {
    await using stand = openStand();
    const { sweep } = await open(stand);
    const graphs = createJobGraphs(stand.store, stand.paths);
    const blob = graphs.put(GRAPH);
    await graphs.flush();
    const item = await storeItem(stand, blob);
    for (let sweeps = 0; sweeps < 3; sweeps++) await sweep();
    expect(await stand.store.children(stand.paths.blobs)).toEqual([blob]);
    await stand.store.multi([remove(item)]);
    await sweep();
    expect(await stand.store.children(stand.paths.blobs)).toEqual([blob]);
    await sweep();
    expect(await stand.store.children(stand.paths.blobs)).toEqual([]);
  });

  test('that a turn takes up again is not removed, even by a sweep that has found it unused', async () => {
    await using stand = openStand();
    const { shared } = await open(stand);
    await stand.store.multi([create(stand.paths.blob('ab'), jobGraphCodec.encode(GRAPH))]);
    const graphs = createJobGraphs(stand.store, stand.paths);
    const blob = graphs.put(GRAPH);
    await stand.store.multi([create(stand.paths.blob(blob), jobGraphCodec.encode(GRAPH))]);
    const fence = await stand.fence('other');
    let turn = async () => {};
    const sweep = createSweep(shared, {
      commit: async (operations: Parameters<typeof fence.commit>[0], id: string) => {
        await turn();
        return fence.commit(operations, id);
      },
    } as typeof fence);
    await sweep();
    // Between the sweep's look and its removal a turn commits with the graph.
    turn = async () => {
      turn = async () => {};
      await stand.store.multi([...(await graphs.flush())]);
    };
    await sweep();
    expect(await stand.store.children(stand.paths.blobs)).toContain(blob);
  });

  test('swept between its writing and the commit that names it makes that commit fail', async () => {
    await using stand = openStand();
    await open(stand);
    const graphs = createJobGraphs(stand.store, stand.paths);
    const blob = graphs.put(GRAPH);
    const guards = await graphs.flush();
    await stand.store.multi([remove(stand.paths.blob(blob))]);
    await expect(stand.store.multi(guards)).rejects.toThrow('NoNode');
  });

  test('stays while anything in the store cannot be read', async () => {
    await using stand = openStand();
    const { sweep } = await open(stand);
    const graphs = createJobGraphs(stand.store, stand.paths);
    const blob = graphs.put(GRAPH);
    await graphs.flush();
    const { item } = stand.paths.pipeline('acme', 'gate');
    const newer = new TextEncoder().encode('{"k":"queue-item","v":99,"d":{}}');
    await stand.store.multi([create(item(stand.ids.uuid()), newer)]);
    for (let sweeps = 0; sweeps < 3; sweeps++) await sweep();
    expect(await stand.store.children(stand.paths.blobs)).toEqual([blob]);
  });
});

test('a closed change that an item of any pipeline holds stays in the cache', async () => {
  await using stand = openStand();
  const { sweep, shared } = await open(stand);
  const rest = { dependsOn: [], unresolvedDependencies: [], facts: {} };
  const fetchedAt = stand.clock.now();
  const { item } = itemStory();
  const records = [item.changes[0], proposedChange('master/unheld')].map(
    change => ({ change, status: 'merged', ...rest, fetchedAt }) as const,
  );
  await stand.store.multi(shared.changes.operations(records));
  await storeItem(stand, 'ab');
  stand.clock.advance(2 * HOUR);
  await sweep();
  await shared.changes.fresh();
  expect([...shared.changes.all()].map(({ change }) => change.key)).toEqual([item.changes[0].key]);
});

test('the notes of our own landings are removed after hours', async () => {
  await using stand = openStand();
  const { sweep } = await open(stand);
  const { landings } = stand.paths;
  await ensureNode(stand.store, landings);
  const note = (time: string) =>
    create(`${landings}/c-${time}-`, new TextEncoder().encode(time), { sequential: true });
  await stand.store.multi([note(stand.clock.now())]);
  stand.clock.advance(7 * HOUR);
  const fresh = stand.clock.now();
  await stand.store.multi([note(fresh)]);
  await sweep();
  const left = await stand.store.children(landings);
  expect(left).toHaveLength(1);
  expect(left?.[0]).toContain(fresh);
});

describe('a removed pipeline or tenant', () => {
  async function storeLayout(stand: Stand, pipelines: readonly ReturnType<typeof gatePipeline>[]) {
    const { layout } = stand.paths.tenant('acme');
    await ensureNode(stand.store, layout);
    await stand.store.multi([set(layout, layoutSummaryCodec.encode(emptyLayout({ pipelines })))]);
  }

  const EVENT = { kind: 'dequeue', change: proposedChange('master/a').key, by: 'ops' } as const;

  test('is removed with its pipeline: events, requests, reports', async () => {
    await using stand = openStand();
    const { sweep, shared, events } = await open(stand);
    const outbox = stand.paths.reportOutbox('acme', 'gate');
    await ensureNode(stand.store, outbox);
    const { ids } = stand;
    const request = emptyBuildRequest({ uuid: ids.uuid(), item: ids.uuid(), buildset: ids.uuid() });
    await stand.store.multi([
      ...events.put({ ...EVENT, uuid: stand.ids.uuid() }),
      ...shared.buildRequests.submit(request),
      create(`${outbox}/1-1-`, new Uint8Array([1]), { sequential: true }),
    ]);
    await storeLayout(stand, [gatePipeline()]);
    await sweep();
    expect(await events.depth()).toBe(1);
    expect(await shared.buildRequests.list()).toHaveLength(1);
    await storeLayout(stand, []);
    await sweep();
    expect(await events.depth()).toBe(0);
    expect(await shared.buildRequests.list()).toEqual([]);
    expect(await stand.store.children(outbox)).toEqual([]);
  });

  test('leaves no answers without a reader', async () => {
    await using stand = openStand();
    const { sweep } = await open(stand);
    const { answers, answer, epoch, lock } = stand.paths.tenant('acme');
    for (const path of [answers, epoch, lock]) await ensureNode(stand.store, path);
    await stand.store.multi([create(answer('one')), create(`${lock}/holder`)]);
    await sweep();
    expect(await stand.store.children(answers)).toEqual(['one']);
    await stand.store.multi([remove(`${lock}/holder`)]);
    await sweep();
    expect(await stand.store.children(answers)).toEqual([]);
  });

  test('two sweepers at once are no trouble', async () => {
    await using stand = openStand();
    const [one, two] = [await open(stand), await open(stand, 'another')];
    await storeLayout(stand, []);
    for (let made = 0; made < 20; made++)
      await stand.store.multi(one.events.put({ ...EVENT, uuid: stand.ids.uuid() }));
    await Promise.all([one.sweep(), two.sweep()]);
    expect(await one.events.depth()).toBe(0);
  });
});
