/**
 * What a new holder of a pipeline settles before its first turn: work that was asked for and that nobody is doing any more.
 *
 * A build or merge is in good hands when its request is there, or its result waits in the event queue. Otherwise a result is
 * put in its place, so that the item goes on: the build is RETRY, the merge is asked again.
 */
import type { Clock } from '../lib/clock.ts';
import { derivedUuid, type IdMaker, type Uuid } from '../lib/ids.ts';
import type { Log } from '../lib/log.ts';
import { isOpen } from '../model/build.ts';
import type { BuildRequest } from '../model/build-request.ts';
import type { PipelineEvent } from '../model/event.ts';
import type { MergerRequest } from '../model/merge.ts';
import type { PipelineState } from '../model/pipeline-state.ts';
import type { QueueItem } from '../model/queue-item.ts';
import type { EventQueue } from '../store/event-queue.ts';
import type { Fence } from '../store/fence.ts';
import type { RequestQueue } from '../store/request-queue.ts';
import { splitOperations } from '../store/split-operations.ts';

export interface TakeOverDeps {
  readonly clock: Clock;
  readonly ids: IdMaker;
  readonly log: Log;
  readonly events: EventQueue<PipelineEvent>;
  readonly mergeRequests: RequestQueue<MergerRequest>;
  readonly buildRequests: RequestQueue<BuildRequest>;
}

export async function takeOver(
  state: PipelineState,
  deps: TakeOverDeps,
  fence: Fence,
  signal: AbortSignal,
): Promise<void> {
  await deps.mergeRequests.prepare(signal);
  await deps.buildRequests.prepare(signal);
  if (state.items.size === 0) return;
  const known = await knownWork(deps);
  const lost = [...state.items.values()].flatMap(item => lostWork(item, known, deps));
  if (lost.length === 0) return;
  deps.log.warn(
    { lost: lost.length },
    'work of the previous run is nowhere to be found; it is started again',
  );
  for (const part of splitOperations(lost.flatMap(event => deps.events.put(event))))
    await fence.commit(part, deps.ids.uuid());
}

/** Uuids of requests that exist and of those whose result waits. */
async function knownWork(deps: TakeOverDeps): Promise<ReadonlySet<string>> {
  const merges = await deps.mergeRequests.list();
  const builds = await deps.buildRequests.list();
  const results = (await deps.events.list()).flatMap(({ value }) =>
    value.kind === 'merger-result' ? [value.request] : value.kind === 'build-result' ? [value.build] : [],
  );
  return new Set<string>([...merges.map(each => each.uuid), ...builds.map(each => each.uuid), ...results]);
}

function lostWork(item: QueueItem, known: ReadonlySet<string>, deps: TakeOverDeps): readonly PipelineEvent[] {
  const at = deps.clock.now();
  const { stage } = item.buildset;
  const common = { item: item.uuid, buildset: item.buildset.uuid, at };
  const merges: PipelineEvent[] = [];
  if ((stage.state === 'merging' || stage.state === 'repo-state') && !known.has(stage.request)) {
    merges.push({
      kind: 'merger-result',
      uuid: lostUuid(stage.request),
      ...common,
      request: stage.request,
      outcome: { kind: 'failed', text: 'the request was lost', retryable: true, steps: [], worker: '' },
    });
  }
  const builds = item.buildset.builds
    .filter(build => isOpen(build) && !known.has(build.uuid))
    .map(
      (build): PipelineEvent => ({
        kind: 'build-result',
        uuid: lostUuid(build.uuid),
        ...common,
        build: build.uuid,
        result: 'RETRY',
        worker: null,
        execution: null,
        detail: 'lost with its executor',
      }),
    );
  return [...merges, ...builds];
}

function lostUuid(of: Uuid): Uuid {
  return derivedUuid(of, 'lost');
}
