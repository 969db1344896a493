/**
 * Whether the host would land a change: branch protection, required checks, submit requirements, drafts, conflicts. Evaluated
 * before a pipeline that lands enqueues a change, and for its items in every turn, so that no change is tested for an hour and
 * refused at the end.
 *
 * Pure, and the same at any time: the record's facts hold what the host said, and a turn asks again only when they are others. A driver without this capability lands any change.
 */
import type { ChangeRecord } from '../model/change.ts';
import type { Json } from '../model/job.ts';
import type { LandingMode } from '../model/landed.ts';
import type { MergeMode } from '../model/merge-mode.ts';
import type { PipelineName, TenantName } from '../model/project.ts';
import type { Verdict } from './verdict.ts';

interface LandingQuestion {
  /** `votesOf` of each success reporter of the pipeline: votes that the host gets from us and need not have yet. */
  readonly ourVotes: readonly Json[];
  readonly mode: LandingMode;
  /** Of the change's project. Absent: `merge`. */
  readonly mergeMode?: MergeMode;
}

/** Whose votes or triggers they are: a host may name votes after the pipeline. */
export interface ReportingPipeline {
  readonly tenant: TenantName;
  readonly pipeline: PipelineName;
}

/** The capability to predict what the host would refuse. */
export interface Mergeability {
  /** The votes this reporter gives (labels, contexts), in the driver's own form. @param reporter as `parseReporter` returned it. */
  votesOf(reporter: Json, voter: ReportingPipeline): Json;
  /** @returns not met: one clause that names the rule and its place, e.g. `branch master of acme/app requires the check lint`. */
  canLand(record: ChangeRecord, question: LandingQuestion): Verdict;
}
