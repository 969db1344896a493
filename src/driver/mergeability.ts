/**
 * Whether the host would land a change: branch protection, required checks, submit requirements, drafts, conflicts. Asked before
 * a pipeline that lands takes a change up, and of its items in every turn from then on, so that no change is tested for an
 * hour and refused at the end.
 *
 * Pure: what the host said is in the record's facts. No such capability: the host lands what it is given.
 */
import type { Nanoseconds } from '../lib/clock.ts';
import type { ChangeRecord } from '../model/change.ts';
import type { Json } from '../model/job.ts';
import type { LandingMode } from '../model/landed.ts';
import type { Verdict } from './verdict.ts';

interface LandingQuestion {
  /** Of each reporter of the pipeline's success: what the host gets from us and need not have yet. */
  readonly ourVotes: readonly Json[];
  readonly mode: LandingMode;
  /** Of the turn. */
  readonly now: Nanoseconds;
}

export interface Mergeability {
  /** What this reporter gives a change (labels, contexts), in the driver's own form. @param reporter as parsed. */
  votesOf(reporter: Json): Json;
  /** @returns not met: one clause that names the rule and its place, e.g. `branch master of acme/app requires the check lint`. */
  canLand(record: ChangeRecord, question: LandingQuestion): Verdict;
}
