/** Which change queue a project and branch belong to in a pipeline. */
import { type BranchName, type PipelineName, type ProjectKey, projectIdOf } from '../model/project.ts';
import type { Layout, ProjectConfig } from './layout.ts';

export interface ChangeQueueName {
  /** Unique within the pipeline. */
  readonly key: string;
  /** For people. */
  readonly name: string;
}

/**
 * Null: the project takes no part in the pipeline, on whatever branch. Projects that name the same queue share it; a
 * queue with `per-branch` is one queue per branch.
 */
export function changeQueueOf(
  layout: Layout,
  pipeline: PipelineName,
  project: ProjectKey,
  branch: BranchName | null,
): ChangeQueueName | null {
  const config = layout.projects.get(project);
  if (config === undefined || !takesPart(config, layout, pipeline)) return null;
  const { queue } = config;
  if (queue === undefined) return { key: `project ${project}`, name: projectIdOf(project).name };
  const perBranch = layout.queues.get(queue)?.perBranch === true && branch !== null;
  return perBranch
    ? { key: `queue ${queue} ${branch}`, name: `${queue} ${branch}` }
    : { key: `queue ${queue}`, name: queue };
}

function takesPart({ stanzas }: ProjectConfig, layout: Layout, pipeline: PipelineName): boolean {
  const names = (pipelines: readonly { readonly pipeline: { readonly name: string } }[]) =>
    pipelines.some(entry => entry.pipeline.name === pipeline);
  return stanzas.some(({ item }) => {
    if (names(item.pipelines)) return true;
    if (item.kind !== 'project') return false;
    return item.templates.some(({ name }) =>
      (layout.templates.get(name) ?? []).some(template => names(template.item.pipelines)),
    );
  });
}
