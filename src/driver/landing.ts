/**
 * Landing: what passed goes into its branch. The host has the last word on what the branch holds afterwards.
 *
 *     push   exactly the tested commit, from exactly where the test began: compare-and-set on the branch
 *     api    the host merges and makes a commit of its own (merge, squash); the driver compares trees before, and names the tree after
 *
 * With `api` nothing keeps others from pushing between the comparison and the merge. What is found then is answered as it is: the
 * caller compares what landed with what was tested.
 */
import type { Change } from '../model/change.ts';
import type { Json } from '../model/job.ts';
import type { LandedBranch } from '../model/landed.ts';
import type { MergedBranch } from '../model/merge.ts';
import type { HostLater } from './host-later.ts';

export interface LandingRequest {
  /** As `parseReporter` returned it. */
  readonly config: Json;
  readonly change: Change;
  /**
   * What was tested for the change's project and branch; absent for ref updates. `before` is the commit of ours that it was tested
   * on: with `api` the host may hold the same tree in another one.
   */
  readonly tested?: Pick<MergedBranch, 'base' | 'commit' | 'tree' | 'before' | 'beforeTree'>;
}

export type LandingOutcome =
  /** The branches as the host has them now, or had them directly after. */
  | { readonly kind: 'landed'; readonly landed: readonly [LandedBranch, ...LandedBranch[]] }
  /** The branch does not hold what it was tested on. Nothing has changed. */
  | { readonly kind: 'base-moved'; readonly text: string }
  | ({ readonly kind: 'later' } & HostLater)
  /** The host will not take it; `text` names the rule in the host's words. Nothing has changed. */
  | { readonly kind: 'refused'; readonly text: string };

export interface Landing {
  /**
   * Must be repeatable: a call after a crash or a lost answer first asks the host whether the deed is done already.
   *
   * @param mayAct to be asked directly before each change at the host: false when another process may be acting in our place.
   * @throws when the host cannot be reached, or when it may not act: the caller tries again later if it still may. The error has
   *   `unsettled: true` when the landing was sent and its outcome is not known.
   */
  land(request: LandingRequest, signal: AbortSignal, mayAct: () => boolean): Promise<LandingOutcome>;
  /**
   * What of the request has landed so far, empty: nothing. Changes nothing.
   *
   * @throws when the host cannot be reached.
   */
  landed(request: LandingRequest, signal: AbortSignal): Promise<readonly LandedBranch[]>;
}
