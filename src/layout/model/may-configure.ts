/**
 * Which projects a file may configure by `project:` stanzas: a config-project's all, another one's its own project and the untrusted ones
 * that `configure-projects` of the tenant file names.
 */
import type { Tenant } from '../../model/layout.ts';
import type { ProjectKey } from '../../model/project.ts';
import type { ProjectStanza } from '../stanzas/stanzas.ts';
import { projectsNamed } from '../tenant/projects-named.ts';
import { scopeOf } from './branch-scope.ts';
import type { BranchScope, LayoutFile } from './layout.ts';

/** @param project of the tenant. */
export type ConfigurePermission = (
  file: Pick<LayoutFile, 'project' | 'trusted'>,
  project: ProjectKey,
) => boolean;

/** One for all files of a layout: names are tried once for each project that may configure others. */
export function configurePermission(tenant: Tenant): ConfigurePermission {
  const known = new Map<ProjectKey, ReadonlySet<ProjectKey>>();
  const configuredBy = (own: ProjectKey) => {
    const found = known.get(own) ?? new Set(projectsNamed(configuresOf(own, tenant), false, tenant));
    known.set(own, found);
    return found;
  };
  return ({ project: own, trusted }, project) => trusted || project === own || configuredBy(own).has(project);
}

function configuresOf(own: ProjectKey, { projects }: Tenant): readonly string[] {
  return projects.find(({ project }) => project === own)?.configures ?? [];
}

/**
 * For changes of which branches a `project:` stanza counts. An untrusted project's for itself counts for the branch it stands on, regardless of
 * the pragma of its file.
 */
export function projectScope(
  { branches = [] }: ProjectStanza,
  file: LayoutFile,
  isOwn: boolean,
): BranchScope | undefined {
  const written = scopeOf(branches);
  if (written !== undefined || !isOwn) return written ?? file.implied;
  return file.trusted ? undefined : { kind: 'branch', branch: file.branch };
}
