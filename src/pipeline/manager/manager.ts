/**
 * The questions that gating asks a pipeline's manager. Every difference between managers is here, so that adding one means
 * answering each question, and the compiler lists what is missing (`managers.ts`).
 *
 *                          independent      dependent      serial           supercedent
 *     queueFor             one per change   shared         shared           one per project and ref
 *     ownQueues            yes              no             no               no
 *     queuesFollow         no               yes            yes              yes
 *     window               unlimited        learnt         one              one
 *     overtakes            no               no             no               yes
 *     promotes             no               yes            no               no
 *     dependencies         hold places      enter ahead    ignored          ignored
 *     bringsDependents     no               yes            no               no
 *     needsOrder           no               yes            no               no
 *     abandonedDependency  until merged     always         never            never
 *     takesMerged          yes              no             yes              yes
 *     newPatchset          as configured    replaces       as configured    as configured
 *     success              may merge        must merge     may merge        may merge
 *
 * As in Zuul, only the dependent manager merges: nothing is tested on top of what a reporter of another pipeline merges.
 */
import type { Uuid } from '../../lib/ids.ts';
import type { Change } from '../../model/change.ts';

/** Which change queue; `key` identifies it, `name` may be that of several queues of an independent pipeline. */
export interface QueueName {
  /** Unique within the pipeline. */
  readonly key: string;
  /** For people. */
  readonly name: string;
}

/** A change on its way into a queue. */
interface Arriving {
  readonly change: Change;
  /** The configured queue of its project and branch. */
  readonly shared: QueueName;
  /** The event that brings it. */
  readonly event: Uuid;
}

/** The answers, as data: the turn asks here, and never for the name of the manager. */
export interface Manager {
  /** The change queue that a change enters. */
  queueFor(arriving: Arriving): QueueName;
  /** No other change ever joins the queue of one: what is in it is said by its items alone. */
  readonly ownQueues: boolean;
  /** Items move when the configuration says that `queueFor` their change is another queue now. */
  readonly queuesFollow: boolean;
  /**
   * How many items of a queue are tested at the same time. `learnt`: as configured to begin with, wider with every merge, narrower with
   * every failed test, and kept while the queue is empty. `one`: the head alone, so that nothing is tested on top of an item.
   */
  readonly window: 'unlimited' | 'learnt' | 'one';
  /** The newest item of a queue takes the place of all that wait behind the head. */
  readonly overtakes: boolean;
  /** People may change the order of a queue: items wait for one another, and none is left out for another one. */
  readonly promotes: boolean;
  /**
   * The open dependencies of a change that enters. `enter-ahead`: each is tested, and merges, before it.
   * `hold-places`: items ahead of it that run nothing, a set for every change. `ignored`: nothing.
   */
  readonly dependencies: 'enter-ahead' | 'hold-places' | 'ignored';
  /** Open changes that depend on one that enters come in behind it, as far as they may. */
  readonly bringsDependents: boolean;
  /** A dependency is ahead in the same queue, or the item cannot stay; what depends on a lost change is lost too. */
  readonly needsOrder: boolean;
  /** When an abandoned dependency takes the item with it. `until-merged`: no longer once the speculative merge is made. */
  readonly abandonedDependency: 'always' | 'until-merged' | 'never';
  /** A change that has merged may enter and stay. */
  readonly takesMerged: boolean;
  /** `replaces`: an older patchset never stays. `as-configured`: `dequeue-on-new-patchset` decides. */
  readonly newPatchset: 'replaces' | 'as-configured';
  /** `must-merge`: a success that the host does not merge is a failure of the item, and of what was tested with it. */
  readonly success: 'may-merge' | 'must-merge';
}
