/**
 * What branch protection and rulesets together demand. Protection comes with the pull request (if the credentials may see it);
 * rulesets are a request of their own, which any reader of the repository may make.
 */
import type { BranchRules, RequiredCheck } from '../facts.ts';
import type { ProtectionNode, RepositoryNode } from './query/pull-state.ts';

/** One rule of a ruleset, as `GET /repos/{owner}/{repo}/rules/branches/{branch}` lists it. */
export interface RulesetRule {
  readonly type: string;
  readonly ruleset_id?: number;
  readonly parameters?: { readonly [name: string]: unknown };
}

/** More checks than that count as this many. */
const MOST_CHECKS = 100;

/** Pure. */
export function branchRules(
  branch: string,
  repository: RepositoryNode,
  protection: ProtectionNode | null,
  rulesets: readonly RulesetRule[],
): BranchRules {
  const has = (type: string) => rulesets.some(rule => rule.type === type);
  const parameters = (type: string) =>
    rulesets.filter(rule => rule.type === type).map(rule => rule.parameters ?? {});
  const reviews = parameters('pull_request');
  const flag = (name: string) => reviews.some(each => each[name] === true);
  return {
    checks: [...protectionChecks(branch, protection), ...rulesets.flatMap(rulesetChecks)].slice(
      0,
      MOST_CHECKS,
    ),
    upToDate:
      (protection?.requiresStatusChecks === true && protection.requiresStrictStatusChecks) ||
      parameters('required_status_checks').some(each => each.strict_required_status_checks_policy === true),
    approvals: Math.max(
      protection?.requiresApprovingReviews === true ? (protection.requiredApprovingReviewCount ?? 1) : 0,
      ...reviews.map(each => wholeNumber(each.required_approving_review_count) ?? 0),
    ),
    codeOwners: protection?.requiresCodeOwnerReviews === true || flag('require_code_owner_review'),
    conversations:
      protection?.requiresConversationResolution === true || flag('required_review_thread_resolution'),
    linearHistory: protection?.requiresLinearHistory === true || has('required_linear_history'),
    signatures: protection?.requiresCommitSignatures === true || has('required_signatures'),
    mergeQueue: has('merge_queue'),
    locked: repository.isArchived || protection?.lockBranch === true,
    restrictsPushes: has('pull_request') || has('update') || protection?.restrictsPushes === true,
    methods: methodsOf(repository, reviews),
  };
}

function protectionChecks(branch: string, protection: ProtectionNode | null): readonly RequiredCheck[] {
  if (protection?.requiresStatusChecks !== true) return [];
  return (protection.requiredStatusChecks ?? []).map(({ context, app }) => ({
    name: context,
    app: app?.databaseId ?? null,
    rule: `branch protection of ${branch}`,
  }));
}

function rulesetChecks({ type, ruleset_id, parameters }: RulesetRule): readonly RequiredCheck[] {
  const listed = type === 'required_status_checks' ? parameters?.required_status_checks : undefined;
  if (!Array.isArray(listed)) return [];
  return listed.flatMap((each: unknown): RequiredCheck[] => {
    if (typeof each !== 'object' || each === null || !('context' in each)) return [];
    const { context } = each;
    const app = 'integration_id' in each ? wholeNumber(each.integration_id) : undefined;
    const rule = ruleset_id === undefined ? 'a ruleset' : `ruleset ${ruleset_id}`;
    return typeof context === 'string' ? [{ name: context, app: app ?? null, rule }] : [];
  });
}

type Method = BranchRules['methods'][number];

function methodsOf(
  repository: RepositoryNode,
  reviews: readonly { readonly [name: string]: unknown }[],
): readonly Method[] {
  const allowed: readonly (readonly [Method, boolean])[] = [
    ['merge', repository.mergeCommitAllowed],
    ['squash', repository.squashMergeAllowed],
    ['rebase', repository.rebaseMergeAllowed],
  ];
  const lists = reviews.map(each => each.allowed_merge_methods).filter(each => Array.isArray(each));
  return allowed
    .filter(([method, enabled]) => enabled && lists.every(list => list.includes(method)))
    .map(([method]) => method);
}

function wholeNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}
