/**
 * Job graphs of merged buildsets, computed beside the turns of a pipeline (stages 7 and 8).
 *
 * A merger's answer whose job graph is not ready stays in the queue, as if the merger had taken longer; the turn goes on without it,
 * and the pipeline is woken when the graph is ready. So a costly proposal delays only itself. Most graphs take milliseconds, for
 * which a turn waits: that saves a turn.
 */
import type { ItemChange } from '../../layout/freeze/freeze-item-graph.ts';
import type { LayoutFacts } from '../../layout/layout-facts.ts';
import type { FreezeAnswer } from '../../layout/layout-table.ts';
import type { Clock, Nanoseconds } from '../../lib/clock.ts';
import type { Uuid } from '../../lib/ids.ts';
import { pause } from '../../lib/pause.ts';
import { type Change, targetBranchOf } from '../../model/change.ts';
import type { PipelineEvent } from '../../model/event.ts';
import type { MergerOutcome } from '../../model/merge.ts';
import type { PipelineState } from '../../model/pipeline-state.ts';
import type { PipelineName } from '../../model/project.ts';
import type { QueueItem } from '../../model/queue-item.ts';
import type { QueueEntry } from '../../store/event-queue.ts';
import type { Layouts } from '../tenant/layouts.ts';

type Merged = Extract<MergerOutcome, { kind: 'merged' }>;
type Entry = QueueEntry<PipelineEvent>;

/** A job graph with the times of its computation, for the trace. */
export interface PreparedFreeze {
  readonly askedAt: Nanoseconds;
  readonly answeredAt: Nanoseconds;
  readonly answer: FreezeAnswer;
}

interface SortedEvents {
  /** For this turn, in queue order. */
  readonly taken: readonly Entry[];
  /** By buildset: all that a turn with `taken` can need. */
  readonly freezes: ReadonlyMap<Uuid, PreparedFreeze>;
}

/** One for each pipeline and layout: with a new layout, all graphs under way are computed again. */
export interface PendingFreezes {
  /** Events that wait for their job graph, as of the last `sort`. */
  readonly waiting: number;
  /**
   * @param patience milliseconds to wait for job graphs at most.
   * @throws the error of a job graph that could not be computed; the next call retries.
   */
  sort(entries: readonly Entry[], state: PipelineState, patience: number): Promise<SortedEvents>;
}

interface Running {
  readonly done: Promise<void>;
  result: { readonly prepared: PreparedFreeze } | { readonly error: unknown } | undefined;
}

/** @param deps.wake called when a job graph is ready for which no turn waits any more. */
export function pendingFreezes(deps: {
  readonly clock: Clock;
  readonly pipeline: PipelineName;
  readonly layout: LayoutFacts;
  readonly layouts: Pick<Layouts, 'freeze'>;
  wake(): void;
}): PendingFreezes {
  /** By event. */
  const running = new Map<Uuid, Running>();
  let waiting = 0;

  function begin(item: QueueItem, outcome: Merged): Running {
    const askedAt = deps.clock.now();
    const { pipeline, layout } = deps;
    const [first, ...others] = item.changes;
    const changes = [itemChange(first, outcome), ...others.map(each => itemChange(each, outcome))] as const;
    const question = { pipeline, changes, proposed: outcome.config };
    const entry: { done: Promise<void>; result: Running['result'] } = {
      done: deps.layouts.freeze(layout, question).then(
        answer => {
          entry.result = { prepared: { askedAt, answeredAt: deps.clock.now(), answer } };
        },
        (error: unknown) => {
          entry.result = { error };
        },
      ),
      result: undefined,
    };
    return entry;
  }

  /** Undefined: the event needs no job graph. @throws the error of a job graph that could not be computed. */
  function preparedFor({ uuid }: PipelineEvent): PreparedFreeze | 'pending' | undefined {
    const freeze = running.get(uuid);
    if (freeze === undefined) return undefined;
    if (freeze.result === undefined) {
      void freeze.done.then(() => deps.wake());
      return 'pending';
    }
    if ('prepared' in freeze.result) return freeze.result.prepared;
    running.delete(uuid);
    throw freeze.result.error;
  }

  return {
    get waiting() {
      return waiting;
    },
    async sort(entries, state, patience) {
      const wanted = new Map(entries.flatMap(({ value }) => mergeOf(value, state)));
      for (const uuid of running.keys()) if (!wanted.has(uuid)) running.delete(uuid);
      for (const [uuid, { item, outcome }] of wanted)
        if (!running.has(uuid)) running.set(uuid, begin(item, outcome));
      await settled(
        [...running.values()].map(({ done }) => done),
        patience,
      );
      const taken: Entry[] = [];
      const freezes = new Map<Uuid, PreparedFreeze>();
      for (const entry of entries) {
        const freeze = preparedFor(entry.value);
        if (freeze === 'pending') continue;
        taken.push(entry);
        if (freeze !== undefined && entry.value.kind === 'merger-result')
          freezes.set(entry.value.buildset, freeze);
      }
      waiting = entries.length - taken.length;
      return { taken, freezes };
    },
  };
}

/** The merge that needs a job graph; empty for other events, and for a buildset that is gone. */
function mergeOf(
  event: PipelineEvent,
  state: PipelineState,
): readonly (readonly [Uuid, { readonly item: QueueItem; readonly outcome: Merged }])[] {
  if (event.kind !== 'merger-result' || event.outcome.kind !== 'merged') return [];
  const item = state.items.get(event.item);
  if (item === undefined || item.buildset.uuid !== event.buildset) return [];
  return [[event.uuid, { item, outcome: event.outcome }]];
}

async function settled(all: readonly Promise<void>[], patience: number): Promise<void> {
  if (all.length === 0) return;
  const done = Promise.all(all);
  if (patience === Number.POSITIVE_INFINITY) return void (await done);
  const stop = new AbortController();
  await Promise.race([done, pause(patience, stop.signal)]);
  stop.abort();
}

function itemChange(change: Change, outcome: Merged): ItemChange {
  const files = outcome.filesChanged.find(each => each.project === change.project)?.files ?? null;
  const branch = targetBranchOf(change) ?? null;
  return {
    name: change.kind === 'change' ? change.id : change.ref,
    change: { project: change.project, branch, files, ...(branch === null ? { ref: change.ref } : {}) },
  };
}
