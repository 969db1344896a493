/**
 * The checkouts of a build, and their commits.
 *
 * All commits come from the buildset's tested merge, so every job of a buildset sees the same state. The change's own
 * project and those of the items ahead are checked out at their merged commits; a required project at the branch of the
 * change where it has one, else at its default branch, or where the job overrides it.
 */

import type { BuildProject } from '../../model/build-request.ts';
import { type TestedMerge, testedHeads } from '../../model/build-set.ts';
import { type Change, targetBranchOf } from '../../model/change.ts';
import type { FrozenJob } from '../../model/job.ts';
import type { BranchHead } from '../../model/merge.ts';
import type { ProjectKey } from '../../model/project.ts';
import { workspacePlace } from '../../model/workspace-place.ts';

/** Tried in order when a project lacks the change's branch and names no default branch of its own that it has. */
export const USUAL_BRANCHES = ['master', 'main'] as const;

/** What the layout and the connections say of projects. */
export interface ProjectPlaces {
  /** The project's `default-branch`. */
  defaultBranch(project: ProjectKey): string | undefined;
  /** Host and name, as in `example.org/app`: the path of its checkout below `src/`. */
  canonicalName(project: ProjectKey): string;
  /** It is a config-project. */
  isTrusted(project: ProjectKey): boolean;
}

/**
 * @param changes of the chain, the item's own last.
 * @param own the item's, the one whose job it is first: required projects are checked out at its branch.
 */
export function buildProjects(
  job: FrozenJob,
  changes: readonly Change[],
  own: readonly Change[],
  tested: TestedMerge,
  places: ProjectPlaces,
): readonly BuildProject[] {
  const heads = testedHeads(tested);
  const [lead] = own;
  const branch = lead === undefined ? undefined : targetBranchOf(lead);
  const wanted = new Map<ProjectKey, string | undefined>();
  for (const change of own) wanted.set(change.project, job.overrideCheckout);
  for (const each of job.requiredProjects)
    wanted.set(each.project, each.overrideCheckout ?? job.overrideCheckout);
  const required = new Set([
    ...own.map(change => change.project),
    ...job.requiredProjects.map(each => each.project),
  ]);
  for (const change of changes)
    if (!wanted.has(change.project)) wanted.set(change.project, job.overrideCheckout);
  return [...wanted].flatMap(([project, override]) => {
    const pinned = own.find(change => change.project === project);
    const head =
      pinned?.kind === 'ref'
        ? pinnedHead(pinned, tested)
        : headOf(heads, project, [override, branch, places.defaultBranch(project)]);
    if (head === undefined) return [];
    return [
      {
        project,
        canonicalName: places.canonicalName(project),
        ...placeOf(project, job, places),
        branch: head.branch,
        commit: head.commit,
        required: required.has(project),
      },
    ];
  });
}

function placeOf(
  project: ProjectKey,
  { workspaceScheme }: FrozenJob,
  places: ProjectPlaces,
): Pick<BuildProject, 'place'> {
  if (workspaceScheme === undefined) return {};
  return { place: workspacePlace(workspaceScheme, project, places.canonicalName(project)) };
}

/** Head of the first wanted branch that exists, else of a usual branch, else any known head. */
export function headOf(
  heads: readonly BranchHead[],
  project: ProjectKey,
  wanted: readonly (string | undefined)[],
): BranchHead | undefined {
  const own = heads.filter(head => head.project === project);
  for (const name of [...wanted, ...USUAL_BRANCHES]) {
    const found = own.find(head => head.branch === name);
    if (found !== undefined) return found;
  }
  return own[0];
}

type Pinned = Extract<Change, { kind: 'ref' }>;

function pinnedHead(
  change: Pinned,
  tested: TestedMerge,
): { branch: string | null; commit: BranchHead['commit'] } | undefined {
  if (change.newCommit === null) return headOf(testedHeads(tested), change.project, []);
  return { branch: targetBranchOf(change) ?? null, commit: change.newCommit };
}
