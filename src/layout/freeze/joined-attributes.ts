/**
 * What a definition of a job makes of the attributes that are joined with those of its parents and earlier variants, or take their place;
 * `!override` and `!inherit` say otherwise for one of them.
 *
 *     tags: [a]   then   tags: [b]             →   [a, b]          files: [a]   then   files: [b]            →   [b]
 *     tags: [a]   then   tags: !override [b]   →   [b]             files: [a]   then   files: !inherit [b]   →   [a, b]
 */
import type { JobVarsFile, RequiredProject, Variables } from '../../model/job.ts';
import { mergeNamedVars, mergeVars } from '../../model/merge-vars.ts';
import type { LayoutFile } from '../model/layout.ts';
import type { Matcher } from '../reading/matcher.ts';
import type { DependencyEntry, JobAttributes } from '../stanzas/stanzas.ts';
import type { ProjectResolver } from '../tenant/resolve-project.ts';
import { withVarsFiles } from './job-vars-files.ts';

/** Their values after the definitions applied so far. */
export interface JoinedAttributes {
  readonly dependencies: readonly DependencyEntry[];
  /** Empty: any file. The last definition replaces those before. */
  readonly files: readonly Matcher[];
  readonly irrelevantFiles: readonly Matcher[];
  /** In the order in which they are read. */
  readonly includeVars: readonly JobVarsFile[];
  readonly vars: Variables;
  readonly extraVars: Variables;
  readonly hostVars: { readonly [node: string]: Variables };
  readonly groupVars: { readonly [group: string]: Variables };
  readonly requiredProjects: readonly RequiredProject[];
  readonly tags: readonly string[];
  readonly provides: readonly string[];
  readonly requires: readonly string[];
  readonly failureOutput: readonly string[];
}

export function joinedAttributes(
  before: JoinedAttributes,
  attributes: JobAttributes,
  file: LayoutFile,
  resolve: ProjectResolver,
): JoinedAttributes {
  const { dependencies, files, irrelevantFiles, failureOutput } = attributes;
  const required = kept('required-projects', before.requiredProjects, [], attributes);
  const output = kept('failure-output', before.failureOutput, [], attributes);
  return {
    dependencies: withoutRepeats(replaced('dependencies', before.dependencies, dependencies, attributes)),
    files: replaced('files', before.files, files, attributes),
    irrelevantFiles: replaced('irrelevant-files', before.irrelevantFiles, irrelevantFiles, attributes),
    requiredProjects: addProjects(required, attributes, resolve),
    tags: joined('tags', before.tags, attributes),
    provides: joined('provides', before.provides, attributes),
    requires: joined('requires', before.requires, attributes),
    failureOutput: union(output, failureOutput).toSorted(),
    ...mergedVariables(before, attributes, file, resolve),
  };
}

function mergedVariables(
  before: JoinedAttributes,
  attributes: JobAttributes,
  file: LayoutFile,
  resolve: ProjectResolver,
): Pick<JoinedAttributes, 'includeVars' | 'vars' | 'extraVars' | 'hostVars' | 'groupVars'> {
  return {
    includeVars: withVarsFiles(
      kept('include-vars', before.includeVars, [], attributes),
      attributes,
      file,
      resolve,
    ),
    vars: mergeVars(kept('vars', before.vars, {}, attributes), attributes.vars ?? {}),
    extraVars: mergeVars(kept('extra-vars', before.extraVars, {}, attributes), attributes.extraVars ?? {}),
    hostVars: mergeNamedVars(kept('host-vars', before.hostVars, {}, attributes), attributes.hostVars ?? {}),
    groupVars: mergeNamedVars(
      kept('group-vars', before.groupVars, {}, attributes),
      attributes.groupVars ?? {},
    ),
  };
}

/** Of an attribute that is added to what was there: that, or nothing of it with `!override`. */
function kept<T>(key: string, before: T, nothing: T, { controls }: JobAttributes): T {
  return controls?.[key] === 'override' ? nothing : before;
}

/** Of an attribute that takes the place of what was there: it joins that with `!inherit`. */
function replaced<T>(
  key: string,
  before: readonly T[],
  value: readonly T[] | undefined,
  { controls }: JobAttributes,
): readonly T[] {
  if (value === undefined) return before;
  return controls?.[key] === 'inherit' ? [...before, ...value] : value;
}

/** An empty list changes nothing, also with `!override`, as in Zuul. */
function joined(
  key: 'tags' | 'provides' | 'requires',
  before: readonly string[],
  attributes: JobAttributes,
): readonly string[] {
  const more = attributes[key] ?? [];
  return more.length === 0 ? before : union(kept(key, before, [], attributes), more);
}

function union(before: readonly string[], more: readonly string[] = []): readonly string[] {
  return [...new Set([...before, ...more])];
}

/** Of equal names the last one. */
function withoutRepeats(entries: readonly DependencyEntry[]): readonly DependencyEntry[] {
  return entries.filter(({ name }, at) => !entries.slice(at + 1).some(other => other.name === name));
}

function addProjects(
  before: readonly RequiredProject[],
  { requiredProjects = [] }: JobAttributes,
  resolve: ProjectResolver,
): readonly RequiredProject[] {
  const projects = new Map(before.map(required => [required.project, required]));
  for (const { name, overrideCheckout } of requiredProjects) {
    const resolved = resolve(name);
    // Unknown names broke the definition when the layout was built.
    if (resolved.kind === 'unknown') continue;
    const { project } = resolved;
    projects.set(project, { project, ...(overrideCheckout === undefined ? {} : { overrideCheckout }) });
  }
  return [...projects.values()];
}
