/** Chooses the configuration files of a branch and the branches of a project, by Zuul's rules. */
import { compileRegex } from '../lib/regex.ts';
import type { TenantProject } from '../model/layout.ts';
import type { BranchConfig, ConfigFile } from '../model/merge.ts';
import type { BranchName } from '../model/project.ts';

/** The first root that exists is read, the others are not. A root ending in `/` is a directory, read with all below it. */
const CONFIG_ROOTS = ['zuul.yaml', 'zuul.d/', '.zuul.yaml', '.zuul.d/'] as const;

/** Whether a path of a repository may hold configuration: mergers read it, and a change of it gets a speculative layout. */
export function isConfigPath(path: string): boolean {
  return CONFIG_ROOTS.some(root => belongsTo(path, root));
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

/** @param files of one branch, in any order; those outside all roots are in neither list. */
export function chooseConfigFiles(files: readonly ConfigFile[]): ChosenFiles {
  const sorted = files.toSorted((a, b) => compareText(a.path, b.path));
  const root = CONFIG_ROOTS.find(candidate => sorted.some(file => belongsTo(file.path, candidate)));
  if (root === undefined) return { files: [], ignored: [] };
  const chosen = sorted.filter(file => belongsTo(file.path, root));
  const others = sorted.filter(file => !belongsTo(file.path, root) && isConfigPath(file.path));
  return { files: chosen, ignored: others.map(({ path }) => ({ path, because: root })) };
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

/** By its name, as `include-branches` and `exclude-branches` of an untrusted project say. */
export function isBranchIncluded(project: TenantProject, branch: BranchName): boolean {
  if (project.trusted) return true;
  const any = (sources: readonly string[]) => sources.some(source => matchesWhole(source, branch));
  if (project.includeBranches.length > 0) return any(project.includeBranches);
  return !any(project.excludeBranches);
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
