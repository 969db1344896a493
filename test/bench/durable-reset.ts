/**
 * A gate reset until it is durable and its cancels are visible: decide, compose the operations, commit them under the fence into
 * the embedded store on a real file. Counts transactions and bytes; the oracle is what the store holds afterwards.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { systemClock } from '../../src/lib/clock.ts';
import { randomIds } from '../../src/lib/ids.ts';
import type { BuildRequest } from '../../src/model/build-request.ts';
import { buildRequestCodec, mergerRequestCodec, queueItemCodec } from '../../src/model/codec/records.ts';
import type { MergerRequest } from '../../src/model/merge.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { commandOperations } from '../../src/scheduler/commands.ts';
import { outboxOperations, stateOperations } from '../../src/scheduler/commit-turn.ts';
import { decideWithNeeds } from '../../src/scheduler/decide.ts';
import { openEmbeddedStore } from '../../src/store/embedded/server.ts';
import { ensureNode } from '../../src/store/ensure-node.ts';
import { acquireFence } from '../../src/store/fence.ts';
import { loadPipeline, preparePipeline } from '../../src/store/load-pipeline.ts';
import { storePaths } from '../../src/store/paths.ts';
import { create, type Operation } from '../../src/store/port.ts';
import { RequestQueue } from '../../src/store/request-queue.ts';
import { operationBytes } from '../../src/store/size.ts';
import { splitOperations } from '../../src/store/split-operations.ts';
import { DEFAULT_SPAN_OPTIONS } from '../../src/tracing/spans/span-options.ts';
import { type Gate, gateOf } from './gate-reset.ts';
import type { Row } from './main.ts';

export async function benchDurableReset(): Promise<readonly Row[]> {
  await measure('warm-up', gateOf(20, 10, 20));
  return [
    ...(await measure('20 items × 10 jobs', gateOf(20, 10, 20))),
    ...(await measure('1 000 items × 2 jobs, no window', gateOf(1000, 2, 0))),
    ...(await measure('5 000 items × 2 jobs, no window', gateOf(5000, 2, 0))),
  ];
}

async function measure(label: string, gate: Gate): Promise<readonly Row[]> {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-reset-'));
  const server = openEmbeddedStore({ file: path.join(directory, 'store.sqlite') });
  try {
    const store = server.connect();
    const paths = storePaths();
    const places = paths.pipeline('acme', 'gate');
    await preparePipeline(store, places, AbortSignal.timeout(60_000));
    for (const outbox of [paths.spanOutbox, paths.historyOutbox]) await ensureNode(store, outbox);
    const mergeRequests = new RequestQueue<MergerRequest>({
      store,
      path: paths.requests('merge'),
      codec: mergerRequestCodec,
    });
    const buildRequests = new RequestQueue<BuildRequest>({
      store,
      path: paths.requests('build'),
      codec: buildRequestCodec,
    });
    await mergeRequests.prepare();
    await buildRequests.prepare();
    const items = [...gate.input.state.items.values()];
    for (const part of splitOperations(
      items.flatMap(item => [
        create(places.item(item.uuid), queueItemCodec.encode(item)),
        ...requestsOf(item, buildRequests),
      ]),
    )) {
      await store.multi(part);
    }
    const fence = await acquireFence(store, {
      lockPath: places.lock,
      epochPath: places.epoch,
      lastOperationPath: places.lastOperation,
      guid: 'bench',
    });

    const begun = performance.now();
    const draft = decideWithNeeds(gate.input, () => {
      throw new Error('a reset needs no job graph');
    });
    const clock = systemClock();
    const committing = {
      spans: DEFAULT_SPAN_OPTIONS,
      places: {
        counters: places.state,
        item: places.item,
        spanOutbox: paths.spanOutbox,
        historyOutbox: paths.historyOutbox,
      },
    };
    const context = {
      clock,
      ids: randomIds(),
      pipeline: gate.input.pipeline,
      mergeRequests,
      buildRequests,
      mergeMessage: () => 'Merge',
      likelyStates: () => [],
    };
    const operations: readonly Operation[] = [
      ...(await commandOperations(draft, context as unknown as Parameters<typeof commandOperations>[1])),
      ...stateOperations(gate.input.state, draft, committing),
      ...outboxOperations(gate.input.state, draft, committing, clock.now()),
    ];
    const parts = splitOperations(operations);
    for (const [index, part] of parts.entries()) await fence.commit(part, `reset-${index}`);
    const elapsed = performance.now() - begun;

    const stored = await loadPipeline(store, places);
    const left = (await buildRequests.list()).length;
    const head = items[0]?.buildset.builds.length ?? 0;
    if (stored.items.size !== draft.state.items.size || left !== head)
      throw new Error(`the store holds ${stored.items.size} items and ${left} build requests`);
    return [
      { name: `durable reset, ${label}: until committed`, value: elapsed, unit: 'ms' },
      { name: `durable reset, ${label}: transactions`, value: parts.length, unit: 'transactions' },
      {
        name: `durable reset, ${label}: written`,
        value: operations.reduce((sum, operation) => sum + operationBytes(operation), 0),
        unit: 'bytes',
      },
    ];
  } finally {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  }
}

/** A request per open build, of about the size of a real one. */
function requestsOf(item: QueueItem, queue: RequestQueue<BuildRequest>): readonly Operation[] {
  return item.buildset.builds.flatMap(build => {
    const request = {
      uuid: build.uuid,
      priority: 100,
      tenant: item.tenant,
      pipeline: item.pipeline,
      item: item.uuid,
      zuul: { padding: 'x'.repeat(2000) },
    };
    return queue.submit(request as unknown as BuildRequest);
  });
}
