import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { fromMilliseconds } from '../../../src/lib/clock.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import { createMerger, type Merger } from '../../../src/merger/merger.ts';
import { createStoreRequests } from '../../../src/merger/store-requests.ts';
import { testedMergeOf } from '../../../src/model/build-set.ts';
import {
  mergerOutcomeCodec,
  mergerRequestCodec,
  pipelineEventCodec,
} from '../../../src/model/codec/records.ts';
import type { MergerRequest } from '../../../src/model/merge.ts';
import { abandonedRequests, requeued } from '../../../src/store/abandoned-requests.ts';
import { withRecipe } from '../../../src/store/chain-recipe.ts';
import { type EmbeddedStore, openEmbeddedStore } from '../../../src/store/embedded/server.ts';
import { ensureNode } from '../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../src/store/event-queue.ts';
import { storePaths } from '../../../src/store/paths.ts';
import { remove, type Store, set } from '../../../src/store/port.ts';
import { RequestQueue } from '../../../src/store/request-queue.ts';
import { createRequestWorker } from '../../../src/store/request-worker.ts';
import { itemStory } from '../../fake/queue-item.ts';
import { configFilesRequest, key, type MergerStage, mergeRequest, openStage } from './merger-stage.ts';

const paths = storePaths();
const ITEM = {
  pipeline: 'gate',
  item: derivedUuid('item'),
  buildset: derivedUuid('buildset'),
  sampled: true,
};
const log = { info: vi.fn(), warn: vi.fn(), child: () => log };

let stage: MergerStage;
let server: EmbeddedStore;
let store: Store;
let queue: RequestQueue<MergerRequest>;
let merger: Merger | undefined;

beforeEach(async () => {
  stage = await openStage();
  server = openEmbeddedStore({ file: ':memory:' });
  store = server.connect();
  queue = new RequestQueue({ store, path: paths.requests('merge'), codec: mergerRequestCodec });
  await queue.prepare();
  await ensureNode(store, paths.blobs);
});

afterEach(async () => {
  await merger?.close();
  merger = undefined;
  await server.close();
  await stage[Symbol.asyncDispose]();
});

function start(): void {
  const requests = createStoreRequests({ store, paths, queue, clock: stage.deps.clock, worker: 'merger-1' });
  merger = createMerger({
    ...stage.deps,
    requests,
    log,
    room: { trouble: async () => undefined, found: async () => {} },
  });
}

async function pipelineEvents() {
  const path = paths.pipeline('acme', 'gate').eventQueue;
  const events = new EventQueue({ store, path, codec: pipelineEventCodec, clock: stage.deps.clock });
  await events.prepare();
  return events;
}

const second = (seconds: number) => fromMilliseconds(1_795_000_000_000 + 1000 * seconds);

const isEmpty = async () => (await queue.overview()).names.length === 0;

describe('the merger on a store', () => {
  it('answers questions about items in the queue of their pipeline', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const events = await pipelineEvents();
    const request = { ...mergeRequest([await stage.propose('app', '1', { b: '1' })]), item: ITEM };
    await queue.submitNow(request);
    start();
    await vi.waitUntil(isEmpty, { timeout: 20_000 });
    const [entry] = await events.list();
    expect(entry?.value).toMatchObject({
      kind: 'merger-result',
      item: ITEM.item,
      buildset: ITEM.buildset,
      request: request.uuid,
      outcome: { kind: 'merged', worker: 'merger-1', branches: [{ project: key('app') }] },
    });
    expect((await queue.overview()).claimed.size).toBe(0);
  });

  it('writes what was merged ahead of an item once, apart from the answer', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    const events = await pipelineEvents();
    const inputs = [];
    for (const name of ['1', '2', '3']) inputs.push(await stage.propose('app', name, { [name]: '1' }));
    const request = { ...mergeRequest(inputs), own: 1, item: ITEM };
    const served = await stage.serve(request);
    await queue.submitNow(request);
    start();
    await vi.waitUntil(isEmpty, { timeout: 20_000 });
    const [event] = (await events.list()).map(({ value }) => value);
    if (event?.kind !== 'merger-result' || event.outcome.kind !== 'merged') throw new Error('not merged');
    const [branch] = event.outcome.branches;
    expect(branch?.inputs?.map(({ ref }) => ref)).toEqual([inputs[2]?.ref]);
    expect(await store.children(paths.blobs)).toEqual([branch?.recipe]);

    // What an executor reads of the item that has taken the answer is what the merger did.
    const { item } = itemStory({});
    const { branches, heads } = event.outcome;
    const stored = {
      ...item,
      buildset: { ...item.buildset, stage: { state: 'merged', tested: { branches, heads } } as const },
    };
    expect(testedMergeOf((await withRecipe(store, paths, stored)).buildset)).toMatchObject({
      branches: served.kind === 'merged' ? served.branches : [],
    });
    for (const damage of [new TextEncoder().encode('{"k":'), undefined]) {
      const blob = paths.blob(branch?.recipe ?? '');
      await store.multi([damage === undefined ? remove(blob) : set(blob, damage)]);
      const [without] = testedMergeOf((await withRecipe(store, paths, stored)).buildset)?.branches ?? [];
      expect(without).toMatchObject({ commit: branch?.commit });
      expect(without?.inputs).toBeUndefined();
    }
  });

  it('answers other questions in a node of the tenant', async () => {
    await (await stage.host('app')).commit({ files: { 'zuul.yaml': '[]' } });
    await ensureNode(store, paths.tenant('acme').answers);
    const request = configFilesRequest('app');
    await queue.submitNow(request);
    start();
    await vi.waitUntil(isEmpty, { timeout: 20_000 });
    const node = await store.get(paths.tenant('acme').answer(request.uuid));
    expect(node && mergerOutcomeCodec.decode(node.data)).toMatchObject({
      kind: 'config-files',
      branches: [{ files: [{ path: 'zuul.yaml' }] }],
    });
  });

  it('takes all that wait and makes one fetch for them', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    await ensureNode(store, paths.tenant('acme').answers);
    const inputs = [await stage.propose('app', '1', { b: '1' }), await stage.propose('app', '2', { c: '1' })];
    for (let count = 0; count < 10; count += 1) await queue.submitNow(mergeRequest(inputs));
    start();
    await vi.waitUntil(isEmpty, { timeout: 20_000 });
    expect(stage.cache.counters()).toMatchObject({ fetches: 1, merges: 2 });
    expect(await store.children(paths.tenant('acme').answers)).toHaveLength(10);
  });

  it('answers shortly when the answer is too large for the store', async () => {
    const app = await stage.host('app');
    for (const branch of ['main', 'stable', 'old'])
      await app.commit({ ref: `refs/heads/${branch}`, files: { 'zuul.yaml': 'x'.repeat(500_000) } });
    await ensureNode(store, paths.tenant('acme').answers);
    const request = configFilesRequest('app');
    await queue.submitNow(request);
    start();
    await vi.waitUntil(isEmpty, { timeout: 20_000 });
    const node = await store.get(paths.tenant('acme').answer(request.uuid));
    expect(node && mergerOutcomeCodec.decode(node.data)).toMatchObject({
      kind: 'failed',
      text: expect.stringContaining('TooLarge'),
    });
  });

  it('drops a request whose pipeline is gone', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    await queue.submitNow({ ...mergeRequest([]), own: 0, item: ITEM });
    start();
    await vi.waitUntil(isEmpty, { timeout: 20_000 });
    expect((await queue.overview()).claimed.size).toBe(0);
  });

  it('answers with the losses of the mergers before, wherever the request went meanwhile', async () => {
    const events = await pipelineEvents();
    await queue.submitNow({ ...configFilesRequest('app'), item: ITEM });
    const losses = [1, 3].map(seconds => ({ from: second(seconds), at: second(seconds + 1) }));
    for (const loss of losses) {
      const lost = server.connect();
      const theirs = new RequestQueue({
        store: lost,
        path: paths.requests('merge'),
        codec: mergerRequestCodec,
      });
      const worker = createRequestWorker(theirs, { worker: 'merger-0', clock: stage.deps.clock });
      await worker.next(AbortSignal.timeout(5000));
      await lost.close();
      const [abandoned] = await abandonedRequests(queue);
      if (abandoned?.kind !== 'lost-worker') throw new Error('expected a lost worker');
      await store.multi(requeued(queue, abandoned.request, loss));
    }
    const requests = createStoreRequests({
      ...{ store, paths, queue, clock: stage.deps.clock, worker: 'merger-1' },
    });
    const { signal } = new AbortController();
    const [overdue] = await requests.claim(1, signal);
    await overdue?.again(4);
    const [claimed] = await requests.claim(1, signal);
    await claimed?.complete({ kind: 'failed', text: 'no', retryable: false, steps: [], worker: 'merger-1' });
    expect((await events.list()).map(({ value }) => value)).toMatchObject([{ losses }]);
  });

  it('takes a request that a merger was lost over alone, when it does nothing else', async () => {
    await (await stage.host('app')).commit({ files: { a: '1' } });
    await ensureNode(store, paths.tenant('acme').answers);
    const suspect = mergeRequest([await stage.propose('app', '1', { b: '1' })]);
    const others = [mergeRequest([await stage.propose('app', '2', { c: '1' })]), configFilesRequest('app')];
    await queue.submitNow(suspect);
    const lost = server.connect();
    const theirs = new RequestQueue({
      store: lost,
      path: paths.requests('merge'),
      codec: mergerRequestCodec,
    });
    await createRequestWorker(theirs, { worker: 'merger-0', clock: stage.deps.clock }).next(
      AbortSignal.timeout(5000),
    );
    await lost.close();
    const [abandoned] = await abandonedRequests(queue);
    if (abandoned?.kind !== 'lost-worker') throw new Error('expected a lost worker');
    await store.multi(requeued(queue, abandoned.request));
    for (const other of others) await queue.submitNow(other);
    const requests = createStoreRequests({
      store,
      paths,
      queue,
      clock: stage.deps.clock,
      worker: 'merger-1',
    });
    const { signal } = new AbortController();
    const first = await requests.claim(64, signal);
    expect(first.map(({ request, attempt }) => [request.uuid, attempt])).toEqual([[suspect.uuid, 2]]);
    const then = await requests.claim(64, signal);
    expect(then.map(({ request }) => request.uuid)).toEqual(others.map(({ uuid }) => uuid));
    await first[0]?.again(3);
    expect((await requests.claim(64, signal)).map(({ attempt }) => attempt)).toEqual([3]);
  });
});
