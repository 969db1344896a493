import { type ProjectKey, projectIdOf } from '../model/project.ts';
import { type HttpRefusal, notFound } from './answer.ts';
import type { FoundTenant } from './tenant-access.ts';

/** The tenant's project of that canonical name, or of that name where it is the only one. */
export function projectNamed(
  wanted: string,
  { name, snapshot }: Pick<FoundTenant, 'name' | 'snapshot'>,
): { readonly kind: 'project'; readonly project: ProjectKey } | HttpRefusal {
  const named = snapshot.projects.filter(
    ({ project, canonicalName }) => canonicalName === wanted || projectIdOf(project).name === wanted,
  );
  const exact = named.find(({ canonicalName }) => canonicalName === wanted);
  const found = exact ?? (named.length === 1 ? named[0] : undefined);
  if (found !== undefined) return { kind: 'project', project: found.project };
  const reason =
    named.length > 1 ? 'several projects have that name; use the canonical one' : 'there is none';
  return notFound(
    `no project ${JSON.stringify(wanted.slice(0, 200))} of tenant ${name}: ${reason}`,
    'path: project',
  );
}
