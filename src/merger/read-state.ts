/** Serves the two requests that only read: heads of branches, and configuration at the tips of branches. */

import { type ObjectId, parseObjectId } from '../git/objects/object-id.ts';
import { isRefName } from '../git/objects/ref-name.ts';
import { tipRef } from '../git/remote/run-fetch.ts';
import type { Repository } from '../git/repository.ts';
import type {
  BranchConfig,
  BranchHead,
  ConfigFilesRequest,
  RepoStateRequest,
  TooLargeBranch,
} from '../model/merge.ts';
import { type BranchName, parseCommitId, projectIdOf } from '../model/project.ts';
import type { StepRecorder } from '../tracing/step-recorder.ts';
import { readConfig } from './config-files.ts';
import type { ServeDeps } from './deps.ts';
import type { Failure } from './failure.ts';
import { fetchProject } from './fetch-state.ts';
import { configAt } from './read-changed-config.ts';

/** The outcome without steps and worker, which `merger.ts` adds. */
export type RepoStateAnswer =
  | { readonly kind: 'repo-state'; readonly heads: readonly BranchHead[] }
  | Failure;
/** Likewise. */
export type ConfigFilesAnswer =
  | {
      readonly kind: 'config-files';
      readonly branches: readonly BranchConfig[];
      readonly tooLarge?: readonly TooLargeBranch[];
    }
  | Failure;

/** Always asks the remotes. Branches that do not exist are omitted. */
export async function readRepoState(
  deps: ServeDeps,
  steps: StepRecorder,
  request: RepoStateRequest,
): Promise<RepoStateAnswer> {
  const fetched = await Promise.all(
    [...Map.groupBy(request.states, ({ project }) => project)].map(([project, states]) =>
      fetchProject(deps, steps, {
        project,
        branches: new Set(states.flatMap(({ branches }) => branches)),
        allBranches: states.some(({ branches }) => branches.length === 0),
        commits: [],
      }),
    ),
  );
  const failure = fetched.find(project => project.kind === 'failed');
  if (failure !== undefined) return failure;
  const heads = fetched.flatMap(each =>
    each.kind === 'fetched'
      ? [...each.tips].map(([branch, tip]) => ({ project: each.project, branch, commit: parseCommitId(tip) }))
      : [],
  );
  return { kind: 'repo-state', heads };
}

/** Asks the remote unless the mirror is as new as the request demands (`atLeast`). */
export async function readConfigFiles(
  deps: ServeDeps,
  steps: StepRecorder,
  request: ConfigFilesRequest,
): Promise<ConfigFilesAnswer> {
  const { project } = request;
  const { connection, name } = projectIdOf(project);
  const repository = await deps.repositories.repository(connection, name);
  const known = await knownTips(repository, request);
  const needs = {
    project,
    branches: new Set(request.branches),
    allBranches: request.branches.length === 0,
    // What a branch holds is no trouble of its host, and does not hold up the others.
    readableTips: true,
    commits: [],
  };
  const fetched = known === undefined ? await fetchProject(deps, steps, needs) : undefined;
  if (fetched?.kind === 'failed') return fetched;
  const tips = known ?? fetched?.tips ?? new Map<BranchName, ObjectId>();
  const branches = await steps.run(
    'ReadConfig',
    project,
    () => Promise.all([...tips].map(([branch, tip]) => readBranch(repository, request, branch, tip))),
    configs => ({
      facts: { project, branches: configs.length, files: configs.flatMap(({ files }) => files).length },
    }),
  );
  const tooLarge = fetched?.tooLarge ?? [];
  return { kind: 'config-files', branches, ...(tooLarge.length === 0 ? {} : { tooLarge }) };
}

async function readBranch(
  repository: Repository,
  { project, extraPaths = [] }: ConfigFilesRequest,
  branch: BranchName,
  tip: ObjectId,
): Promise<BranchConfig> {
  const commit = parseCommitId(tip);
  return {
    project,
    branch,
    commit,
    files: await readConfig(repository.reader, await configAt(repository.reader, commit, extraPaths)),
  };
}

/**
 * The tips as far as they are here, if that is fresh enough: each wanted branch has a commit it must at least hold, and does.
 * Undefined: the remote must be asked.
 */
async function knownTips(
  repository: Repository,
  request: ConfigFilesRequest,
): Promise<ReadonlyMap<BranchName, ObjectId> | undefined> {
  if (request.branches.length === 0) return undefined;
  const tips = new Map<BranchName, ObjectId>();
  for (const branch of request.branches) {
    const ref = `refs/heads/${branch}`;
    const atLeast = request.atLeast.find(each => each.branch === branch);
    if (atLeast === undefined || !isRefName(ref)) return undefined;
    const fetched = await repository.reader.resolve(tipRef(ref));
    const tip = fetched && (await later(repository, fetched, parseObjectId(atLeast.commit)));
    if (tip === undefined) return undefined;
    tips.set(branch, tip);
  }
  return tips;
}

/** Which of the two holds the other; undefined: neither. What was landed from here has not been fetched, but is here. */
async function later(
  { reader, isAncestor }: Repository,
  fetched: ObjectId,
  named: ObjectId,
): Promise<ObjectId | undefined> {
  if (fetched === named) return fetched;
  if ((await reader.missing([named])).length > 0) return undefined;
  if (await isAncestor(fetched, named)) return named;
  return (await isAncestor(named, fetched)) ? fetched : undefined;
}
