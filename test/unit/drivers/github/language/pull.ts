/** A pull request of bob on `main`, without reviews, as the driver keeps it. */
import type { BranchRules, PullFacts, ReviewFact } from '../../../../../drivers/github/facts.ts';
import { addMilliseconds, parseNanoseconds } from '../../../../../src/lib/clock.ts';
import { type ChangeRecord, changeKey } from '../../../../../src/model/change.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { parseCommitId, projectKey } from '../../../../../src/model/project.ts';

export const NOW = parseNanoseconds('1795000000123456789');
export const HEAD = parseCommitId('3f'.repeat(20));
export const project = projectKey({ connection: 'github', name: 'acme/app' });

const key = changeKey(project, '12');

export function pullRecord(
  parts: Partial<PullFacts> = {},
  status: ChangeRecord['status'] = 'open',
): ChangeRecord {
  const facts: PullFacts = {
    kind: 'pull',
    number: 12,
    node: 'PR_kwDO12',
    title: 'Log in',
    base: 'main',
    baseCommit: 'ba'.repeat(20),
    head: HEAD,
    headRepository: 'acme/app',
    headBranch: 'login',
    draft: false,
    labels: [],
    reviews: [],
    reviewDecision: null,
    unresolvedConversations: 0,
    contexts: [],
    mergeable: 'mergeable',
    changesWorkflows: false,
    mayChangeWorkflows: true,
    rules: null,
    updatedAt: NOW,
    ...parts,
  };
  return {
    change: {
      kind: 'change',
      key,
      project,
      branch: 'main',
      id: '12',
      patchset: HEAD,
      commit: HEAD,
      ref: 'refs/pull/12/head',
      subject: 'Log in',
      owner: 'bob',
    },
    status,
    dependsOn: [],
    unresolvedDependencies: [],
    facts: facts as unknown as Json,
    fetchedAt: NOW,
  };
}

/** A branch that is not protected. */
export const NO_RULES: BranchRules = {
  checks: [],
  upToDate: false,
  approvals: 0,
  codeOwners: false,
  conversations: false,
  linearHistory: false,
  signatures: false,
  mergeQueue: false,
  locked: false,
  restrictsPushes: false,
  methods: ['merge', 'squash', 'rebase'],
};

export function review(by: string, parts: Partial<ReviewFact> = {}): ReviewFact {
  return {
    by,
    email: null,
    permission: 'write',
    state: 'approved',
    commit: HEAD,
    at: addMilliseconds(NOW, -60_000),
    ...parts,
  };
}
