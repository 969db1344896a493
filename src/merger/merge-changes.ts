/**
 * Serves a merge request: the changes of the items ahead and the own ones, merged in their order, per project and branch.
 * Items ahead that conflict are left out and listed in the answer, if the request says which change belongs to which item.
 *
 * Worked example. Inputs A (app, main), B (lib, main), C (app, main), the last two the item's own: `app` main becomes
 * tip + A + C, `lib` main becomes tip + B. `before` of app is tip + A, so the files changed by C are exactly those that differ
 * between the two, regardless of A.
 */

import { parseObjectId } from '../git/objects/object-id.ts';
import { createTreeBudget, type TreeBudget } from '../git/objects/tree-budget.ts';
import type { BranchHead, LeftOut, MergeConflict, MergedBranch, MergeRequest } from '../model/merge.ts';
import { type BranchName, type CommitId, type ProjectKey, parseCommitId } from '../model/project.ts';
import type { StepRecorder } from '../tracing/step-recorder.ts';
import type { ServeDeps } from './deps.ts';
import type { Failure } from './failure.ts';
import { type FetchedProject, fetchProject, type NeededCommit, type ProjectNeeds } from './fetch-state.ts';
import { type ItemConflict, mergeLanes, type Projects } from './merge-lanes.ts';
import { type Compared, changedConfig } from './read-changed-config.ts';

/** The outcome without what every outcome has (steps, worker). */
export type MergeAnswer =
  | {
      readonly kind: 'merged';
      readonly branches: readonly MergedBranch[];
      readonly filesChanged: readonly { readonly project: ProjectKey; readonly files: readonly string[] }[];
      readonly config: Awaited<ReturnType<typeof changedConfig>>;
      readonly heads: readonly BranchHead[];
      readonly landed?: readonly BranchHead[];
      readonly leftOut?: readonly LeftOut[];
    }
  | (MergeConflict & { readonly kind: 'conflict'; readonly leftOut?: readonly LeftOut[] })
  | Failure;

/** @returns `conflict` only for the item's own changes. @throws OverBudget when the trees are too large to compare. */
export async function mergeChanges(
  deps: ServeDeps,
  steps: StepRecorder,
  request: MergeRequest,
): Promise<MergeAnswer> {
  const fetched = await Promise.all(needsOf(request).map(needs => fetchProject(deps, steps, needs)));
  const failure = fetched.find(project => project.kind === 'failed');
  if (failure !== undefined) return failure;
  const projects = new Map(fetched.flatMap(each => (each.kind === 'fetched' ? [[each.project, each]] : [])));
  const merged = await mergeLanes(projects, request, steps);
  if (merged.kind === 'failed') return merged;
  const { branches } = merged;
  const leftOut = leftOutOf(merged.conflicts.filter(({ item }) => item < (request.ahead?.length ?? 0)));
  const own = merged.conflicts.find(({ item }) => item === (request.ahead?.length ?? 0));
  if (own !== undefined) {
    const { index: _index, item: _item, ...conflict } = own;
    return { kind: 'conflict', ...conflict, ...leftOut };
  }
  const pinned = pinnedBranches(request, projects);
  const compared = [
    ...branches.map(({ project, branch, base, commit }) => {
      const { alwaysRead = [] } = request;
      const always = alwaysRead.some(each => each.project === project && each.branch === branch);
      return { project, branch, commit, against: always ? null : base };
    }),
    ...pinned,
  ];
  const [filesChanged, config] = await Promise.all([
    changedFiles(request, projects, branches, createTreeBudget()),
    Promise.all([...projects.values()].map(project => readOf(steps, project, compared, request))),
  ]);
  return {
    kind: 'merged',
    branches,
    filesChanged,
    config: config.flat(),
    heads: headsOf(request, projects, [...branches, ...pinned]),
    ...landedOf(request, projects),
    ...leftOut,
  };
}

/** Files listed for one item that was left out, and characters of all of them: every answer for an item behind lists it again. */
const MOST_FILES = 20;
const MOST_CHARACTERS = 50_000;

function leftOutOf(conflicts: readonly ItemConflict[]): { readonly leftOut?: readonly LeftOut[] } {
  if (conflicts.length === 0) return {};
  let room = MOST_CHARACTERS;
  const fits = (file: string) => {
    room -= file.length;
    return room >= 0;
  };
  const leftOut = conflicts.map(({ index: _, files, ...conflict }) => ({
    ...conflict,
    files: files.slice(0, MOST_FILES).filter(fits),
  }));
  return { leftOut };
}

/** What is needed of each project, in order of first mention. */
function needsOf(request: MergeRequest): readonly ProjectNeeds[] {
  const needs = new Map<
    ProjectKey,
    { project: ProjectKey; branches: Set<BranchName>; allBranches: boolean; commits: NeededCommit[] }
  >();
  const of = (project: ProjectKey) => {
    const known = needs.get(project) ?? { project, branches: new Set(), allBranches: false, commits: [] };
    needs.set(project, known);
    return known;
  };
  for (const { project, branch, ref, commit } of request.inputs) {
    of(project).branches.add(branch);
    of(project).commits.push({ ref, commit });
  }
  for (const { project, ref, branch, commit, before } of request.pinned) {
    if (branch !== undefined) of(project).branches.add(branch);
    of(project).commits.push({ ref, commit });
    if (before !== null) of(project).commits.push({ ref, commit: before, optional: true });
  }
  for (const { project, branches } of request.states) {
    if (branches.length === 0) of(project).allBranches = true;
    for (const branch of branches) of(project).branches.add(branch);
  }
  return [...needs.values()];
}

/** Ref updates are tested as they are; their configuration is compared with the branch's present tip. */
function pinnedBranches(
  request: MergeRequest,
  projects: Projects,
): (Compared & { readonly branch: BranchName; readonly commit: CommitId })[] {
  return request.pinned.flatMap(({ project, branch, commit }) => {
    if (branch === undefined) return [];
    const tip = projects.get(project)?.tips.get(branch);
    return [{ project, branch, commit, against: tip === undefined ? null : parseCommitId(tip) }];
  });
}

async function readOf(
  steps: StepRecorder,
  project: FetchedProject,
  compared: readonly Compared[],
  { extraPaths = [] }: MergeRequest,
) {
  const own = compared.filter(each => each.project === project.project);
  if (own.length === 0) return [];
  const extra = extraPaths.find(each => each.project === project.project)?.paths ?? [];
  return steps.run(
    'ReadConfig',
    project.project,
    () => changedConfig(project.repository.reader, own, extra),
    configs => ({
      facts: { project: project.project, files: configs.flatMap(({ files }) => files).length },
    }),
  );
}

/** Per project: files that the own changes, or a ref update, changed. */
async function changedFiles(
  request: MergeRequest,
  projects: Projects,
  branches: readonly MergedBranch[],
  budget: TreeBudget,
) {
  const pairs = [
    ...branches,
    ...request.pinned.flatMap(({ project, before, commit }) =>
      before === null ? [] : [{ project, before, commit }],
    ),
  ];
  const own = new Set(
    request.inputs.slice(request.inputs.length - request.own).map(({ project }) => project),
  );
  const wanted = [...Map.groupBy(pairs, ({ project }) => project)].filter(
    ([project]) => own.has(project) || request.pinned.some(pin => pin.project === project),
  );
  return Promise.all(
    wanted.map(async ([project, ranges]) => {
      const paths = await Promise.all(
        ranges.map(({ before, commit }) => pathsBetween(projects.get(project), before, commit, budget)),
      );
      const [only = [], ...more] = paths;
      return { project, files: more.length === 0 ? only : [...new Set(paths.flat())].sort() };
    }),
  );
}

async function pathsBetween(
  project: FetchedProject | undefined,
  before: CommitId,
  commit: CommitId,
  budget: TreeBudget,
): Promise<readonly string[]> {
  // The commit before a forced push may be gone; then the files are unknown. A host may name the tag object of an annotated tag.
  const from = await project?.repository.reader.resolve(before);
  if (project === undefined || from === undefined) return [];
  return project.repository.changedPaths(from, parseObjectId(commit), budget);
}

/** Heads of `states` and pinned projects, with the tested commits in place of the tips. */
function headsOf(
  request: MergeRequest,
  projects: Projects,
  tested: readonly { readonly project: ProjectKey; readonly branch: BranchName; readonly commit: CommitId }[],
): readonly BranchHead[] {
  const named = new Set([...request.states, ...request.pinned].map(({ project }) => project));
  return [...projects.values()]
    .filter(({ project }) => named.has(project))
    .flatMap(({ project, tips }) => {
      const heads = new Map([...tips].map(([branch, tip]) => [branch, parseCommitId(tip)]));
      for (const each of tested) if (each.project === project) heads.set(each.branch, each.commit);
      return [...heads].map(([branch, commit]) => ({ project, branch, commit }));
    });
}

function landedOf({ pinned }: MergeRequest, projects: Projects): { readonly landed?: readonly BranchHead[] } {
  const landed = pinned.flatMap(({ project, branch, wantsLanded }) => {
    const tip = branch === undefined ? undefined : projects.get(project)?.tips.get(branch);
    if (wantsLanded !== true || branch === undefined || tip === undefined) return [];
    return [{ project, branch, commit: parseCommitId(tip) }];
  });
  return landed.length === 0 ? {} : { landed };
}
