/**
 * Branches that a tenant leaves out, with their configuration and their events: by name (`include-branches`, `exclude-branches`), or
 * because the code host does not protect them or holds them read-only.
 */
import type { BranchSelection } from '../../driver/source.ts';
import { isBranchIncluded } from '../../layout/tenant/config-files.ts';
import type { TenantProject } from '../../model/layout.ts';
import type { BranchName, ProjectKey } from '../../model/project.ts';
import type { TenantConfig } from './tenant-config.ts';

/** Undefined: the tenant takes every branch that the host lists. */
export function branchSelectionOf(project: TenantProject | undefined): BranchSelection | undefined {
  const { excludeUnprotected, excludeLocked } = project ?? {};
  if (excludeUnprotected === undefined && excludeLocked === undefined) return undefined;
  return { excludeUnprotected: excludeUnprotected === true, excludeLocked: excludeLocked === true };
}

/** The tenant file selects other branches of the host, or other files, than it did when these files were read. */
export function selectsOther(before: TenantProject | undefined, now: TenantProject): boolean {
  if (before === undefined) return false;
  const read = (project: TenantProject) =>
    JSON.stringify([branchSelectionOf(project) ?? null, project.extraConfigPaths ?? []]);
  return read(before) !== read(now);
}

/** Why events of the branch are ignored, in one clause; undefined: they are not. Branches of a project that was not read yet count. */
export function exclusionOf(
  { tenant, branches }: Pick<TenantConfig, 'tenant' | 'branches'>,
  project: ProjectKey,
  branch: BranchName,
): string | undefined {
  const options = tenant.projects.find(each => each.project === project);
  if (options === undefined) return undefined;
  if (!isBranchIncluded(options, branch))
    return `branch ${branch} is excluded by its name in the tenant file`;
  const known = branches.get(project);
  if (branchSelectionOf(options) === undefined || known === undefined || known.has(branch)) return undefined;
  return `branch ${branch} is excluded in the tenant file, because the code host does not protect it or holds it read-only`;
}
