/** A pipeline's contents at one moment: its change queues in order, and the items by uuid. */
import type { Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { PipelineHalt } from './halt.ts';
import type { QueueItem } from './queue-item.ts';
import type { ProvidedByChange } from './requirement.ts';
import type { Holder, Takeover } from './takeover.ts';

/** Items that are gated in order. */
export interface ChangeQueue {
  /** Unique within the pipeline. */
  readonly key: string;
  /** For people: `integrated`, or the project's name. */
  readonly name: string;
  /** 0: no limit. */
  readonly window: number;
  /** Oldest first; every item of the pipeline is in exactly one queue. */
  readonly items: readonly Uuid[];
}

/** A state that was tested with success: with `reuse-results` a later item in the same state gets that result. */
export interface TestedState {
  /** SHA-256, see `src/pipeline/reuse-results.ts`. */
  readonly state: string;
  readonly at: Nanoseconds;
  /** The item and its buildset that tested it. */
  readonly item: Uuid;
  readonly buildset: Uuid;
}

/** What one node of the store holds; the items have nodes of their own. */
export interface PipelineCounters {
  /** Stored without those that items have for themselves, see `own-queues.ts`. */
  readonly queues: readonly ChangeQueue[];
  /** For `disable-after-consecutive-failures`. */
  readonly consecutiveFailures: number;
  readonly disabled: boolean;
  /** Version of the tenant's layout under which these two were counted: a new layout begins anew. Null: nothing was counted. */
  readonly countedUnder: number | null;
  /** The scheduler that wrote last, and whether it gave the pipeline up; absent: not recorded. */
  readonly holder?: Holder;
  /** Takeovers that not all items carry yet, oldest first. Absent: none. */
  readonly takeovers?: readonly Takeover[];
  /** Oldest first. Absent: none. */
  readonly testedStates?: readonly TestedState[];
  /** Oldest first. Absent: none. */
  readonly halts?: readonly PipelineHalt[];
  /** By changes whose items have left, oldest first. Absent: none. */
  readonly provided?: readonly ProvidedByChange[];
}

/** The whole content of a pipeline: what a turn reads and decides on. */
export interface PipelineState extends PipelineCounters {
  readonly items: ReadonlyMap<Uuid, QueueItem>;
}

/** A pipeline that has never held anything. */
export const EMPTY_PIPELINE: PipelineState = {
  queues: [],
  consecutiveFailures: 0,
  disabled: false,
  countedUnder: null,
  items: new Map(),
};

/**
 * The items an item is tested behind, oldest first, ending with the item itself: the changes that a merger merges in order.
 *
 * `behind` links name the item whose tested state is extended. A link to an item that is no longer there ends the chain: it has merged,
 * and its changes are in the branch tip.
 *
 * @param items of the pipeline, as after the pass that set the links.
 */
export function chainOf(items: PipelineState['items'], item: QueueItem): readonly QueueItem[] {
  const chain: QueueItem[] = [item];
  for (let ahead = item.behind; ahead !== null; ) {
    const found = items.get(ahead);
    if (found === undefined) break;
    chain.push(found);
    ahead = found.behind;
  }
  return chain.reverse();
}
