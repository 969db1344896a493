/**
 * What the driver keeps of a pull request in its change record: everything that triggers, requirements and `canLand` look at.
 * Read from GitHub as a whole, never from a webhook.
 *
 *     { kind: 'pull', number: 12, title: 'Log in', base: 'main', draft: false, labels: ['gate'],
 *       reviews: [{ by: 'bob', permission: 'write', state: 'approved', commit: '3f2a…', at: '1795…', email: null }],
 *       contexts: [{ kind: 'check', by: 'ci-bot', name: 'lint', state: 'success', app: 7, isRequired: true }], ... }
 */
import type { Nanoseconds } from '../../src/lib/clock.ts';

/** What a person may do in a repository; `read` stands for less as well (`triage`, no access). */
export type Permission = 'admin' | 'write' | 'read';

/** The newest opinion of one reviewer. A comment after an approval does not replace it. */
export interface ReviewFact {
  /** Login; `ghost`: the account was deleted. */
  readonly by: string;
  /** As the profile shows it; null: hidden. */
  readonly email: string | null;
  readonly permission: Permission;
  readonly state: 'approved' | 'changes_requested' | 'commented';
  /** The head that was reviewed; null: GitHub does not know it any more. */
  readonly commit: string | null;
  readonly at: Nanoseconds;
}

/** A commit status, or a check run, of the head. Of several with one name and maker the newest. */
export interface ContextFact {
  readonly kind: 'status' | 'check';
  /** Login of who set the status, slug of the App that made the check run. */
  readonly by: string;
  readonly name: string;
  /** In Zuul's words: `success`, `failure`, `error`, `pending`; of a check run its conclusion in lower case, or its status. */
  readonly state: string;
  /** Id of the App that made it; null: no App did, or it is not known. */
  readonly app: number | null;
}

/** A check that has to succeed before GitHub merges. */
export interface RequiredCheck {
  readonly name: string;
  /** Only this App's counts; null: that of any maker. */
  readonly app: number | null;
  /** Where it is required, for people: `branch protection of main`, `ruleset "release"`. */
  readonly rule: string;
}

/** What branch protection and rulesets together demand of a change of the base branch. */
export interface BranchRules {
  readonly checks: readonly RequiredCheck[];
  /** The head must contain the tip of the base. */
  readonly upToDate: boolean;
  /** Approving reviews of people who may write. */
  readonly approvals: number;
  readonly codeOwners: boolean;
  readonly conversations: boolean;
  readonly linearHistory: boolean;
  readonly signatures: boolean;
  /** Only GitHub's own merge queue may merge. */
  readonly mergeQueue: boolean;
  /** No push and no merge may change the branch. */
  readonly locked: boolean;
  /** Only some may push: who is on a list, or may bypass a rule. Whether this connection may is shown by a push alone. */
  readonly restrictsPushes: boolean;
  /** The merge methods that the repository and its rules leave. */
  readonly methods: readonly ('merge' | 'squash' | 'rebase')[];
}

/** Facts of a pull request. */
export interface PullFacts {
  readonly kind: 'pull';
  readonly number: number;
  /** GraphQL node id. */
  readonly node: string;
  /** At most 256 characters. */
  readonly title: string;
  readonly base: string;
  readonly baseCommit: string | null;
  readonly head: string;
  /** `owner/name`; null: the fork was deleted. */
  readonly headRepository: string | null;
  readonly headBranch: string;
  readonly draft: boolean;
  readonly labels: readonly string[];
  readonly reviews: readonly ReviewFact[];
  /** GitHub's own judgement; null: no review is required. */
  readonly reviewDecision: 'approved' | 'changes_requested' | 'review_required' | null;
  readonly unresolvedConversations: number;
  readonly contexts: readonly ContextFact[];
  readonly mergeable: 'mergeable' | 'conflicting' | 'unknown';
  /** The pull request changes files below `.github/workflows/`, which needs a permission of its own. */
  readonly changesWorkflows: boolean;
  /** Permission `workflows` of the installation; null: not an App. */
  readonly mayChangeWorkflows: boolean | null;
  /** Id of our App, for checks that only one App may give; null: the connection is no App. Absent: not known. */
  readonly ourApp?: number | null;
  /** Null: the rules could not be read, and `rulesProblem` says why. */
  readonly rules: BranchRules | null;
  readonly rulesProblem?: string;
  /** `updatedAt` of the pull request. */
  readonly updatedAt: Nanoseconds;
}

/** Facts of the update of a branch or tag: none. */
export interface RefFacts {
  readonly kind: 'ref';
}
