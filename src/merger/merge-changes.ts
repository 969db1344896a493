/**
 * Serves a merge request: the changes of the items ahead and the own ones, merged in their order, per project and branch.
 *
 * Worked example. Inputs A (app, main), B (lib, main), C (app, main), the last two the item's own: `app` main becomes
 * tip + A + C, `lib` main becomes tip + B. `before` of app is tip + A, so the files changed by C are exactly those that differ
 * between the two, whatever A did.
 */

import { parseObjectId } from '../git/object-id.ts';
import { assertNever } from '../lib/assert-never.ts';
import type { ChangeKey } from '../model/change.ts';
import type { BranchHead, MergedBranch, MergeInput, MergeRequest } from '../model/merge.ts';
import { type BranchName, type CommitId, type ProjectKey, parseCommitId } from '../model/project.ts';
import type { ServeDeps } from './deps.ts';
import { type Failure, updateFailure } from './failure.ts';
import { fetchProject, type NeededCommit, type ProjectAtHand, type ProjectNeeds } from './fetch-state.ts';
import { type Compared, changedConfig } from './read-changed-config.ts';
import type { StepRecorder } from './step-recorder.ts';

/** Changes of one branch of one project, in order, with their places among all inputs. */
interface Lane {
  readonly project: ProjectKey;
  readonly branch: BranchName;
  readonly inputs: readonly { readonly input: MergeInput; readonly index: number; readonly own: boolean }[];
}

interface LaneConflict {
  readonly kind: 'conflict';
  /** Place among all inputs. */
  readonly index: number;
  readonly change: ChangeKey;
  readonly project: ProjectKey;
  readonly files: readonly string[];
}

/** The outcome without what every outcome has (steps, worker). */
export type MergeAnswer =
  | {
      readonly kind: 'merged';
      readonly branches: readonly MergedBranch[];
      readonly filesChanged: readonly { readonly project: ProjectKey; readonly files: readonly string[] }[];
      readonly config: Awaited<ReturnType<typeof changedConfig>>;
      readonly heads: readonly BranchHead[];
    }
  | Omit<LaneConflict, 'index'>
  | Failure;

export async function mergeChanges(
  deps: ServeDeps,
  steps: StepRecorder,
  request: MergeRequest,
): Promise<MergeAnswer> {
  const fetched = await Promise.all(needsOf(request).map(needs => fetchProject(deps, steps, needs)));
  const failure = fetched.find(project => project.kind === 'failed');
  if (failure !== undefined) return failure;
  const projects = new Map(fetched.flatMap(each => (each.kind === 'at-hand' ? [[each.project, each]] : [])));
  const merged = await steps.run(
    'MergeChanges',
    request.tenant,
    () => mergeLanes(projects, lanesOf(request)),
    result => ({
      facts: { changes: request.inputs.length },
      ...(result.kind === 'merged' ? {} : { result: 'FAILURE' }),
    }),
  );
  if (merged.kind !== 'merged') return merged;
  const { branches } = merged;
  const pinned = pinnedBranches(request, projects);
  const compared = [
    ...branches.map(({ project, branch, base, commit }) => ({ project, branch, commit, against: base })),
    ...pinned,
  ];
  const [filesChanged, config] = await Promise.all([
    changedFiles(request, projects, branches),
    Promise.all([...projects.values()].map(project => readOf(steps, project, compared))),
  ]);
  return {
    kind: 'merged',
    branches,
    filesChanged,
    config: config.flat(),
    heads: headsOf(request, projects, [...branches, ...pinned]),
  };
}

/** What each project must bring, in order of first mention. */
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

function lanesOf(request: MergeRequest): readonly Lane[] {
  const firstOwn = request.inputs.length - request.own;
  const all = request.inputs.map((input, index) => ({ input, index, own: index >= firstOwn }));
  const grouped = Map.groupBy(all, ({ input }) => JSON.stringify([input.project, input.branch]));
  return [...grouped.values()].flatMap(inputs => {
    const first = inputs[0];
    return first === undefined ? [] : [{ project: first.input.project, branch: first.input.branch, inputs }];
  });
}

type Projects = ReadonlyMap<ProjectKey, ProjectAtHand>;

/** All lanes at once; of several conflicts the one of the earliest change is told. */
async function mergeLanes(projects: Projects, lanes: readonly Lane[]) {
  const results = await Promise.all(lanes.map(lane => mergeLane(projects, lane)));
  const failure = results.find(result => result.kind === 'failed');
  if (failure !== undefined) return failure;
  const [conflict] = results
    .flatMap(result => (result.kind === 'conflict' ? [result] : []))
    .sort((a, b) => a.index - b.index);
  if (conflict !== undefined) {
    const { kind, change, project, files } = conflict;
    return { kind, change, project, files } as const;
  }
  return {
    kind: 'merged',
    branches: results.flatMap(result => (result.kind === 'branch' ? [result.branch] : [])),
  } as const;
}

async function mergeLane(
  projects: Projects,
  { project, branch, inputs }: Lane,
): Promise<{ readonly kind: 'branch'; readonly branch: MergedBranch } | LaneConflict | Failure> {
  const atHand = projects.get(project);
  const base = atHand?.tips.get(branch);
  if (atHand === undefined || base === undefined)
    return updateFailure(project, `there is no branch ${branch}`, false);
  const steps = inputs.map(({ input }) => ({ change: parseObjectId(input.commit), message: input.message }));
  const outcome = await atHand.repository.chain.merge(base, steps);
  switch (outcome.kind) {
    case 'merged': {
      const states = [{ commit: base }, ...outcome.links];
      const ahead = inputs.filter(({ own }) => !own).length;
      const last = outcome.links.at(-1);
      const before = states[ahead]?.commit;
      if (last === undefined || before === undefined)
        throw new Error('a chain gave fewer links than it had steps');
      return {
        kind: 'branch',
        branch: {
          project,
          branch,
          base: parseCommitId(base),
          commit: parseCommitId(last.commit),
          tree: last.tree,
          before: parseCommitId(before),
        },
      };
    }
    case 'conflict':
    case 'unrelated': {
      const culprit = inputs[outcome.at];
      if (culprit === undefined) throw new Error('a chain failed at a step it was not given');
      const files = outcome.kind === 'conflict' ? outcome.files : [];
      return { kind: 'conflict', index: culprit.index, change: culprit.input.change, project, files };
    }
    case 'unsupported-mode':
      return updateFailure(project, `the merge mode ${outcome.mode} is not supported; use "merge"`, false);
    default:
      return assertNever(outcome);
  }
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

async function readOf(steps: StepRecorder, project: ProjectAtHand, compared: readonly Compared[]) {
  const own = compared.filter(each => each.project === project.project);
  if (own.length === 0) return [];
  return steps.run(
    'ReadConfig',
    project.project,
    () => changedConfig(project.repository.reader, own),
    configs => ({ facts: { files: configs.flatMap(({ files }) => files).length } }),
  );
}

/** Per project: what the own changes, or a ref update, did to it. */
async function changedFiles(request: MergeRequest, projects: Projects, branches: readonly MergedBranch[]) {
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
        ranges.map(({ before, commit }) => pathsBetween(projects.get(project), before, commit)),
      );
      return { project, files: [...new Set(paths.flat())].sort() };
    }),
  );
}

async function pathsBetween(
  project: ProjectAtHand | undefined,
  before: CommitId,
  commit: CommitId,
): Promise<readonly string[]> {
  const [from, to] = [parseObjectId(before), parseObjectId(commit)];
  // The commit before a forced push may be gone; then nothing can be said of the files.
  if (project === undefined || (await project.repository.reader.missing([from])).length > 0) return [];
  return project.repository.changedPaths(from, to);
}

/** Heads of `states` and pinned projects, with what is tested in place of the tips. */
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
