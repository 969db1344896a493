/**
 * Fetches all that a request needs of one project at once: branch tips, commits of changes, pinned commits. Branch tips are
 * always fetched, because only the remote knows them; commits only when the mirror lacks them.
 */

import { isObjectId, type ObjectId, parseObjectId } from '../git/objects/object-id.ts';
import { parseRefName, type RefName, refNameProblem } from '../git/objects/ref-name.ts';
import type { Remote } from '../git/process/remote.ts';
import type { Want } from '../git/remote/run-fetch.ts';
import type { TooLarge } from '../git/remote/too-large.ts';
import type { Repository } from '../git/repository.ts';
import type { TooLargeBranch } from '../model/merge.ts';
import type { BranchName, ProjectKey } from '../model/project.ts';
import { parseCommitId, projectIdOf } from '../model/project.ts';
import type { StepRecorder } from '../tracing/step-recorder.ts';
import type { ServeDeps } from './deps.ts';
import { type Failure, fetchFailure, hostFailure, updateFailure } from './failure.ts';

/** What a request needs of one project. */
export interface ProjectNeeds {
  readonly project: ProjectKey;
  /** Tips wanted; the answer omits branches that do not exist. */
  readonly branches: ReadonlySet<BranchName>;
  /** The tips of all branches are wanted. */
  readonly allBranches: boolean;
  /** True: tips that are too large to read are named in the answer. Default: they are a failure. */
  readonly readableTips?: boolean;
  readonly commits: readonly NeededCommit[];
}

/** A commit, and the ref that is fetched for it: a host may not give commits by id alone. */
export interface NeededCommit {
  readonly ref: string;
  readonly commit: string;
  /** The request can be served without it. */
  readonly optional?: boolean;
}

/** A project whose needed commits are all in the mirror. */
export interface FetchedProject {
  readonly kind: 'fetched';
  readonly project: ProjectKey;
  readonly repository: Repository;
  /** Tips of the branches asked for, as far as they exist; in order of names. */
  readonly tips: ReadonlyMap<BranchName, ObjectId>;
  /** Branches asked for that are not among the tips for another reason. */
  readonly tooLarge: readonly TooLargeBranch[];
}

const HEADS = 'refs/heads/';

/** Records a `FetchRefs` step. @returns a failure also for names that git would refuse: nothing is fetched then. */
export async function fetchProject(
  deps: ServeDeps,
  steps: StepRecorder,
  needs: ProjectNeeds,
): Promise<FetchedProject | Failure> {
  const { project } = needs;
  const { connection, name } = projectIdOf(project);
  const bad = badName(needs);
  if (bad !== undefined) return updateFailure(project, bad);
  const remote = await deps.remote(project);
  if ('trouble' in remote) return hostFailure(remote.trouble);
  return steps.run(
    'FetchRefs',
    project,
    async () => fetchInto(await deps.repositories.repository(connection, name), remote, needs),
    result =>
      result.kind === 'failed'
        ? { result: 'FAILURE', facts: { project, connection } }
        : { facts: { project, connection, refs: needs.commits.length + result.tips.size } },
  );
}

/** Names come from code hosts; a name that git would refuse is refused here. */
function badName(needs: ProjectNeeds): string | undefined {
  const refs = [
    ...[...needs.branches].map(branch => `${HEADS}${branch}`),
    ...needs.commits.map(({ ref }) => ref),
  ];
  const bad = refs.find(ref => refNameProblem(ref) !== undefined);
  if (bad !== undefined) return `the ref name ${JSON.stringify(bad)} ${refNameProblem(bad)}`;
  const long = needs.commits.find(({ commit }) => !isObjectId(commit));
  return long === undefined
    ? undefined
    : `${long.commit} is not a SHA-1 commit id; git's SHA-256 repositories are not supported`;
}

async function fetchInto(
  repository: Repository,
  remote: Remote,
  needs: ProjectNeeds,
): Promise<FetchedProject | Failure> {
  const { project } = needs;
  const wants: Want[] = needs.commits.map(({ ref, commit }) => ({
    ref: parseRefName(ref),
    commit: parseObjectId(commit),
  }));
  const wanted = await headsWanted(repository, remote, needs);
  if ('kind' in wanted) return wanted;
  let heads = wanted;
  let unreadable: TooLarge | undefined;
  let outcome = await repository.fetch(remote, [...wants, ...heads]);
  if (needs.readableTips === true && outcome.kind !== 'fetched' && outcome.tooLarge !== undefined) {
    unreadable = outcome.tooLarge;
    const refs = new Set(unreadable.refs.map(({ ref }) => ref));
    heads = heads.filter(({ ref }) => !refs.has(ref));
    outcome = await repository.fetch(remote, [...wants, ...heads]);
  }
  if (outcome.kind !== 'fetched') return fetchFailure(project, outcome);
  const lost = needs.commits.find(
    (needed, index) => needed.optional !== true && outcome.commits[index] === undefined,
  );
  // Replicas of a code host may lag behind its events, and landing deletes proposals: worth another try.
  if (lost !== undefined) {
    const text = `${lost.ref} does not have commit ${lost.commit}`;
    return hostFailure({ project, reason: 'missing-ref', text, commit: parseCommitId(lost.commit) });
  }
  const tips = new Map<BranchName, ObjectId>();
  heads.forEach(({ ref }, index) => {
    const tip = outcome.commits[wants.length + index];
    if (tip !== undefined) tips.set(ref.slice(HEADS.length), tip);
  });
  return { kind: 'fetched', project, repository, tips, tooLarge: tooLargeBranches(unreadable) };
}

function tooLargeBranches(unreadable: TooLarge | undefined): readonly TooLargeBranch[] {
  if (unreadable === undefined) return [];
  const { refs, text } = unreadable;
  return refs.map(({ ref, commit }) => ({
    branch: ref.slice(HEADS.length),
    commit: parseCommitId(commit),
    text,
  }));
}

/** For all branches the remote lists its refs first; then only missing tips are fetched. */
async function headsWanted(
  repository: Repository,
  remote: Remote,
  needs: ProjectNeeds,
): Promise<readonly Want[] | Failure> {
  const named = [...needs.branches]
    .sort()
    .map((branch): Want => ({ ref: parseRefName(`${HEADS}${branch}`) }));
  if (!needs.allBranches) return named;
  const listing = await repository.lsRemote(remote, [HEADS]);
  if (listing.kind !== 'refs') return fetchFailure(needs.project, listing);
  return [...listing.refs].sort(byName).map(([ref, commit]) => ({ ref, commit }));
}

function byName([a]: readonly [RefName, ObjectId], [b]: readonly [RefName, ObjectId]): number {
  return a < b ? -1 : 1;
}
