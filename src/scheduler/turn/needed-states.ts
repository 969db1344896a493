/** The heads of projects that frozen jobs need, for playbooks and checkouts. */

import { type TestedMerge, testedHeads } from '../../model/build-set.ts';
import type { Change } from '../../model/change.ts';
import type { FrozenJob } from '../../model/job.ts';
import type { ProjectState } from '../../model/merge.ts';
import type { BranchName, ProjectKey } from '../../model/project.ts';
import { USUAL_BRANCHES } from './build-projects.ts';

type DefaultBranch = (project: ProjectKey) => BranchName | undefined;

/** One entry per project, its branches in no order that means anything. */
export function neededStates(
  jobs: readonly FrozenJob[],
  own: readonly Change[],
  defaultBranch: DefaultBranch,
): readonly ProjectState[] {
  const wanted = new Map<ProjectKey, Set<BranchName>>();
  const want = (project: ProjectKey, branches: Iterable<BranchName | undefined>) => {
    const set = wanted.get(project) ?? new Set<BranchName>();
    for (const branch of branches) if (branch !== undefined) set.add(branch);
    wanted.set(project, set);
  };
  for (const change of own)
    want(change.project, [change.branch, defaultBranch(change.project), ...USUAL_BRANCHES]);
  for (const job of jobs) {
    for (const playbook of [...job.preRun, ...job.run, ...job.postRun])
      want(playbook.project, [playbook.branch]);
    for (const { project, overrideCheckout } of job.requiredProjects) {
      want(project, [
        overrideCheckout,
        job.overrideCheckout,
        ...own.map(change => change.branch),
        defaultBranch(project),
        ...USUAL_BRANCHES,
      ]);
    }
  }
  return [...wanted].map(([project, branches]) => ({ project, branches: [...branches].sort() }));
}

/** Projects without a head in the tested state, or without the head that a playbook comes from. */
export function missingStates(
  jobs: readonly FrozenJob[],
  own: readonly Change[],
  tested: TestedMerge,
  defaultBranch: DefaultBranch,
): readonly ProjectState[] {
  const playbookBranches = new Set(
    jobs
      .flatMap(job => [...job.preRun, ...job.run, ...job.postRun])
      .map(playbook => `${playbook.project} ${playbook.branch}`),
  );
  return neededStates(jobs, own, defaultBranch).filter(({ project, branches }) => {
    const heads = testedHeads(tested).filter(head => head.project === project);
    if (heads.length === 0) return true;
    const lacking = branches.filter(branch => !heads.some(head => head.branch === branch));
    return lacking.some(branch => playbookBranches.has(`${project} ${branch}`));
  });
}
