/** What an operator's act would do to the items of a pipeline, before anything is done. */
import type { Uuid } from '../lib/ids.ts';
import type { JobName, PipelineName } from './project.ts';

/**
 * `reset`: it is tested again. `left`: it is out of the pipeline. `rerun`: some of its jobs run again. `paused`: it has
 * jobs that have not begun, and they wait. `resumed`: they do not wait any more.
 */
export const ITEM_EFFECTS = ['reset', 'left', 'rerun', 'paused', 'resumed'] as const;
/** One of {@link ITEM_EFFECTS}. */
export type ItemEffect = (typeof ITEM_EFFECTS)[number];

/** An item that the act concerns. */
export interface ItemCost {
  readonly item: Uuid;
  readonly pipeline: PipelineName;
  /** For people. */
  readonly change: string;
  readonly effect: ItemEffect;
  /** Time that executors spent on builds whose results are thrown away. Those that failed and run again are not counted. */
  readonly machineMs: number;
}

/** Of one act. */
export interface ActCost {
  /** In the order of the queues. */
  readonly items: readonly ItemCost[];
  /** Jobs that run again in an item that is not tested again as a whole. */
  readonly jobs: readonly JobName[];
  /** Why nothing, or not all of it, would happen; for people. */
  readonly refusals: readonly string[];
}
