/**
 * Landing: a change that passed becomes part of its branch. The host decides what the branch holds afterwards.
 *
 *     push   pushes exactly the tested commit, if the branch is where the test began (compare-and-set)
 *     api    the host makes a commit of its own (merge, squash); the driver compares trees before, and reports the tree after
 *
 * With `api` another push may come between the comparison and the merge. The driver reports what landed as it is, and the caller
 * compares it with what was tested.
 */
import type { Change } from '../model/change.ts';
import type { Json } from '../model/job.ts';
import type { LandedBranch } from '../model/landed.ts';
import type { MergedBranch } from '../model/merge.ts';
import type { Report } from '../model/report.ts';
import type { HostLater } from './host-later.ts';
import type { HostSteps } from './host-steps.ts';

/** One change to land, by one reporter of a pipeline. */
export interface LandingRequest {
  /** As `parseReporter` returned it. */
  readonly config: Json;
  readonly change: Change;
  /**
   * What was tested for the change's project and branch; absent for ref updates. `before` is the commit it was tested on, made by
   * a merger: with `api` the host may hold the same tree in another commit. `inputs` is this change alone: its merge mode is the one
   * the host has to use, and its message the one that was tested.
   */
  readonly tested?: Pick<MergedBranch, 'base' | 'commit' | 'tree' | 'before' | 'beforeTree' | 'inputs'>;
  /** What the same reporter reports once this has landed. A host may require our own success before it lands anything. */
  readonly report?: Report;
}

/** What came of it; `text` is one line for people, without secrets. */
export type LandingOutcome = HostSteps &
  (
    | /** The branches as the host has them now, or had them directly after the landing. */
    { readonly kind: 'landed'; readonly landed: readonly [LandedBranch, ...LandedBranch[]] }
    /** The branch does not hold what the change was tested on. Nothing has changed. */
    | { readonly kind: 'base-moved'; readonly text: string }
    | ({ readonly kind: 'later' } & HostLater)
    /** The host refuses; `text` names the rule as the host does. Nothing has changed. */
    | { readonly kind: 'refused'; readonly text: string }
  );

/** The capability to land changes. Runs in the scheduler that holds the pipeline. */
export interface Landing {
  /**
   * Repeatable: a call after a crash or a lost answer first asks the host whether the change has landed.
   *
   * @param mayAct to be called directly before each write: false when another process may hold the pipeline by now.
   * @throws when the host cannot be reached or `mayAct` returned false: the caller tries again if it still may. The error has
   *   `unsettled: true` when the landing was sent and its outcome is unknown.
   */
  land(request: LandingRequest, signal: AbortSignal, mayAct: () => boolean): Promise<LandingOutcome>;
  /**
   * Lands changes of one repository in the given order, each tested on what the one before it leaves. It ends as calls of `land` one
   * after the other would, and takes as few writes as the host allows. Repeatable like `land`.
   *
   * Absent: the host lands one change at a time, or makes commits of its own.
   *
   * @param requests at least one, all of one project.
   * @returns outcomes of the first requests, at least one. All but the last have landed; if the last has landed as well, the caller
   *   asks again for the rest.
   * @throws as `land`: which of them have landed is found by the repetition.
   */
  landInOrder?(
    requests: readonly LandingRequest[],
    signal: AbortSignal,
    mayAct: () => boolean,
  ): Promise<readonly LandingOutcome[]>;
  /**
   * What of the request has landed so far; empty: nothing. Writes nothing.
   *
   * @throws when the host cannot be reached.
   */
  landed(request: LandingRequest, signal: AbortSignal): Promise<readonly LandedBranch[]>;
}
