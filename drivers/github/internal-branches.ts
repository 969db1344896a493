/** Branches that are made and deleted for each change: they hold no configuration, and their pushes are no events. */

/** Where a commit is staged that must have its checks before the branch may hold it. */
export const LANDING_BRANCHES = 'gatehouse/landing/';

/** Of GitHub's own merge queue. */
const QUEUE_BRANCHES = 'gh-readonly-queue/';

/** @param branch without `refs/heads/`. */
export function isInternalBranch(branch: string): boolean {
  return branch.startsWith(LANDING_BRANCHES) || branch.startsWith(QUEUE_BRANCHES);
}
