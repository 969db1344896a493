/** Lists the branches of a repository: REST knows which are protected by any rule, GraphQL which are locked. */
import { HostAway } from '../../../src/driver/host-away.ts';
import type { BranchSelection } from '../../../src/driver/source.ts';
import { type CommitId, parseCommitId } from '../../../src/model/project.ts';
import type { GithubAnswer, GithubApi, GithubCall } from '../api/port.ts';
import { isInternalBranch } from '../internal-branches.ts';
import { LOCKED_BRANCHES, type LockedBranchesAnswer, type LockRule } from './query/locked-branches.ts';
import { type NodePage, nodesOf } from './query/pull-state.ts';

/** Branches of a page, and pages: further branches are not seen. */
const PAGE = 100;
const MOST_PAGES = 100;

/** A branch with its tip. */
export interface GithubBranch {
  readonly branch: string;
  readonly commit: CommitId;
}

/** @throws HostAway when GitHub does not serve, or shows no such repository. */
export async function listGithubBranches(
  api: GithubApi,
  { excludeUnprotected = false, excludeLocked = false }: BranchSelection,
  call: GithubCall,
): Promise<readonly GithubBranch[]> {
  const branches: GithubBranch[] = [];
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const answer = await api.rest(
      'repos/list-branches',
      'GET /repos/{owner}/{repo}/branches',
      { per_page: PAGE, page, ...(excludeUnprotected ? { protected: true } : {}) },
      call,
    );
    if (answer.kind !== 'ok') throw away(answer, call);
    branches.push(
      ...answer.data.map(({ name, commit }) => ({ branch: name, commit: parseCommitId(commit.sha) })),
    );
    if (answer.data.length < PAGE) break;
  }
  const visible = branches.filter(({ branch }) => !isInternalBranch(branch));
  if (!excludeLocked || visible.length === 0) return visible;
  const locked = await lockedBranches(api, call);
  return visible.filter(({ branch }) => !locked.has(branch));
}

/** Of each rule that locks, the first hundred branches. */
async function lockedBranches(api: GithubApi, call: GithubCall): Promise<ReadonlySet<string>> {
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
