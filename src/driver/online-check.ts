/**
 * What `gatehouse config-check --online` asks a connection: whether its host serves what pipelines want of it, before the first
 * change finds out.
 */
import type { Json } from '../model/job.ts';
import type { MergeMode } from '../model/merge-mode.ts';
import type { BranchName, PipelineName, ProjectKey, TenantName } from '../model/project.ts';

/** A pipeline that a project takes part in. What it says about the connection is as the driver's parsers returned it. */
export interface PipelineUse {
  readonly tenant: TenantName;
  readonly pipeline: PipelineName;
  /** Of the project, in this tenant; undefined: the host's own way. */
  readonly mergeMode: MergeMode | undefined;
  readonly triggers: readonly Json[];
  /** The project's queue, where it takes changes that depend on each other. Absent: none does. */
  readonly cycleQueue?: string;
  /** `require` and `reject`. */
  readonly requirements: readonly Json[];
  /** For all moments. */
  readonly reporters: readonly Json[];
  /** Those of `success`, which land changes. */
  readonly success: readonly Json[];
}

/** What pipelines do with one project of the connection. */
export interface ProjectUse {
  readonly project: ProjectKey;
  /** `default-branch` in each tenant, each name once. */
  readonly defaultBranches: readonly BranchName[];
  readonly pipelines: readonly PipelineUse[];
}

/** One contradiction, or one thing that could not be asked. */
export interface OnlineFinding {
  /** `error`: changes of the project will be refused, or not reported. */
  readonly severity: 'error' | 'warning';
  /** Null: it concerns the connection as a whole. */
  readonly project: ProjectKey | null;
  /** One line that says what is wrong and what to do, without the project's name. Without secrets. */
  readonly text: string;
}

/**
 * Asks the host about the projects, and changes nothing there. A host that does not answer is a finding.
 *
 * @param uses the connection's projects that take part in a pipeline; not empty.
 * @throws only the signal's reason.
 */
export type OnlineCheck = (
  uses: readonly ProjectUse[],
  signal: AbortSignal,
) => Promise<readonly OnlineFinding[]>;
