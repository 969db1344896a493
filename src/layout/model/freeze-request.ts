import type { BranchName, JobName, PipelineName, ProjectKey } from '../../model/project.ts';
import type { Layout } from './layout.ts';

/** The change a job graph is frozen for: one project's change in a queue item. */
export interface FreezeChange {
  readonly project: ProjectKey;
  /** Target branch, or the branch that was pushed; null for a tag. */
  readonly branch: BranchName | null;
  /** Full ref of a tag, which `branches` may match too. */
  readonly ref?: string;
  /** Branches that hold the tag's commit, as far as known. */
  readonly containingBranches?: readonly BranchName[];
  /** Paths changed; null: not known. Without any file, file matchers are ignored (Zuul's rule). */
  readonly files: readonly string[] | null;
}

/** Everything a job graph depends on, but for `timed`, which only observes. */
export interface FreezeRequest {
  readonly layout: Layout;
  readonly pipeline: PipelineName;
  readonly change: FreezeChange;
  /**
   * The layout without this change, when the change has a layout of its own: jobs whose definition differs run regardless of
   * their file matchers (`match-on-config-updates`).
   */
  readonly before?: Layout;
  /** Called around the freezing of each listed job, to time it; must return what `freeze` returns. Default: nothing is timed. */
  readonly timed?: <T>(job: JobName, freeze: () => T) => T;
}
