/**
 * `project:` stanzas whose name is a regular expression. Each configures every project of the tenant whose whole name it matches, after the
 * stanzas that name the project; expressions count in the order in which they first appear (Zuul's rule).
 *
 *     - project: {name: ^acme/.*, check: {jobs: [lint]}}     acme/app, acme/lib and so on check with lint
 */

import { append } from '../../lib/append.ts';
import type { Regex } from '../../lib/regex.ts';
import type { Tenant } from '../../model/layout.ts';
import { type ProjectKey, projectIdOf } from '../../model/project.ts';
import { unknownScopeError } from '../model/branch-scope.ts';
import { errorAt } from '../model/config-place.ts';
import type { LayoutFile } from '../model/layout.ts';
import { projectScope } from '../model/may-configure.ts';
import type { ProjectStanza } from '../stanzas/stanzas.ts';
import { canonicalNameIn } from '../tenant/resolve-project.ts';
import type { CollectContext, Collected } from './collected.ts';

/** Names tried against expressions, for one layout: 2 000 projects and 250 stanzas. */
const MOST_TRIES = 500_000;

/** Of the tenant; by their names or their canonical names. */
export function projectsMatching(pattern: Regex, tenant: Tenant): readonly ProjectKey[] {
  const isMeant = (project: ProjectKey) =>
    pattern.testAll(projectIdOf(project).name) || pattern.testAll(canonicalNameIn(project, tenant));
  return tenant.projects.flatMap(({ project }) => (isMeant(project) ? [project] : []));
}

/** An expression in an untrusted project may match only this one, and those that the tenant file lets it configure. */
export function collectPattern(
  pattern: Regex,
  stanza: ProjectStanza,
  file: LayoutFile,
  into: Collected,
  { tenant, mayConfigure }: CollectContext,
): void {
  into.patternTries += tenant.projects.length;
  if (into.patternTries > MOST_TRIES) {
    const text = `the tenant has too many projects and expressions as names of projects (more than ${MOST_TRIES} names to try); name projects, or use fewer expressions`;
    const error = errorAt(file, stanza.nameOffset, 'too-many-projects', text);
    into.errors.push(error);
    // What it would have configured is not known: no project runs fewer jobs than it says.
    for (const { project } of file.trusted ? tenant.projects : [file])
      append(into.brokenProjects, project, { branch: undefined, error });
    return;
  }
  const matched = projectsMatching(pattern, tenant);
  const foreign = matched.find(project => !mayConfigure(file, project));
  if (foreign !== undefined) {
    const text = `expression "${pattern.source}" matches project ${projectIdOf(foreign).name}, which may be configured in its own repository or in a config-project only; leave "name" out to configure ${projectIdOf(file.project).name}`;
    into.errors.push(errorAt(file, stanza.nameOffset, 'not-permitted', text));
    return;
  }
  const isOwn = matched.every(project => project === file.project);
  const scope = projectScope(stanza, file, isOwn);
  append(into.patterns, pattern.source, {
    projects: matched,
    variant: { file, stanza, scope, broken: unknownScopeError(scope) },
  });
}

/** Call it when all stanzas are collected. */
export function applyPatterns({ patterns, projects }: Collected): void {
  for (const stanzas of patterns.values())
    for (const { projects: matched, variant } of stanzas)
      for (const project of matched) append(projects, project, variant);
}
