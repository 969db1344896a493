/**
 * The questions that gating asks a pipeline's manager. Everything that differs between managers is here, so that adding
 * one means answering each question, and the compiler lists what is missing (`managers.ts`).
 *
 *                          independent      dependent
 *     queueFor             one per change   the project's shared queue
 *     queuesFollow         no               yes
 *     window               fixed            learnt
 *     dependencies         hold places      enter ahead
 *     bringsDependents     no               yes
 *     needsOrder           no               yes
 *     abandonedDependency  until merged     always
 *     takesMerged          yes              no
 *     newPatchset          as configured    replaces
 *     success              may merge        must merge
 */
import type { Uuid } from '../../lib/ids.ts';
import type { Change } from '../../model/change.ts';

export interface QueueName {
  /** Unique within the pipeline. */
  readonly key: string;
  /** For people. */
  readonly name: string;
}

/** A change on its way into a queue. */
export interface Arriving {
  readonly change: Change;
  /** What the configuration says of its project and branch. */
  readonly shared: QueueName;
  /** The event that brings it. */
  readonly event: Uuid;
}

export interface Manager {
  /** The change queue that a change enters. */
  queueFor(arriving: Arriving): QueueName;
  /** Items move when the configuration puts their project into another shared queue. */
  readonly queuesFollow: boolean;
  /** `fixed`: as configured. `learnt`: wider with every merge, narrower with every failed test; kept while the queue is empty. */
  readonly window: 'fixed' | 'learnt';
  /**
   * What becomes of the open dependencies of a change that enters. `enter-ahead`: each is tested, and merges, before it.
   * `hold-places`: items ahead of it that run nothing, a set for every change.
   */
  readonly dependencies: 'enter-ahead' | 'hold-places';
  /** Open changes that depend on one that enters come in behind it, as far as they may. */
  readonly bringsDependents: boolean;
  /** A dependency is ahead in the same queue, or the item cannot stay; what depends on a lost change is lost too. */
  readonly needsOrder: boolean;
  /** When an abandoned dependency takes the item with it. `until-merged`: no longer once the speculative merge is made. */
  readonly abandonedDependency: 'always' | 'until-merged';
  /** A change that has merged may enter and stay. */
  readonly takesMerged: boolean;
  /** `replaces`: an older patchset never stays. `as-configured`: `dequeue-on-new-patchset` decides. */
  readonly newPatchset: 'replaces' | 'as-configured';
  /** `must-merge`: a success that the host does not merge is a failure of the item, and of what was tested with it. */
  readonly success: 'may-merge' | 'must-merge';
}
