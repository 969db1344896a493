/** Results, in Zuul's words. */

/** The result of a build. */
export type BuildResult =
  | 'SUCCESS'
  | 'FAILURE'
  | 'TIMED_OUT'
  | 'POST_FAILURE'
  /** Not final: the job starts again as a new build of the same buildset. */
  | 'RETRY'
  | 'RETRY_LIMIT'
  | 'SKIPPED'
  /** Stopped by a decision of the scheduler. */
  | 'CANCELED'
  | 'DISK_FULL'
  | 'NODE_FAILURE'
  | 'ERROR';

/** The result of a buildset, and of the item that leaves with it. */
export type BuildSetResult =
  | 'SUCCESS'
  | 'FAILURE'
  | 'MERGE_CONFLICT'
  /** The host refused the merge or it did not land. */
  | 'MERGE_FAILURE'
  | 'CONFIG_ERROR'
  | 'NO_JOBS'
  | 'DEQUEUED'
  | 'ERROR';

/** A verdict that counts as good for a voting job. */
export function isGood(result: BuildResult): boolean {
  return result === 'SUCCESS' || result === 'SKIPPED';
}

/** It says that the change is at fault: no lost machine, cancelled or skipped build does. */
export function isVerdictAgainst(result: BuildResult): boolean {
  return result === 'FAILURE' || result === 'TIMED_OUT' || result === 'POST_FAILURE';
}
