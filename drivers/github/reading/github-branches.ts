/** Lists the branches of a repository: REST knows which are protected by any rule, GraphQL which are locked, git all of them. */
import { HostAway } from '../../../src/driver/host-away.ts';
import type { BranchSelection } from '../../../src/driver/source.ts';
import { type CommitId, type ProjectKey, parseCommitId } from '../../../src/model/project.ts';
import type { GithubAnswer, GithubApi, GithubCall } from '../api/port.ts';
import { isInternalBranch } from '../internal-branches.ts';
import { LOCKED_BRANCHES, type LockedBranchesAnswer, type LockRule } from './query/locked-branches.ts';
import { type NodePage, nodesOf } from './query/pull-state.ts';

/** Branches of a page. */
const PAGE = 100;
/** Pages before git lists them: as many requests as one answer of git is worth. */
const FEW_PAGES = 3;
/** Pages of anything: GitHub does not mean them to have no end. */
const MOST_PAGES = 100;

/** A branch with its tip. */
export interface GithubBranch {
  readonly branch: string;
  readonly commit: CommitId;
}

/** Lists all branches of a project with git. @returns undefined: the host does not serve now. */
export type BranchesByGit = (project: ProjectKey) => Promise<ReadonlyMap<string, string> | undefined>;

/** How the branches of a project are listed. */
interface BranchListing {
  readonly api: GithubApi;
  readonly byGit: BranchesByGit;
  readonly project: ProjectKey;
  readonly call: GithubCall;
}

/**
 * A repository with more than some hundred branches is listed by git, in one answer and without a limit. Only protected ones are listed by
 * GitHub, who alone knows them.
 *
 * @throws HostAway when GitHub does not serve, or shows no such repository. Error when it has more protected branches than are read.
 */
export async function listGithubBranches(
  { excludeUnprotected = false, excludeLocked = false }: BranchSelection,
  listing: BranchListing,
): Promise<readonly GithubBranch[]> {
  const branches = excludeUnprotected
    ? await pagesOf({ protected: true }, MOST_PAGES, listing)
    : ((await pagesOf({}, FEW_PAGES, listing)) ?? (await allByGit(listing)));
  if (branches === undefined)
    throw new Error(
      `${listing.project} has more than ${MOST_PAGES * PAGE} protected branches, and no more are read: protect fewer, or do not set exclude-unprotected-branches for it`,
    );
  const visible = branches.filter(({ branch }) => !isInternalBranch(branch));
  if (!excludeLocked || visible.length === 0) return visible;
  const locked = await lockedBranches(listing);
  return visible.filter(({ branch }) => !locked.has(branch));
}

/** Undefined: there are more than so many pages. */
async function pagesOf(
  selection: { readonly protected?: true },
  most: number,
  { api, call }: BranchListing,
): Promise<readonly GithubBranch[] | undefined> {
  const branches: GithubBranch[] = [];
  for (let page = 1; page <= most; page += 1) {
    const answer = await api.rest(
      'repos/list-branches',
      'GET /repos/{owner}/{repo}/branches',
      { per_page: PAGE, page, ...selection },
      call,
    );
    if (answer.kind !== 'ok') throw away(answer, call);
    branches.push(
      ...answer.data.map(({ name, commit }) => ({ branch: name, commit: parseCommitId(commit.sha) })),
    );
    if (answer.data.length < PAGE) return branches;
  }
  return undefined;
}

async function allByGit({ byGit, project }: BranchListing): Promise<readonly GithubBranch[]> {
  const branches = await byGit(project);
  if (branches === undefined)
    throw new HostAway({ reason: 'unreachable', text: `git could not list the branches of ${project}` });
  return [...branches].map(([branch, tip]) => ({ branch, commit: parseCommitId(tip) }));
}

/** Of each rule that locks, the first hundred branches. */
async function lockedBranches({ api, call }: BranchListing): Promise<ReadonlySet<string>> {
  const [owner = '', name = ''] = call.repository.split('/');
  const locked = new Set<string>();
  let after: string | null = null;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer: GithubAnswer<LockedBranchesAnswer> = await api.graphql<LockedBranchesAnswer>(
      'locked-branches',
      LOCKED_BRANCHES,
      { owner, name, after },
      call,
    );
    if (answer.kind !== 'ok') throw away(answer, call);
    const rules: NodePage<LockRule> | undefined = answer.data.repository?.branchProtectionRules;
    for (const rule of nodesOf(rules))
      if (rule.lockBranch) for (const ref of nodesOf(rule.matchingRefs)) locked.add(ref.name);
    if (rules?.pageInfo.hasNextPage !== true) break;
    after = rules.pageInfo.endCursor;
  }
  return locked;
}

function away(answer: Exclude<GithubAnswer<unknown>, { kind: 'ok' }>, { repository }: GithubCall): HostAway {
  return answer.kind === 'refused'
    ? new HostAway({ reason: 'denied', text: `${repository}: ${answer.text}` })
    : new HostAway(answer.later);
}
