import { compileRegex } from '../../lib/regex.ts';
import type { Tenant } from '../../model/layout.ts';
import { type ProjectKey, projectIdOf } from '../../model/project.ts';
import { canonicalNameIn } from './resolve-project.ts';

/**
 * Projects of which an expression matches the whole name, or the whole canonical name.
 *
 * @param sources RE2 texts that were checked when the tenant file was read.
 * @param trusted config-projects, or else the untrusted ones.
 */
export function projectsNamed(
  sources: readonly string[],
  trusted: boolean,
  tenant: Pick<Tenant, 'projects' | 'hosts'>,
): readonly ProjectKey[] {
  const regexes = sources.map(compileRegex).filter(regex => regex.kind === 'regex');
  if (regexes.length === 0) return [];
  return tenant.projects.flatMap(each => {
    if (each.trusted !== trusted) return [];
    const names = [projectIdOf(each.project).name, canonicalNameIn(each.project, tenant)];
    return regexes.some(regex => names.some(name => regex.testAll(name))) ? [each.project] : [];
  });
}
