/** The heads of projects that frozen jobs need, for playbooks and checkouts. */

import { type TestedMerge, testedHeads } from '../../model/build-set.ts';
import { type Change, commitOf, targetBranchOf } from '../../model/change.ts';
import type { FrozenJob, JobRole } from '../../model/job.ts';
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
  const overrides = jobs.flatMap(({ overrideCheckout }) => overrideCheckout ?? []);
  for (const change of own) {
    const target = targetBranchOf(change);
    // The branch of a change exists. Asking for others that may not costs two more requests to the host each time.
    const isCertain = target !== undefined && commitOf(change) !== null && overrides.length === 0;
    const others = [...overrides, defaultBranch(change.project), ...USUAL_BRANCHES];
    want(change.project, isCertain ? [target] : [target, ...others]);
  }
  for (const job of jobs) {
    for (const playbook of [...job.preRun, ...job.run, ...job.postRun])
      want(playbook.project, [playbook.branch]);
    const usual = (project: ProjectKey) => [
      job.overrideCheckout,
      ...own.map(targetBranchOf),
      defaultBranch(project),
      ...USUAL_BRANCHES,
    ];
    for (const { project, overrideCheckout } of job.requiredProjects)
      want(project, [overrideCheckout, ...usual(project)]);
    for (const { project } of job.includeVars ?? []) if (project !== undefined) want(project, usual(project));
    for (const { project, branch } of foreignRoles(job))
      want(project, branch === undefined ? usual(project) : [branch]);
  }
  return [...wanted].map(([project, branches]) => ({ project, branches: [...branches].sort() }));
}

/** Projects without a head in the tested state, or without the head that a playbook comes from or that a job names to check out. */
export function missingStates(
  jobs: readonly FrozenJob[],
  own: readonly Change[],
  tested: TestedMerge,
  defaultBranch: DefaultBranch,
): readonly ProjectState[] {
  const named = new Set(jobs.flatMap(job => namedBranches(job, own)));
  return neededStates(jobs, own, defaultBranch).filter(({ project, branches }) => {
    const heads = testedHeads(tested).filter(head => head.project === project);
    if (heads.length === 0) return true;
    const lacking = branches.filter(branch => !heads.some(head => head.branch === branch));
    return lacking.some(branch => named.has(`${project} ${branch}`));
  });
}

/** Roles of other projects than the playbooks that use them. */
function foreignRoles(job: FrozenJob): readonly JobRole[] {
  const { roles = [] } = job;
  const used = new Set<JobRole>();
  for (const playbook of [...job.preRun, ...job.run, ...job.postRun]) {
    for (const place of playbook.roles ?? []) {
      const role = roles[place];
      if (role !== undefined && role.project !== playbook.project) used.add(role);
    }
  }
  return [...used];
}

/** `<project> <branch>` for each branch that the job names itself: its playbooks', and what it checks out instead of the usual one. */
function namedBranches(job: FrozenJob, own: readonly Change[]): readonly string[] {
  const playbooks = [...job.preRun, ...job.run, ...job.postRun];
  const overridden = [
    ...own.map(({ project }) => ({ project, branch: job.overrideCheckout })),
    ...job.requiredProjects.map(({ project, overrideCheckout }) => ({
      project,
      branch: overrideCheckout ?? job.overrideCheckout,
    })),
  ].filter(({ branch }) => branch !== undefined);
  const roles = foreignRoles(job)
    .map(({ project, branch = job.overrideCheckout }) => ({ project, branch }))
    .filter(({ branch }) => branch !== undefined);
  return [...playbooks, ...overridden, ...roles].map(({ project, branch }) => `${project} ${branch}`);
}
