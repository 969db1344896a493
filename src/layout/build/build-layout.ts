/**
 * A tenant's projects and the configuration files of their branches → {@link Layout}. Pure; parsed files are cached.
 *
 *     const layout = buildLayout({ tenant, configs, languages, cache });
 *     layout.errors.map(configErrorText);
 *       // local/acme/app@master:.zuul.yaml:9:9: Job unit-test not defined, did you mean "unit-tests"?
 *
 * `configs` holds an entry for *every* branch of every project, also for branches without configuration files: whether
 * an untrusted project has one branch or more decides whether its jobs are bound to their branch.
 */
import type { ConfigError } from '../../model/config-error.ts';
import type { Tenant, TenantProject } from '../../model/layout.ts';
import type { BranchConfig } from '../../model/merge.ts';
import type { BranchName, ProjectKey } from '../../model/project.ts';
import { impliedScope } from '../model/branch-scope.ts';
import { labelRule } from '../model/label-rule.ts';
import type { Layout, LayoutFile, ProjectConfig } from '../model/layout.ts';
import { configurePermission } from '../model/may-configure.ts';
import type { ParseCache } from '../stanzas/parse-cache.ts';
import type { ParsedFile } from '../stanzas/stanzas.ts';
import {
  chooseBranches,
  chooseConfigFiles,
  compareText,
  isAlwaysDynamic,
  isBranchIncluded,
} from '../tenant/config-files.ts';
import { projectResolver } from '../tenant/resolve-project.ts';
import type { Languages } from './build-pipeline.ts';
import { checkJobs } from './check-jobs.ts';
import { checkNodesets } from './check-nodesets.ts';
import { checkPipelines } from './check-pipelines.ts';
import { checkProjects } from './check-projects.ts';
import { collectFile } from './collect-stanzas.ts';
import { type Collected, emptyCollection } from './collected.ts';
import { placedSecret } from './layout-secret.ts';
import { applyPatterns } from './project-patterns.ts';

/** Everything a layout depends on: the same input gives the same layout. */
export interface LayoutInput {
  readonly tenant: Tenant;
  /** Every branch of every project of the tenant, in any order. */
  readonly configs: readonly BranchConfig[];
  /** Branches of the changes that it is for: of those in `always-dynamic-branches` only these count. Absent: it is the tenant's own. */
  readonly proposed?: readonly Pick<BranchConfig, 'project' | 'branch'>[];
  readonly languages: Languages;
  /** Shared by all layouts of a thread: most files are the same from one to the next. */
  readonly cache: ParseCache;
}

/** Never throws for what a file holds: mistakes are in `errors`, in reading order, and break only what needs them. */
export function buildLayout({ tenant, configs, proposed = [], languages, cache }: LayoutInput): Layout {
  const collected = emptyCollection();
  const resolve = projectResolver(tenant, collected.hints);
  const context = {
    ...{ tenant, languages, resolve },
    mayConfigure: configurePermission(tenant),
    labels: labelRule(tenant),
  };
  const byProject = Map.groupBy(inForce(tenant, configs, proposed), config => config.project);
  for (const project of tenant.projects) {
    const kinds = project.itemKinds === undefined ? undefined : new Set(project.itemKinds);
    for (const file of filesOf(project, byProject.get(project.project) ?? [], cache, collected.errors)) {
      collectFile(file, kinds, collected, context);
    }
  }
  applyPatterns(collected);
  checkNodesets(collected);
  checkPipelines(collected);
  checkJobs(collected, context);
  checkProjects(collected, context);
  return {
    tenant,
    pipelines: collected.pipelines,
    jobs: collected.jobs,
    nodesets: stanzasOf(collected.nodesets),
    secrets: new Map(
      [...collected.secrets].map(([name, { stanza, file }]) => [name, placedSecret(stanza, file)]),
    ),
    queues: stanzasOf(collected.queues),
    semaphores: stanzasOf(collected.semaphores),
    templates: collected.templates,
    projects: new Map(tenant.projects.map(project => [project.project, projectConfig(project, collected)])),
    resolveProject: resolve,
    branches: new Map(
      tenant.projects.map(project => [
        project.project,
        includedBranches(project, byProject.get(project.project)),
      ]),
    ),
    errors: inOrder(collected, tenant),
  };
}

/** Without branches in `always-dynamic-branches`, unless the layout is for a change of them. */
function inForce(
  tenant: Tenant,
  configs: readonly BranchConfig[],
  proposed: readonly Pick<BranchConfig, 'project' | 'branch'>[],
): readonly BranchConfig[] {
  const options = new Map(tenant.projects.map(each => [each.project, each]));
  return configs.filter(({ project, branch }) => {
    const own = options.get(project);
    if (own === undefined || !isAlwaysDynamic(own, branch)) return true;
    return proposed.some(each => each.project === project && each.branch === branch);
  });
}

function includedBranches(
  project: TenantProject,
  configs: readonly BranchConfig[] = [],
): ReadonlySet<BranchName> {
  const included = configs.filter(({ branch }) => isBranchIncluded(project, branch));
  return new Set(included.map(({ branch }) => branch));
}

function filesOf(
  project: TenantProject,
  configs: readonly BranchConfig[],
  cache: ParseCache,
  errors: ConfigError[],
): readonly LayoutFile[] {
  const branches = chooseBranches(project, configs);
  return branches.flatMap(({ branch, files }) => {
    const chosen = chooseConfigFiles(files, project.extraConfigPaths);
    const place = { project: project.project, branch, line: 1, column: 1 };
    for (const { path, because } of chosen.ignored) {
      const text = `not read, because ${because} exists too; merge the two or remove one`;
      errors.push({ severity: 'warning', ...place, file: path, code: 'ignored-file', text });
    }
    const { project: key, trusted } = project;
    return chosen.files.map((source): LayoutFile => {
      const { path, problem } = source;
      const parsed = problem === undefined ? cache.parse(source) : unreadable(problem);
      const file = { project: key, branch, trusted, path, implied: undefined, parsed };
      return { ...file, implied: impliedScope(file, project, branches.length > 1) };
    });
  });
}

function unreadable(text: string): ParsedFile {
  const problem = { offset: 0, code: 'unreadable-file', text };
  return { stanzas: [], problems: [problem], positionOf: () => ({ line: 1, column: 1 }) };
}

/**
 * Those of files that cannot be read first, since others follow from them; then in reading order: by project in the tenant's order,
 * then branch, file and line.
 */
function inOrder({ errors, unreadable }: Collected, { projects }: Tenant): readonly ConfigError[] {
  const causes = new Set(unreadable.map(({ project, branch, path }) => `${project} ${branch} ${path}`));
  const isCause = ({ project, branch, file }: ConfigError) => causes.has(`${project} ${branch} ${file}`);
  const ranks = new Map(projects.map(({ project }, rank) => [project, rank]));
  const rank = ({ project }: ConfigError) => (project === undefined ? -1 : (ranks.get(project) ?? -1));
  return errors.toSorted(
    (a, b) =>
      Number(isCause(b)) - Number(isCause(a)) ||
      rank(a) - rank(b) ||
      compareText(a.branch ?? '', b.branch ?? '') ||
      compareText(a.file, b.file) ||
      a.line - b.line ||
      a.column - b.column,
  );
}

function stanzasOf<T>(map: ReadonlyMap<string, { readonly stanza: T }>): ReadonlyMap<string, T> {
  return new Map([...map].map(([name, { stanza }]) => [name, stanza]));
}

function projectConfig({ project, trusted }: TenantProject, collected: Collected): ProjectConfig {
  const variants = collected.projects.get(project) ?? [];
  return {
    project,
    trusted,
    queue: queueOf(project, collected),
    defaultBranch:
      firstOf(variants, ({ stanza }) => (stanza.kind === 'project' ? stanza.defaultBranch : undefined)) ??
      'master',
    mergeMode: firstOf(variants, ({ stanza }) => (stanza.kind === 'project' ? stanza.mergeMode : undefined)),
    variants,
    broken: collected.brokenProjects.get(project) ?? [],
  };
}

function queueOf(project: ProjectKey, { projects, templates }: Collected): string | undefined {
  return firstOf(projects.get(project) ?? [], ({ stanza }) => {
    if (stanza.queue !== undefined || stanza.kind !== 'project') return stanza.queue?.name;
    return firstOf(stanza.templates, ({ name }) =>
      firstOf(templates.get(name) ?? [], template => template.stanza.queue?.name),
    );
  });
}

function firstOf<T, Found>(values: readonly T[], find: (value: T) => Found | undefined): Found | undefined {
  for (const value of values) {
    const found = find(value);
    if (found !== undefined) return found;
  }
  return undefined;
}
