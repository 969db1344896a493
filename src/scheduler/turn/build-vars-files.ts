/**
 * The commits that the files of `include-vars` are read from: those of config-projects as they have landed, all others as the buildset
 * tests them, at the branch that a required project would have.
 */
import type { BuildVarsFile } from '../../model/build-request.ts';
import { landedHeads, type TestedMerge, testedHeads } from '../../model/build-set.ts';
import { type Change, targetBranchOf } from '../../model/change.ts';
import type { FrozenJob, JobVarsFile } from '../../model/job.ts';
import type { BranchHead } from '../../model/merge.ts';
import { headOf, type ProjectPlaces } from './build-projects.ts';

/** `missing`: no head is known of the project of a file that is required. */
export type BuildVarsFiles =
  | { readonly kind: 'found'; readonly files: readonly BuildVarsFile[] }
  | { readonly kind: 'missing'; readonly project: string; readonly path: string };

/** @param change whose job it is. */
export function buildVarsFiles(
  job: FrozenJob,
  change: Change,
  tested: TestedMerge,
  places: ProjectPlaces,
): BuildVarsFiles {
  const files: BuildVarsFile[] = [];
  for (const file of job.includeVars ?? []) {
    const { path, optional, project = change.project } = file;
    const head = headFor(file, job, change, tested, places);
    if (head === undefined) {
      if (optional === true) continue;
      return { kind: 'missing', project, path };
    }
    files.push({
      project,
      canonicalName: places.canonicalName(project),
      branch: head.branch,
      commit: head.commit,
      path,
      ...(optional === true ? { optional } : {}),
    });
  }
  return { kind: 'found', files };
}

function headFor(
  { project: named, branchOnly }: JobVarsFile,
  { requiredProjects, overrideCheckout }: FrozenJob,
  change: Change,
  tested: TestedMerge,
  places: ProjectPlaces,
): (Pick<BranchHead, 'commit'> & { readonly branch: string | null }) | undefined {
  const project = named ?? change.project;
  const branch = targetBranchOf(change);
  const isOwnRef = change.kind === 'ref' && branch === undefined && project === change.project;
  if (isOwnRef && branchOnly !== true && change.newCommit !== null)
    return { branch: null, commit: change.newCommit };
  const heads = places.isTrusted(project) ? landedHeads(tested) : testedHeads(tested);
  const override = requiredProjects.find(each => each.project === project)?.overrideCheckout;
  return headOf(heads, project, [override ?? overrideCheckout, branch, places.defaultBranch(project)]);
}
