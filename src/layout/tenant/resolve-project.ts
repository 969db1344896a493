import { didYouMean, type HintBudget } from '../../lib/nearest-name.ts';
import type { Tenant, TenantProject } from '../../model/layout.ts';
import { type ProjectKey, projectIdOf } from '../../model/project.ts';

type ResolvedProject =
  | { readonly kind: 'project'; readonly project: ProjectKey }
  | { readonly kind: 'unknown'; readonly code: string; readonly text: string };

/** @param name as configuration has it. `unknown`: none or several have the name; code and text are for the error. */
export type ProjectResolver = (name: string) => ResolvedProject;

/**
 * Finds a tenant's project by its name, by its canonical name `<host>/<name>`, or by `<connection>/<name>` where two connections have one
 * of that name.
 */
export function projectResolver(
  tenant: Pick<Tenant, 'name' | 'hosts'> & { readonly projects: readonly Pick<TenantProject, 'project'>[] },
  hints: HintBudget,
): ProjectResolver {
  const byName = new Map<string, ProjectKey[]>();
  const add = (name: string, project: ProjectKey) => {
    const projects = byName.get(name) ?? [];
    if (!projects.includes(project)) byName.set(name, [...projects, project]);
  };
  for (const { project } of tenant.projects) {
    add(projectIdOf(project).name, project);
    add(project, project);
    add(canonicalNameIn(project, tenant), project);
  }
  return name => {
    const [first, second] = byName.get(name) ?? [];
    if (first === undefined) {
      const hint = didYouMean(name, byName.keys(), hints) || '; add it to the tenant file';
      return {
        kind: 'unknown',
        code: 'unknown-project',
        text: `project "${name}" is not in tenant ${tenant.name}${hint}`,
      };
    }
    if (second === undefined) return { kind: 'project', project: first };
    const text = `project "${name}" is on several connections; write ${first} or ${second}`;
    return { kind: 'unknown', code: 'ambiguous-project', text };
  };
}

/** `<host>/<name>`: the same for every service that knows the project. */
export function canonicalNameIn(project: ProjectKey, { hosts = {} }: Pick<Tenant, 'hosts'>): string {
  const { connection, name } = projectIdOf(project);
  return `${hosts[connection] ?? connection}/${name}`;
}
