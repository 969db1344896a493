/** A gate of a given size in a store, with a request per open build, and the turn that resets it. */
import { systemClock } from '../../src/lib/clock.ts';
import { randomIds } from '../../src/lib/ids.ts';
import type { BuildRequest } from '../../src/model/build-request.ts';
import { buildRequestCodec, mergerRequestCodec, queueItemCodec } from '../../src/model/codec/records.ts';
import type { MergerRequest } from '../../src/model/merge.ts';
import type { QueueItem } from '../../src/model/queue-item.ts';
import { decideWithNeeds } from '../../src/pipeline/decide-turn.ts';
import { withChanged } from '../../src/scheduler/turn/changed-items.ts';
import {
  type CommandContext,
  commandOperations,
  withdrawOperations,
} from '../../src/scheduler/turn/commands.ts';
import { commitTurn } from '../../src/scheduler/turn/turn-commit.ts';
import { outboxOperations, stateOperations } from '../../src/scheduler/turn/turn-operations.ts';
import { ensureNode } from '../../src/store/ensure-node.ts';
import { acquireFence, type Fence } from '../../src/store/fence.ts';
import { loadPipeline, preparePipeline } from '../../src/store/load-pipeline.ts';
import { storePaths } from '../../src/store/paths.ts';
import { create, type Operation, type Store } from '../../src/store/port.ts';
import { createQuarantine } from '../../src/store/quarantine.ts';
import { RequestQueue } from '../../src/store/request-queue.ts';
import { operationBytes } from '../../src/store/size.ts';
import { splitOperations } from '../../src/store/split-operations.ts';
import { WHOLE_TRACES } from '../../src/tracing/live-tracing.ts';
import { DEFAULT_SPAN_OPTIONS } from '../../src/tracing/spans/span-options.ts';
import { emptyBuildRequest } from '../fake/records.ts';
import { SILENT } from '../fake/silent-log.ts';
import type { Gate } from './gate-reset.ts';

export interface StoredGate {
  /** Decides and commits. @returns what was sent to the store. */
  reset(): Promise<{ readonly transactions: number; readonly bytes: number }>;
  /** @throws Error when the store does not hold what the turn decided. */
  check(): Promise<void>;
}

export async function storedGate(
  store: Store,
  gate: Gate,
  root?: string,
  traced = true,
): Promise<StoredGate> {
  const paths = storePaths(root);
  const clock = systemClock();
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
  let expected = 0;

  return {
    async reset() {
      const decided = decideWithNeeds(gate.input, () => {
        throw new Error('a reset needs no job graph');
      });
      const draft = withChanged(gate.input.state, decided);
      expected = draft.state.items.size;
      const committing = {
        spans: () => (traced ? DEFAULT_SPAN_OPTIONS : undefined),
        keep: () => WHOLE_TRACES.keep,
        nodes: {
          ...{ state: places.state, item: places.item, staged: places.staged },
          ...{ spanOutbox: paths.spanOutbox, historyOutbox: paths.historyOutbox, landings: paths.landings },
          messageOutbox: '/messages',
          reportOutbox: paths.reportOutbox('acme', 'gate'),
        },
      };
      const ids = randomIds();
      const { pipeline } = gate.input;
      const requests = { clock, ids, pipeline, mergeRequests, buildRequests };
      const commanding = {
        ...requests,
        mergeMessage: () => 'Merge',
        mergeMode: () => 'merge' as const,
        likelyStates: () => [],
        tenant: { projects: [] },
      };
      const counted = counting(fence);
      await commitTurn(
        {
          guards: [],
          withdrawals: () => withdrawOperations(draft, commanding),
          own: [
            ...commandOperations(draft, commanding as unknown as CommandContext),
            ...stateOperations(gate.input.state, draft, committing),
            ...outboxOperations(gate.input.state, draft, committing, clock.now()),
          ],
        },
        { fence: counted.fence, store, staged: places.staged, ids, log: SILENT },
      );
      return counted.figures;
    },
    async check() {
      const quarantine = createQuarantine({ store, path: paths.quarantine, clock, log: SILENT });
      const stored = await loadPipeline(store, places, quarantine);
      const left = (await buildRequests.list()).length;
      const head = items[0]?.buildset.builds.length ?? 0;
      if (stored.items.size !== expected || left !== head)
        throw new Error(`the store holds ${stored.items.size} items and ${left} build requests`);
    },
  };
}

function counting(fence: Fence) {
  const figures = { transactions: 0, bytes: 0 };
  return {
    figures,
    fence: {
      commit(operations: readonly Operation[], id: string) {
        figures.transactions += 1;
        figures.bytes += operations.reduce((sum, operation) => sum + operationBytes(operation), 0);
        return fence.commit(operations, id);
      },
    },
  };
}

/** A request per open build, of about the size of a real one. */
function requestsOf(item: QueueItem, queue: RequestQueue<BuildRequest>): readonly Operation[] {
  return item.buildset.builds.flatMap(build => {
    const request = emptyBuildRequest({
      uuid: build.uuid,
      item: item.uuid,
      buildset: item.buildset.uuid,
      priority: 100,
      zuul: { padding: 'x'.repeat(2000) },
    });
    return queue.submit(request);
  });
}
