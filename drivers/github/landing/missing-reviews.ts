/** Reviews and conversations that GitHub waits for. */
import type { PullFacts, ReviewFact } from '../facts.ts';
import type { LandingCase } from './landing-case.ts';

/** @returns what is missing; undefined: nothing. Without rules GitHub's own decision counts alone. */
export function missingReviews(asked: LandingCase): string | undefined {
  const { facts, place } = asked;
  if (facts.reviewDecision === 'changes_requested')
    return `changes are requested${by(facts, 'changes_requested')}`;
  if (facts.reviewDecision === 'review_required' && !ourApprovalIsEnough(asked))
    return `${place} requires ${requiredReview(facts)}`;
  if (facts.rules?.conversations && facts.unresolvedConversations > 0)
    return `${place} requires resolved conversations; ${facts.unresolvedConversations} ${facts.unresolvedConversations === 1 ? 'is' : 'are'} open`;
  return undefined;
}

/** An approval of ours is one more, and none of a code owner. */
function ourApprovalIsEnough({ facts, votes }: LandingCase): boolean {
  const { rules } = facts;
  if (!votes.approves || rules === null || rules.codeOwners) return false;
  return approvals(facts) + 1 >= rules.approvals;
}

function requiredReview(facts: PullFacts): string {
  const { rules } = facts;
  if (rules === null) return 'a review';
  const count = approvals(facts);
  if (rules.codeOwners && count >= rules.approvals) return 'an approval of a code owner';
  const owners = rules.codeOwners ? ', one of them of a code owner' : '';
  return `${Math.max(1, rules.approvals)} approving review${rules.approvals > 1 ? 's' : ''}${owners}; it has ${count}`;
}

function approvals(facts: PullFacts): number {
  return facts.reviews.filter(each => each.state === 'approved' && each.permission !== 'read').length;
}

function by(facts: PullFacts, state: ReviewFact['state']): string {
  const names = facts.reviews
    .filter(each => each.state === state && each.permission !== 'read')
    .map(each => each.by);
  return names.length === 0 ? '' : ` by ${names.slice(0, 5).join(', ')}`;
}
