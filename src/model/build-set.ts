/**
 * One try at testing an item in one exact state. A reset ends the buildset as superseded and makes a new one.
 *
 *     new ─► merging ─► merged ─► [repo-state] ─► running ─► complete {result}
 *               │          │                         │
 *               │          └► complete CONFIG_ERROR / NO_JOBS
 *               └► complete MERGE_CONFLICT
 *     any ─► superseded {cause}
 *
 * new → merging           `start-merge` (src/pipeline/prepare-item.ts), merge request written
 * merging → merged        merge-result event: merged
 * merging → complete      merge-result event: conflict, perhaps of an item behind, whose chain contains this one
 * merging → new           merge-result event for another chain than the present one (src/pipeline/past-conflicts.ts)
 * merged → running        freeze fact: job graph, all heads known
 * merged → repo-state     freeze fact: heads of some projects missing, repo-state request written
 * repo-state → running    repo-state result
 * repo-state → merging    the heads could not be read; asked again from the merge on
 * running → complete      last build of the graph ended
 * merged, repo-state → complete  the same state was tested before (src/pipeline/reuse-results.ts)
 */
import { earlierOf, laterOf, type Nanoseconds } from '../lib/clock.ts';
import type { Uuid } from '../lib/ids.ts';
import type { Build } from './build.ts';
import type { ResetCause } from './cause.ts';
import type { ConfigError } from './config-error.ts';
import type { JobNode } from './job.ts';
import type { BranchHead, MergeConflict, MergedBranch } from './merge.ts';
import type { JobName, ProjectKey } from './project.ts';
import type { RequirementWait } from './requirement.ts';
import type { BuildSetResult } from './results.ts';
import type { SemaphoreWait } from './semaphore.ts';
import type { Step } from './step.ts';
import type { WorkerLoss } from './worker-loss.ts';

/** The exact state that is tested: these trees land, byte for byte, or nothing does. */
export interface TestedMerge {
  /** Empty for ref updates. */
  readonly branches: readonly MergedBranch[];
  /** Tips of other branches and projects; of merged ones too, perhaps: see {@link testedHeads}. */
  readonly heads: readonly BranchHead[];
  /** What branches hold whose tested commit, in `heads`, may not have landed (merge groups). Absent: none. */
  readonly landed?: readonly BranchHead[];
}

/** Heads as the jobs see them: what was merged takes the place of the branch tips. */
export function testedHeads({ branches, heads }: TestedMerge): readonly BranchHead[] {
  const merged = branches.map(({ project, branch, commit }) => ({ project, branch, commit }));
  return headsBefore(merged, heads);
}

/** Heads without anything that is proposed: trusted playbooks come from these. */
export function landedHeads({ branches, heads, landed = [] }: TestedMerge): readonly BranchHead[] {
  const bases = branches.map(({ project, branch, base }) => ({ project, branch, commit: base }));
  return headsBefore([...bases, ...landed], heads);
}

/** @param first take the place of others of the same branch. */
function headsBefore(first: readonly BranchHead[], others: readonly BranchHead[]): readonly BranchHead[] {
  const known = new Set(first.map(head => `${head.project}@${head.branch}`));
  return [...first, ...others.filter(head => !known.has(`${head.project}@${head.branch}`))];
}

/** The frozen jobs: the whole graph is the blob, `jobs` what deciding needs. */
export interface FrozenGraph {
  /** SHA-256 of the stored {@link import('./job.ts').JobGraph}. */
  readonly blob: string;
  readonly jobs: readonly JobNode[];
}

/** Where a result was taken from. */
export interface TestedBefore {
  readonly item: Uuid;
  readonly buildset: Uuid;
}

/** How far the buildset is, with the facts known at that stage; transitions are listed above. */
export type BuildSetStage =
  | { readonly state: 'new' }
  | {
      readonly state: 'merging';
      readonly request: Uuid;
      /** Items whose changes the request names before the own ones, oldest first. Absent: the chain ends at the first conflict. */
      readonly ahead?: readonly Uuid[];
      /** Items of `ahead` that were found to conflict after the request, which still names them. A valid answer left them out as well. */
      readonly leftOut?: readonly Uuid[];
    }
  | { readonly state: 'merged'; readonly tested: TestedMerge }
  | {
      readonly state: 'repo-state';
      readonly tested: TestedMerge;
      readonly graph: FrozenGraph;
      readonly request: Uuid;
    }
  | { readonly state: 'running'; readonly tested: TestedMerge; readonly graph: FrozenGraph }
  | {
      readonly state: 'complete';
      readonly at: Nanoseconds;
      readonly result: BuildSetResult;
      readonly tested: TestedMerge | null;
      readonly graph: FrozenGraph | null;
      /** No job ran: the same state was tested by that buildset, and its result is this one's too. */
      readonly testedBefore?: TestedBefore;
    }
  | {
      readonly state: 'superseded';
      readonly at: Nanoseconds;
      readonly cause: ResetCause;
      readonly graph: FrozenGraph | null;
    };

/** A request to a merger, with its times: becomes `Merge` or `RepoState` with the worker's steps below `MergerJob`. */
export interface MergerWork {
  readonly request: Uuid;
  readonly kind: 'merge' | 'repo-state';
  readonly requestedAt: Nanoseconds;
  readonly done: null | {
    readonly at: Nanoseconds;
    readonly outcome: 'merged' | 'conflict' | 'repo-state' | 'failed' | 'withdrawn';
    readonly worker: string | null;
    readonly steps: readonly Step[];
    readonly text?: string;
    /** Mergers that were lost over it before; absent: none, as far as is known. */
    readonly losses?: readonly WorkerLoss[];
  };
}

/** When the merger ended, by its own clock and within the scheduler's times; null: not yet. Its answer may have waited unread since. */
export function endOfMergerWork({ requestedAt, done }: MergerWork): Nanoseconds | null {
  if (done === null) return null;
  const reported = done.steps.map(step => step.endedAt).reduce(laterOf, requestedAt);
  return done.steps.length === 0 ? done.at : earlierOf(reported, done.at);
}

/**
 * Times between the loss of a merger and its discovery by a scheduler, in order and within the request's own time: the clocks of
 * mergers and schedulers differ.
 */
export function unnoticedMergerLosses(
  work: MergerWork,
): readonly { readonly start: Nanoseconds; readonly end: Nanoseconds }[] {
  const limit = endOfMergerWork(work);
  if (limit === null) return [];
  let over = work.requestedAt;
  return (work.done?.losses ?? []).flatMap(loss => {
    const [start, end] = [laterOf(over, loss.from), earlierOf(loss.at, limit)];
    if (laterOf(start, end) === start) return [];
    over = end;
    return [{ start, end }];
  });
}

/** A computation inside the scheduler's turn. */
export interface TurnWork {
  readonly kind: 'layout' | 'freeze';
  readonly startedAt: Nanoseconds;
  readonly endedAt: Nanoseconds;
  /** The layout was the tenant's own, or remembered. */
  readonly cached: boolean;
  /** Freeze: jobs that run with the time it took, in configuration order; of many the slowest. */
  readonly jobs: readonly {
    readonly name: string;
    readonly startedAt: Nanoseconds;
    readonly endedAt: Nanoseconds;
  }[];
}

/** Whether one listed job runs for the change, and the reason. */
export interface JobDecision {
  readonly job: JobName;
  readonly runs: boolean;
  /** English clause, e.g. `the only changed file (docs/a.md) matches irrelevant-files "^docs/"`. */
  readonly because: string;
}

/** Why no job of a buildset may start although its jobs are known. `item`: the text of its changes, for people. */
export type StartHold =
  | { readonly on: 'window' }
  /** A job of that item ahead must succeed first. */
  | { readonly on: 'hold-following'; readonly item: string }
  | { readonly on: 'host'; readonly project: ProjectKey }
  /** An operator paused its queue. */
  | { readonly on: 'paused'; readonly reason: string };

/** One try of an item. Part of the record `queue-item`. */
export interface BuildSet {
  readonly uuid: Uuid;
  /** 1 for the first, +1 with every reset. */
  readonly number: number;
  readonly createdAt: Nanoseconds;
  /** Why it replaced the one before; null for the first. */
  readonly cause: ResetCause | null;
  readonly stage: BuildSetStage;
  /**
   * Buildset of the item ahead that its merge extends, as of the request; null: the branch tip. Absent before the request.
   * When the item ahead has another buildset now, this buildset is stale even if no reset was recorded.
   */
  readonly stackedOn?: Uuid | null;
  /** Oldest first; more than one after the merger failed and was asked again. */
  readonly mergerWork: readonly MergerWork[];
  readonly turnWork: readonly TurnWork[];
  readonly conflict: MergeConflict | null;
  readonly configErrors: readonly ConfigError[];
  /** Paths changed by the item's own changes, by project; known once merged. */
  readonly filesChanged: readonly { readonly project: ProjectKey; readonly files: readonly string[] }[];
  /** Every job the project lists for this pipeline: whether it runs for this change, and why. Known once frozen. */
  readonly verdicts?: readonly JobDecision[];
  /** What held jobs back at the last turn; absent: nothing, or no job was due. */
  readonly startHold?: StartHold;
  /** Waits of jobs for semaphores, oldest first; absent: none. */
  readonly semaphoreWaits?: readonly SemaphoreWait[];
  /** Likewise for what they require of changes ahead. */
  readonly requirementWaits?: readonly RequirementWait[];
  /** In order of request; retries follow their first try. */
  readonly builds: readonly Build[];
}

/** One that nothing has happened to. @param cause null for the item's first. */
export function newBuildsetOf(
  { uuid, number, createdAt, cause }: Pick<BuildSet, 'uuid' | 'number' | 'createdAt' | 'cause'>,
  stage: BuildSetStage = { state: 'new' },
): BuildSet {
  const nothing = { mergerWork: [], turnWork: [], conflict: null, configErrors: [], filesChanged: [] };
  return { uuid, number, createdAt, cause, stage, ...nothing, builds: [] };
}

/** The merge under test; null before the merger has answered, and of a superseded buildset. */
export function testedMergeOf(buildset: BuildSet): TestedMerge | null {
  switch (buildset.stage.state) {
    case 'new':
    case 'merging':
    case 'superseded':
      return null;
    default:
      return buildset.stage.tested;
  }
}

/** The frozen jobs; null before they are frozen. */
export function graphOf(buildset: BuildSet): FrozenGraph | null {
  switch (buildset.stage.state) {
    case 'new':
    case 'merging':
    case 'merged':
      return null;
    default:
      return buildset.stage.graph;
  }
}

/** The buildset whose result it has; null: its own. */
export function testedBeforeOf({ stage }: BuildSet): TestedBefore | null {
  return stage.state === 'complete' ? (stage.testedBefore ?? null) : null;
}

/** When it ended, or null. */
export function endOf(buildset: BuildSet): Nanoseconds | null {
  return buildset.stage.state === 'complete' || buildset.stage.state === 'superseded'
    ? buildset.stage.at
    : null;
}

/** The build that counts for a job: the last attempt. */
export function currentBuild(buildset: BuildSet, job: string): Build | undefined {
  return buildset.builds.findLast(build => build.job === job);
}
