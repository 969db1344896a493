/** Chooses the configuration files of a branch and the branches of a project, by Zuul's rules. */
import { compileRegex } from '../../lib/regex.ts';
import type { Tenant, TenantProject } from '../../model/layout.ts';
import type { BranchConfig, ConfigFile } from '../../model/merge.ts';
import type { BranchName, ProjectKey } from '../../model/project.ts';

/** The first root that exists is read, the others are not. A root ending in `/` is a directory, read with all below it. */
const CONFIG_ROOTS = ['zuul.yaml', 'zuul.d/', '.zuul.yaml', '.zuul.d/'] as const;

/** A directory that holds a file of this name is not read, nor what is below it. */
const IGNORE = '.zuul.ignore';

/**
 * Whether a path of a repository decides about configuration: mergers read it, and a change of it makes a new layout.
 *
 * @param extra `extra-config-paths` of the project.
 */
export function isConfigPath(path: string, extra: readonly string[] = []): boolean {
  const roots = [...CONFIG_ROOTS, ...extra];
  if (path.endsWith(`/${IGNORE}`)) return roots.some(root => root.endsWith('/') && path.startsWith(root));
  return roots.some(root => belongsTo(path, root));
}

/** `extra-config-paths` of a project of the tenant. */
export function extraPathsOf({ projects }: Pick<Tenant, 'projects'>, project: ProjectKey): readonly string[] {
  return projects.find(each => each.project === project)?.extraConfigPaths ?? [];
}

/** Why a path cannot be a further place of configuration; undefined: it can. A directory ends in `/`. */
export function refusedExtraPath(path: string): string | undefined {
  const parts = (path.endsWith('/') ? path.slice(0, -1) : path).split('/');
  if (parts.some(part => part === '' || part === '.' || part === '..') || /[\\\0]/.test(path))
    return 'is no path below the root of the repository';
  const isUsual = CONFIG_ROOTS.some(root => root.replace('/', '') === parts[0]);
  return isUsual ? 'is where configuration is read anyway' : undefined;
}

/** A directory that could not be read is reported with the path of the root itself. */
function belongsTo(path: string, root: string): boolean {
  return path === root || (root.endsWith('/') && path.startsWith(root) && /\.ya?ml$/.test(path));
}

/** A branch's files after Zuul's rule that one root counts. */
export interface ChosenFiles {
  /** In the order in which they apply. */
  readonly files: readonly ConfigFile[];
  /** Files of further roots, which have no effect. */
  readonly ignored: readonly { readonly path: string; readonly because: string }[];
}

/**
 * @param files of one branch, in any order; those outside all roots are in neither list.
 * @param extra `extra-config-paths` of the project: files first, then directories, each in the order given.
 */
export function chooseConfigFiles(files: readonly ConfigFile[], extra: readonly string[] = []): ChosenFiles {
  const sorted = files.toSorted((a, b) => compareText(a.path, b.path));
  const below = (root: string) => sorted.filter(file => belongsTo(file.path, root));
  const root = CONFIG_ROOTS.find(candidate => below(candidate).length > 0);
  const usual = root === undefined ? [] : below(root);
  const [directories, single] = [extra.filter(isDirectory), extra.filter(path => !isDirectory(path))];
  const chosen = new Set([...usual, ...[...single, ...directories].flatMap(below)]);
  const others = sorted.filter(
    file => !chosen.has(file) && CONFIG_ROOTS.some(each => belongsTo(file.path, each)),
  );
  return {
    files: [...chosen],
    ignored: root === undefined ? [] : others.map(({ path }) => ({ path, because: root })),
  };
}

function isDirectory(path: string): boolean {
  return path.endsWith('/');
}

/** Branches whose configuration is read, `master` and `main` first, then by name. */
export function chooseBranches(
  project: TenantProject,
  configs: readonly BranchConfig[],
): readonly BranchConfig[] {
  if (project.trusted) {
    const wanted = project.loadBranch === undefined ? ['master', 'main'] : [project.loadBranch];
    const found = wanted.flatMap(branch => configs.find(config => config.branch === branch) ?? []);
    return found.slice(0, 1);
  }
  return configs
    .filter(({ branch }) => isBranchIncluded(project, branch))
    .toSorted((a, b) => rank(a.branch) - rank(b.branch) || compareText(a.branch, b.branch));
}

/** By its name, as `include-branches`, `exclude-branches` and `always-dynamic-branches` of an untrusted project say. */
export function isBranchIncluded(project: TenantProject, branch: BranchName): boolean {
  return isStatic(project, branch) || isAlwaysDynamic(project, branch);
}

/** Its configuration counts for changes of it only. What `include-branches` names is in every layout all the same, as in Zuul. */
export function isAlwaysDynamic(project: TenantProject, branch: BranchName): boolean {
  return !isStatic(project, branch) && matchesAny(project.alwaysDynamicBranches ?? [], branch);
}

/** Its configuration is in every layout of the tenant. */
function isStatic(project: TenantProject, branch: BranchName): boolean {
  if (project.trusted) return true;
  if (project.includeBranches.length > 0) return matchesAny(project.includeBranches, branch);
  return !matchesAny([...project.excludeBranches, ...(project.alwaysDynamicBranches ?? [])], branch);
}

function matchesAny(sources: readonly string[], branch: BranchName): boolean {
  return sources.some(source => matchesWhole(source, branch));
}

/** The tenant file's expressions were checked when it was read; as in Zuul they must match the whole name. */
function matchesWhole(source: string, branch: BranchName): boolean {
  const regex = compileRegex(source);
  return regex.kind === 'regex' && regex.testAll(branch);
}

function rank(branch: BranchName): number {
  return branch === 'master' ? 0 : branch === 'main' ? 1 : 2;
}

/** Order by UTF-16 units: the same on every machine. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
