import { expect, test } from 'vitest';
import { addMilliseconds } from '../../../../src/lib/clock.ts';
import { spanIdOf, traceIdOf, type Uuid } from '../../../../src/lib/ids.ts';
import type { BuildRequest } from '../../../../src/model/build-request.ts';
import {
  buildRequestCodec,
  jobGraphCodec,
  mergerOutcomeCodec,
  mergerRequestCodec,
  pipelineEventCodec,
  reportIntentCodec,
  spansCodec,
} from '../../../../src/model/codec/records.ts';
import type { MergerRequest } from '../../../../src/model/merge.ts';
import { EMPTY_PIPELINE, type PipelineState } from '../../../../src/model/pipeline-state.ts';
import type { QueueItem } from '../../../../src/model/queue-item.ts';
import { settleLostWorkers } from '../../../../src/scheduler/care/lost-workers.ts';
import { settleLostWork } from '../../../../src/scheduler/care/settle-lost-work.ts';
import { createJobGraphs } from '../../../../src/scheduler/turn/job-graphs.ts';
import type { PipelineContext } from '../../../../src/scheduler/turn/pipeline-context.ts';
import { ensureNode } from '../../../../src/store/ensure-node.ts';
import { EventQueue } from '../../../../src/store/event-queue.ts';
import { listOutbox, readOutbox } from '../../../../src/store/outbox.ts';
import { create } from '../../../../src/store/port.ts';
import { RequestQueue } from '../../../../src/store/request-queue.ts';
import { encodeRequestRecord, requestNamePrefix } from '../../../../src/store/request-record.ts';
import { createRequestWorker } from '../../../../src/store/request-worker.ts';
import { DEFAULT_SPAN_OPTIONS } from '../../../../src/tracing/spans/span-options.ts';
import { newerRecord } from '../../../fake/newer-record.ts';
import { gatePipeline } from '../../../fake/pipeline.ts';
import { itemStory, jobNode } from '../../../fake/queue-item.ts';
import { emptyBuildRequest } from '../../../fake/records.ts';
import { openStand, type Stand } from '../stand.ts';

const LOCAL = { connection: 'local', config: { merge: true }, definedAt: 'here' };

async function open(stand: Stand) {
  const events = new EventQueue({
    store: stand.store,
    path: '/events',
    codec: pipelineEventCodec,
    clock: stand.clock,
  });
  const mergeRequests = new RequestQueue<MergerRequest>({
    store: stand.store,
    path: '/merge',
    codec: mergerRequestCodec,
  });
  const buildRequests = new RequestQueue<BuildRequest>({
    store: stand.store,
    path: '/build',
    codec: buildRequestCodec,
  });
  await events.prepare();
  await mergeRequests.prepare();
  await buildRequests.prepare();
  const reportOutbox = stand.paths.reportOutbox('acme', 'gate');
  await ensureNode(stand.store, reportOutbox);
  const context = {
    clock: stand.clock,
    ids: stand.ids,
    store: stand.store,
    tenant: { name: 'acme', projects: [], maxJobTimeout: 1 },
    pipeline: gatePipeline({ reporters: { ...gatePipeline().reporters, success: [LOCAL] } }),
    webRoot: 'http://localhost',
    nodes: { reportOutbox, landings: '/landings' },
    spans: () => undefined,
    tracePolicy: () => undefined,
    landingMode: () => 'push' as const,
    graphs: { get: () => ({ jobs: [] }) },
  } as unknown as PipelineContext;
  return { ...stand, events, mergeRequests, buildRequests, reportOutbox, context };
}

function holding(item: QueueItem): PipelineState {
  return {
    ...EMPTY_PIPELINE,
    queues: [{ key: 'q', name: 'q', window: 20, items: [item.uuid] }],
    items: new Map([[item.uuid, item]]),
  };
}

function buildRequest(item: QueueItem, build: BuildRequest['uuid']): BuildRequest {
  const { uuid, enqueuedAt: requestedAt } = item;
  return emptyBuildRequest({ uuid: build, item: uuid, buildset: item.buildset.uuid, requestedAt });
}

function question(stand: Stand): MergerRequest {
  const requestedAt = stand.clock.now();
  return {
    kind: 'repo-state',
    uuid: stand.ids.uuid(),
    tenant: 'acme',
    requestedAt,
    priority: 200,
    states: [],
  };
}

const running = () =>
  itemStory()
    .merge()
    .wait(10)
    .merged()
    .freeze([jobNode('unit')])
    .wait(5)
    .start('unit').item;

test('a lost build is started again', async () => {
  await using stand = openStand();
  const deps = await open(stand);
  const item = running();
  await settleLostWork(holding(item), deps, deps.context, await stand.fence('gate'));
  expect((await deps.events.list()).map(({ value }) => value)).toMatchObject([
    { kind: 'build-result', build: item.buildset.builds[0]?.uuid, result: 'RETRY' },
  ]);
});

test('a build whose request is there, or whose result waits, is left alone', async () => {
  await using stand = openStand();
  const deps = await open(stand);
  const item = running();
  const build = item.buildset.builds[0];
  if (build === undefined) throw new Error('the story has no build');
  await stand.store.multi(deps.buildRequests.submit(buildRequest(item, build.uuid)));
  await settleLostWork(holding(item), deps, deps.context, await stand.fence('gate'));
  expect(await deps.events.list()).toEqual([]);
});

test.each([
  ['of a newer version is left alone: it is for upgraded workers', newerRecord(buildRequestCodec), 0],
  ['that is unreadable counts as lost', new Uint8Array(0), 1],
])('a build whose request is %s', async (_, bytes, started) => {
  await using stand = openStand();
  const deps = await open(stand);
  const item = running();
  const name = requestNamePrefix(200, String(item.buildset.builds[0]?.uuid));
  const data = encodeRequestRecord({ state: { kind: 'requested' }, attempt: 1, bytes });
  await stand.store.multi([create(`${deps.buildRequests.queuePath}/${name}`, data, { sequential: true })]);
  await settleLostWork(holding(item), deps, deps.context, await stand.fence('gate'));
  expect(await deps.events.list()).toHaveLength(started);
});

test('a lost merge is requested again', async () => {
  await using stand = openStand();
  const deps = await open(stand);
  const item = itemStory().merge().item;
  await settleLostWork(holding(item), deps, deps.context, await stand.fence('gate'));
  expect((await deps.events.list()).map(({ value }) => value)).toMatchObject([
    { kind: 'merger-result', outcome: { kind: 'failed', retryable: true } },
  ]);
});

test('a report whose intent is nowhere is intended again, under its own name', async () => {
  await using stand = openStand();
  const deps = await open(stand);
  const report = stand.ids.uuid();
  const item: QueueItem = {
    ...itemStory().item,
    phase: { phase: 'reporting', report, action: 'success' },
  };
  const fence = await stand.fence('gate');
  await settleLostWork(holding(item), deps, deps.context, fence);
  await settleLostWork(holding(item), deps, deps.context, fence);
  const rows = await readOutbox(stand.store, await listOutbox(stand.store, deps.reportOutbox));
  expect(rows.map(row => reportIntentCodec.decode(row.data))).toMatchObject([
    { uuid: report, item: item.uuid, action: 'success', parts: [{ merges: true }] },
  ]);
});

test('items that were landed together are so again when their intents are nowhere', async () => {
  await using stand = openStand();
  const deps = await open(stand);
  const reporting = (report: Uuid, behind: QueueItem | null): QueueItem => ({
    ...itemStory().item,
    uuid: stand.ids.uuid(),
    behind: behind === null ? null : behind.uuid,
    phase: { phase: 'reporting', report, action: 'success' },
  });
  const [one, two, three, other] = [stand.ids.uuid(), stand.ids.uuid(), stand.ids.uuid(), stand.ids.uuid()];
  const first = reporting(one, null);
  const second = reporting(two, first);
  const third = reporting(three, second);
  const alone = reporting(other, null);
  // The store lists items in the order of their uuids.
  const items = new Map([third, alone, second, first].map(item => [item.uuid, item]));
  const queue = { name: 'q', window: 20 };
  const state: PipelineState = {
    ...EMPTY_PIPELINE,
    queues: [
      { ...queue, key: 'q', items: [first.uuid, second.uuid, third.uuid] },
      { ...queue, key: 'r', items: [alone.uuid] },
    ],
    items,
  };
  await settleLostWork(state, deps, deps.context, await stand.fence('gate'));
  const rows = await readOutbox(stand.store, await listOutbox(stand.store, deps.reportOutbox));
  const intents = rows.map(row => reportIntentCodec.decode(row.data));
  expect(intents.map(({ uuid, together }) => [uuid, together])).toEqual([
    [one, one],
    [two, one],
    [three, one],
    [other, undefined],
  ]);
});

test('a stray request is withdrawn; requests of other pipelines stay', async () => {
  await using stand = openStand();
  const deps = await open(stand);
  const item = running();
  const wanted = buildRequest(item, item.buildset.builds[0]?.uuid ?? expect.unreachable());
  const stray = buildRequest(item, stand.ids.uuid());
  const foreign = { ...buildRequest(item, stand.ids.uuid()), pipeline: 'check' };
  await stand.store.multi([wanted, stray, foreign].flatMap(each => deps.buildRequests.submit(each)));
  await settleLostWork(holding(item), deps, deps.context, await stand.fence('gate'));
  expect((await deps.buildRequests.list()).map(({ uuid }) => uuid)).toEqual([wanted.uuid, foreign.uuid]);
});

test('settling twice settles the same work once', async () => {
  await using stand = openStand();
  const deps = await open(stand);
  const state = holding(running());
  const fence = await stand.fence('gate');
  await settleLostWork(state, deps, deps.context, fence);
  await settleLostWork(state, deps, deps.context, fence);
  expect(await deps.events.list()).toHaveLength(1);
});

test.each([
  ['alone', 'lost'],
  ['before the scheduler was there', 'outage'],
])('a build whose executor vanished %s ends as RETRY, and its request is gone', async (_, workerEnd) => {
  await using stand = openStand();
  const deps = await open(stand);
  const item = running();
  const [before, taken] = [stand.clock.now(), addMilliseconds(stand.clock.now(), 60_000)];
  const executor = stand.connect();
  const theirs = new RequestQueue<BuildRequest>({
    store: executor,
    path: '/build',
    codec: buildRequestCodec,
  });
  const trace = { traceId: traceIdOf(item.uuid), buildSpan: spanIdOf(item.uuid), sampled: true };
  const request = { ...buildRequest(item, item.uuid), trace: { ...trace, event: item.origin.event } };
  for (const outbox of [stand.paths.spanOutbox, stand.paths.historyOutbox])
    await ensureNode(stand.store, outbox);
  await stand.store.multi(deps.buildRequests.submit(request));
  await createRequestWorker(theirs, { worker: 'executor1', clock: { now: () => taken } }).next(
    AbortSignal.timeout(5000),
  );
  const lastSign = addMilliseconds(taken, 5000);
  await ensureNode(stand.store, stand.paths.signs);
  await stand.store.multi([create(stand.paths.sign(executor.sessionId), new TextEncoder().encode(lastSign))]);
  await executor.close();
  const since = workerEnd === 'lost' ? before : addMilliseconds(taken, 1);
  const tracing = { spans: () => DEFAULT_SPAN_OPTIONS, isSampled: () => true };
  await settleLostWorkers({ ...deps, tracing, since, pipelineQueue: () => deps.events });
  expect((await deps.events.list()).map(({ value }) => value)).toMatchObject([
    {
      kind: 'build-result',
      build: item.uuid,
      result: 'RETRY',
      detail: 'its executor is gone',
      workerEnd,
      lastSign,
    },
  ]);
  expect(await deps.buildRequests.list()).toEqual([]);
  const rows = await readOutbox(stand.store, await listOutbox(stand.store, stand.paths.spanOutbox));
  const spans = rows.flatMap(row => spansCodec.decode(row.data));
  expect(spans.map(({ name }) => name)).toEqual(['Sweep lost-workers', 'Sweep lost-build']);
  for (const { attributes, links } of spans) {
    expect(attributes).toMatchObject({ 'gatehouse.build.id': item.uuid, 'gatehouse.job': 'unit' });
    expect(links).toMatchObject([{ traceId: trace.traceId, spanId: trace.buildSpan }]);
  }
});

test('a request that two mergers were lost over is answered, never given to a third', async () => {
  await using stand = openStand();
  const deps = await open(stand);
  const item = running();
  const whose = { pipeline: 'gate', item: item.uuid, buildset: item.buildset.uuid, sampled: false };
  const request = { ...question(stand), item: whose };
  const other = question(stand);
  await ensureNode(stand.store, stand.paths.tenant('acme').answers);
  await stand.store.multi([request, other].flatMap(each => deps.mergeRequests.submit(each)));
  const since = addMilliseconds(stand.clock.now(), -1);
  // The first was last heard of before it took the request: then nothing is known of its work.
  const taken = stand.clock.now();
  const signs = [-5000, 7].map(ms => addMilliseconds(taken, ms));
  await ensureNode(stand.store, stand.paths.signs);
  for (const attempt of [1, 2]) {
    expect((await deps.mergeRequests.list()).map(each => each.attempt)).toEqual([attempt, attempt]);
    const merger = stand.connect();
    const theirs = new RequestQueue<MergerRequest>({
      store: merger,
      path: '/merge',
      codec: mergerRequestCodec,
    });
    const worker = createRequestWorker(theirs, { worker: 'merger1', clock: { now: () => taken } });
    for (const _ of [request, other]) await worker.next(AbortSignal.timeout(5000));
    const lastSign = new TextEncoder().encode(signs[attempt - 1]);
    await stand.store.multi([create(stand.paths.sign(merger.sessionId), lastSign)]);
    await merger.close();
    await settleLostWorkers({ ...deps, since, pipelineQueue: () => deps.events });
  }
  const text = 'Unable to serve the request: 2 mergers ended while they worked on it';
  const outcome = { kind: 'failed', text, retryable: false };
  expect(await deps.mergeRequests.list()).toEqual([]);
  expect((await deps.events.list()).map(({ value }) => value)).toMatchObject([
    {
      ...{ kind: 'merger-result', request: request.uuid, item: item.uuid, outcome },
      losses: [
        { from: taken, at: expect.any(String) },
        { from: signs[1], at: expect.any(String) },
      ],
    },
  ]);
  const answer = await stand.store.get(stand.paths.tenant('acme').answer(other.uuid));
  expect(answer && mergerOutcomeCodec.decode(answer.data)).toMatchObject(outcome);
});

test('a job graph is stored once under the hash of its content', async () => {
  await using stand = openStand();
  await ensureNode(stand.store, stand.paths.blobs);
  const graph = { jobs: [] };
  const [mine, theirs] = [
    createJobGraphs(stand.store, stand.paths),
    createJobGraphs(stand.connect(), stand.paths),
  ];
  const blob = mine.put(graph);
  expect(theirs.put(graph)).toBe(blob);
  await Promise.all([mine.flush(), theirs.flush()]);
  expect(await stand.store.children(stand.paths.blobs)).toEqual([blob]);
  const late = createJobGraphs(stand.store, stand.paths);
  await late.load([blob]);
  expect(jobGraphCodec.encode(late.get(blob))).toEqual(jobGraphCodec.encode(graph));
  late.retain(new Set());
  expect(() => late.get(blob)).toThrow(/not loaded/);
});
