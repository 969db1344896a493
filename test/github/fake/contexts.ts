/** What statuses, check runs, reviews and rules together say of a pull request. */
import { isAncestor, tipOf } from './bare-git.ts';
import {
  type CheckRun,
  type CommitStatus,
  mayWrite,
  type Pull,
  type Repository,
  type Review,
  type Rules,
} from './world.ts';

export const NO_RULES: Rules = {
  checks: [],
  upToDate: false,
  approvals: 0,
  codeOwners: false,
  conversations: false,
  linearHistory: false,
  signatures: false,
  mergeQueue: false,
  locked: false,
  pushers: null,
  bypass: [],
  methods: null,
};

/** Newest status of each context of a commit. */
export function statusesOf(repository: Repository, sha: string): readonly CommitStatus[] {
  return [
    ...new Map(
      repository.statuses.filter(each => each.sha === sha).map(each => [each.context, each]),
    ).values(),
  ];
}

/** Newest check run of each name and App. */
export function latestChecks(repository: Repository, sha: string): readonly CheckRun[] {
  const ofCommit = repository.checks.filter(each => each.headSha === sha);
  return [...new Map(ofCommit.map(each => [`${each.app.id} ${each.name}`, each])).values()];
}

const GOOD = new Set(['success', 'neutral', 'skipped']);

/** Whether a required context is satisfied on a commit. @param app only this App's check counts */
export function isSatisfied(repository: Repository, sha: string, name: string, app?: number): boolean {
  const checks = latestChecks(repository, sha).filter(
    each => each.name === name && (app === undefined || each.app.id === app),
  );
  const states = [
    ...checks.map(each => each.status === 'completed' && GOOD.has(each.conclusion ?? '')),
    ...(app === undefined ? statusesOf(repository, sha).filter(each => each.context === name) : []).map(
      each => each.state === 'success',
    ),
  ];
  return states.length > 0 && states.every(Boolean);
}

/** Branch protection and rulesets of a branch. */
export function rulesOf(repository: Repository, branch: string): readonly Rules[] {
  const protection = repository.protection.get(branch);
  return [
    ...(protection === undefined ? [] : [protection]),
    ...repository.rulesets.filter(each => each.branch === branch),
  ];
}

/** Names of required checks, with the App that they are bound to. */
export function requiredChecks(
  repository: Repository,
  branch: string,
): readonly { name: string; app?: number }[] {
  return rulesOf(repository, branch).flatMap(({ checks }) =>
    checks.map(each => (typeof each === 'string' ? { name: each } : { name: each.context, app: each.app })),
  );
}

/** Newest opinion of each reviewer who gave one. */
export function opinions({ now }: Pull): readonly Review[] {
  return [
    ...new Map(
      now.reviews.filter(each => each.state !== 'COMMENTED').map(each => [each.user, each]),
    ).values(),
  ].filter(each => each.state !== 'DISMISSED');
}

export function reviewDecision(
  repository: Repository,
  pull: Pull,
): 'APPROVED' | 'CHANGES_REQUESTED' | 'REVIEW_REQUIRED' | null {
  const wanted = Math.max(0, ...rulesOf(repository, pull.now.base).map(({ approvals }) => approvals));
  if (wanted === 0) return null;
  const counting = opinions(pull).filter(({ user }) => mayWrite(repository, user));
  if (counting.some(({ state }) => state === 'CHANGES_REQUESTED')) return 'CHANGES_REQUESTED';
  return counting.filter(({ state }) => state === 'APPROVED').length >= wanted
    ? 'APPROVED'
    : 'REVIEW_REQUIRED';
}

/** Why GitHub does not merge, in its words; undefined: it does. */
export async function obstacle(
  repository: Repository,
  pull: Pull,
  method: string,
  login: string,
): Promise<string | undefined> {
  if (pull.now.draft) return 'Pull Request is still a draft';
  for (const rules of rulesOf(repository, pull.now.base).filter(({ bypass }) => !bypass.includes(login))) {
    const found = await obstacleOf(rules, repository, pull, method);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function obstacleOf(
  rules: Rules,
  repository: Repository,
  pull: Pull,
  method: string,
): Promise<string | undefined> {
  const { base, head, threads } = pull.now;
  if (rules.locked) return 'Cannot change this locked branch';
  if (rules.mergeQueue) return 'Changes must be made through the merge queue';
  if (rules.linearHistory && method === 'merge') return 'Merge commits are not allowed on this repository.';
  if (rules.methods !== null && !rules.methods.includes(method))
    return `${method} merges are not allowed on this repository.`;
  const missing = requiredOf(rules).filter(({ name, app }) => !isSatisfied(repository, head, name, app));
  if (missing.length === 1) return `Required status check "${missing[0]?.name}" is expected.`;
  if (missing.length > 1)
    return `${missing.length} of ${rules.checks.length} required status checks are expected.`;
  const tip = await tipOf(repository.dir, base);
  if (rules.upToDate && tip !== undefined && !(await isAncestor(repository.dir, tip, head)))
    return `The head branch was modified. Review and try the merge again.`;
  const decision = reviewDecision(repository, pull);
  if (rules.approvals > 0 && decision === 'CHANGES_REQUESTED') return 'Changes have been requested';
  if (rules.approvals > 0 && decision !== 'APPROVED')
    return `At least ${rules.approvals} approving review is required by reviewers with write access.`;
  if (rules.conversations && threads.some(each => !each.isResolved)) return 'All comments must be resolved.';
  return undefined;
}

/** Required checks of one rule. */
export function requiredOf({ checks }: Rules): readonly { name: string; app?: number }[] {
  return checks.map(each =>
    typeof each === 'string' ? { name: each } : { name: each.context, app: each.app },
  );
}
