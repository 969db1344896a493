/** Which change queue a project and branch belong to in a pipeline. */
import { type BranchName, type PipelineName, type ProjectKey, projectIdOf } from '../model/project.ts';
import type { LayoutFacts } from './layout-facts.ts';

/** Two projects share a change queue exactly when their keys are equal. */
export interface ChangeQueueName {
  /** Unique within the pipeline. */
  readonly key: string;
  /** For people. */
  readonly name: string;
  /** Changes of it that depend on each other are tested, and land, together. */
  readonly allowsCycles: boolean;
  /** Open changes of one topic depend on each other. */
  readonly byTopic: boolean;
}

/**
 * Null: the project takes no part in the pipeline, on any branch. Projects that name the same queue share it; a
 * queue with `per-branch` is one queue per branch.
 */
export function changeQueueOf(
  layout: Pick<LayoutFacts, 'projects'>,
  pipeline: PipelineName,
  project: ProjectKey,
  branch: BranchName | null,
): ChangeQueueName | null {
  const facts = layout.projects.get(project);
  if (facts === undefined || !facts.pipelines.has(pipeline)) return null;
  const { queue } = facts;
  if (queue === undefined)
    return {
      key: `project ${project}`,
      name: projectIdOf(project).name,
      ...{ allowsCycles: false, byTopic: false },
    };
  const { allowsCycles, byTopic } = queue;
  return queue.perBranch && branch !== null
    ? { key: `queue ${queue.name} ${branch}`, name: `${queue.name} ${branch}`, allowsCycles, byTopic }
    : { key: `queue ${queue.name}`, name: queue.name, allowsCycles, byTopic };
}
