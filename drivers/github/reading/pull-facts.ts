/** GitHub's answer about a pull request → the facts that pipelines look at. Pure. */
import { fromMilliseconds, type Nanoseconds } from '../../../src/lib/clock.ts';
import type { BranchRules, ContextFact, Permission, PullFacts, ReviewFact } from '../facts.ts';
import {
  type Account,
  type ContextNode,
  nodesOf,
  type PullNode,
  type ReviewNode,
} from './query/pull-state.ts';

/** Login of an account that was deleted, as GitHub shows it. */
const GHOST = 'ghost';

/** The login as REST and webhooks have it: GraphQL leaves out the `[bot]` of Apps. @param account null: it was deleted. */
export function loginOf(account: Account | null): string {
  if (account === null) return GHOST;
  return account.__typename === 'Bot' ? `${account.login}[bot]` : account.login;
}

/** What the facts hold besides the answer about the pull request. */
export interface FactsBeside {
  readonly openConversations: number;
  /** Logins of reviewers who administrate the repository, as far as that was read. */
  readonly admins: ReadonlySet<string>;
  /** All contexts of the head. */
  readonly contexts: readonly ContextFact[];
  /** A text: why they could not be read. */
  readonly rules: BranchRules | string;
  /** Permissions of the installation; null: not an App. */
  readonly permissions: { readonly [name: string]: string } | null;
  /** Id of our App; null: not an App. */
  readonly app: number | null;
}

/** Bounded by the query: at most 100 labels and reviews. */
export function pullFacts(
  pull: PullNode,
  { contexts, openConversations, admins, rules, permissions, app }: FactsBeside,
): PullFacts {
  return {
    kind: 'pull',
    number: pull.number,
    node: pull.id,
    title: titleOf(pull),
    base: pull.baseRefName,
    baseCommit: pull.baseRefOid,
    head: pull.headRefOid,
    headRepository: pull.headRepository?.nameWithOwner ?? null,
    headBranch: pull.headRefName,
    draft: pull.isDraft,
    labels: nodesOf(pull.labels).map(({ name }) => name),
    reviews: nodesOf(pull.latestOpinionatedReviews).flatMap(review => reviewFact(review, admins) ?? []),
    reviewDecision: decisionOf(pull.reviewDecision),
    unresolvedConversations: openConversations,
    contexts,
    mergeable: mergeableOf(pull.mergeable),
    // GitHub lists files by path, and `.` comes before letters: they are among the first.
    changesWorkflows: nodesOf(pull.files).some(({ path }) => path.startsWith('.github/workflows/')),
    mayChangeWorkflows: permissions === null ? null : permissions.workflows === 'write',
    ourApp: app,
    ...(typeof rules === 'string' ? { rules: null, rulesProblem: rules } : { rules }),
    updatedAt: timeOf(pull.updatedAt),
  };
}

/** One line of at most 256 characters, as GitHub limits it. */
export function titleOf({ title }: Pick<PullNode, 'title'>): string {
  return title
    .replaceAll(/\p{Cc}+/gu, ' ')
    .trim()
    .slice(0, 256)
    .toWellFormed();
}

/** Undefined: the review has no opinion any more (it was dismissed). @param admins {@link FactsBeside.admins} */
export function reviewFact(
  review: ReviewNode,
  admins: ReadonlySet<string> = NO_ADMINS,
): ReviewFact | undefined {
  const state = review.state.toLowerCase();
  if (state !== 'approved' && state !== 'changes_requested' && state !== 'commented') return undefined;
  const email = review.author?.email ?? '';
  return {
    by: loginOf(review.author),
    email: email === '' ? null : email.slice(0, 256),
    permission: permissionOf(review, admins),
    state,
    commit: review.commit?.oid ?? null,
    at: timeOf(review.submittedAt ?? ''),
  };
}

const NO_ADMINS: ReadonlySet<string> = new Set();

/** With a review GitHub names only the owner of a repository; administrators who were not read count as `write`, the lesser of the two. */
function permissionOf(
  { author, authorAssociation, authorCanPushToRepository }: ReviewNode,
  admins: ReadonlySet<string>,
): Permission {
  if (!authorCanPushToRepository) return 'read';
  return authorAssociation === 'OWNER' || admins.has(loginOf(author)) ? 'admin' : 'write';
}

function decisionOf(decision: string | null): PullFacts['reviewDecision'] {
  switch (decision) {
    case 'APPROVED':
      return 'approved';
    case 'CHANGES_REQUESTED':
      return 'changes_requested';
    case 'REVIEW_REQUIRED':
      return 'review_required';
    default:
      return null;
  }
}

function mergeableOf(mergeable: string): PullFacts['mergeable'] {
  if (mergeable === 'MERGEABLE') return 'mergeable';
  return mergeable === 'CONFLICTING' ? 'conflicting' : 'unknown';
}

/** Of several with one kind, maker and name the last one listed, which is the newest. */
export function contextFacts(nodes: readonly ContextNode[]): readonly ContextFact[] {
  const facts = new Map<string, ContextFact>();
  for (const node of nodes) {
    const fact = contextFact(node);
    facts.set(JSON.stringify([fact.kind, fact.by, fact.name]), fact);
  }
  return [...facts.values()];
}

/** Characters of a context's name; GitHub takes 255. */
const LONGEST_NAME = 255;

function contextFact(node: ContextNode): ContextFact {
  if (node.__typename === 'StatusContext') {
    // `EXPECTED` is what GitHub makes of a required context that was not set.
    const state = node.state === 'EXPECTED' ? 'pending' : node.state.toLowerCase();
    const by = loginOf(node.creator);
    return { kind: 'status', by, name: node.context.slice(0, LONGEST_NAME), state, app: null };
  }
  const app = node.checkSuite?.app;
  return {
    kind: 'check',
    by: app?.slug ?? GHOST,
    name: node.name.slice(0, LONGEST_NAME),
    state: (node.conclusion ?? node.status).toLowerCase(),
    app: app?.databaseId ?? null,
  };
}

/** An unreadable time is the epoch: older than anything. */
function timeOf(text: string): Nanoseconds {
  const ms = Date.parse(text);
  return fromMilliseconds(Number.isNaN(ms) ? 0 : Math.max(0, ms));
}
