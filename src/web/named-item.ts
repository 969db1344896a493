/** How operators' requests name what they concern: a pipeline of the tenant, and in it a change of a project. */
import { refId } from '../api/status.ts';
import type { PipelineSnapshot, TenantSnapshot } from '../api/tenant-snapshot.ts';
import type { Change } from '../model/change.ts';
import { projectIdOf } from '../model/project.ts';
import { badRequest, type HttpRefusal } from './answer.ts';

/** By its name. */
export function findPipeline(
  { pipelines }: Pick<TenantSnapshot, 'pipelines'>,
  name: string,
): { readonly kind: 'found'; readonly live: PipelineSnapshot } | HttpRefusal {
  const live = pipelines.find(({ pipeline }) => pipeline.name === name);
  if (live !== undefined) return { kind: 'found', live };
  return badRequest(`there is no pipeline ${JSON.stringify(name)}`, 'body: pipeline');
}

/** @param text id with or without patchset, or a ref. @param project name or key; absent: of any project. */
export function isNamed(change: Change, text: string, project?: string): boolean {
  const isProject =
    project === undefined || change.project === project || projectIdOf(change.project).name === project;
  const isId = change.kind === 'change' && change.id === text;
  return isProject && (isId || refId(change) === text || change.ref === text);
}
