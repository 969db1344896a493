import { describe, expect, test } from 'vitest';
import type { BranchRules, ContextFact, PullFacts } from '../../../../../drivers/github/facts.ts';
import { githubMergeability } from '../../../../../drivers/github/landing/can-land.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { NO_RULES, pullRecord, review } from '../language/pull.ts';

const voter = { tenant: 'acme', pipeline: 'gate' };
const gate = [githubMergeability.votesOf({ check: 'success', merge: true }, voter)];
const push = { ourVotes: gate, mode: 'push' as const };
const api = { ...push, mode: 'api' as const };

/** What it says of a pull request on a branch with these rules. */
function says(
  rules: Partial<BranchRules> | null,
  facts: Partial<PullFacts> = {},
  question: Parameters<typeof githubMergeability.canLand>[1] = push,
): string {
  const merged = rules === null ? null : { ...NO_RULES, ...rules };
  const { met, text } = githubMergeability.canLand(pullRecord({ rules: merged, ...facts }), question);
  return `${met ? 'yes' : 'no'}: ${text}`;
}

function context(name: string, state: string, app: number | null = null): ContextFact {
  return { kind: 'check', by: 'ci', name, state, app };
}

const rule = 'branch protection of main';
const required = (name: string, app: number | null = null) => ({ name, app, rule });

describe('required checks', () => {
  const checks = [required('acme/gate'), required('lint')];

  test('that are missing are named with their rule, and our own is left out (case 34)', () => {
    expect(says({ checks })).toBe(
      'no: branch main of acme/app requires the check lint (missing; branch protection of main)',
    );
    expect(says({ checks }, { contexts: [context('lint', 'success')] })).toBe(
      'yes: all rules of branch main of acme/app are met',
    );
  });

  test.each(['neutral', 'skipped', 'success'])('that ended with %s are good (case 32)', state => {
    expect(says({ checks }, { contexts: [context('lint', state)] })).toMatch(/^yes/);
  });

  test.each(['failure', 'pending', 'in_progress', 'cancelled'])('that are %s hold it up', state => {
    expect(says({ checks }, { contexts: [context('lint', state)] })).toBe(
      `no: branch main of acme/app requires the check lint (${state} by ci; branch protection of main)`,
    );
  });

  test('of the check pipeline are not given by the gate', () => {
    expect(says({ checks: [required('acme/check')] })).toContain('acme/check (missing');
  });

  test('of one App count from that App only', () => {
    const pinned = { checks: [required('lint', 7)] };
    expect(says(pinned, { contexts: [context('lint', 'success', 8)] })).toContain('lint (missing from App 7');
    expect(
      says(pinned, { contexts: [context('lint', 'success', 7), context('lint', 'failure', 8)] }),
    ).toMatch(/^yes/);
  });

  test('of any maker have to be good from all makers', () => {
    const contexts = [context('lint', 'success', 7), context('lint', 'failure', 8)];
    expect(says({ checks: [required('lint')] }, { contexts })).toContain('lint (failure by ci');
  });

  test('under our name count as ours where GitHub takes them from us', () => {
    const pinned = { checks: [required('acme/gate', 7)] };
    expect(says(pinned, { ourApp: 7 })).toMatch(/^yes/);
    expect(says(pinned)).toMatch(/^yes/);
    expect(says(pinned, { ourApp: 8 })).toContain('acme/gate (missing from App 7');
    expect(says(pinned, { ourApp: null })).toContain('acme/gate (missing from App 7');
  });

  test('are named up to a number', () => {
    const many = { checks: Array.from({ length: 1000 }, (_, index) => required(`check-${index}`)) };
    expect(says(many)).toContain('check-4');
    expect(says(many)).toMatch(/ and 995 more$/);
  });
});

describe('the votes of a reporter', () => {
  test('are the name of the pipeline where it reports success, and an approval', () => {
    expect(githubMergeability.votesOf({ status: 'success', review: 'approve' }, voter)).toEqual({
      contexts: ['acme/gate'],
      approves: true,
    });
    const none = { contexts: [], approves: false };
    expect(githubMergeability.votesOf({ check: 'failure' }, voter)).toEqual(none);
    expect(githubMergeability.votesOf({ merge: true }, voter)).toEqual(none);
  });

  test('that are not given leave our own check missing', () => {
    const silent = [githubMergeability.votesOf({ merge: true }, voter)];
    expect(says({ checks: [required('acme/gate')] }, {}, { ...push, ourVotes: silent })).toContain(
      'acme/gate (missing',
    );
  });
});

describe('reviews', () => {
  const waiting = { reviewDecision: 'review_required' as const };

  test('that are missing are counted (case 36)', () => {
    expect(
      says({ approvals: 2 }, { ...waiting, reviews: [review('bob'), review('eve', { permission: 'read' })] }),
    ).toBe('no: branch main of acme/app requires 2 approving reviews; it has 1');
  });

  test('of a code owner are asked for (case 36)', () => {
    const owners = { approvals: 1, codeOwners: true };
    expect(says(owners, { ...waiting, reviews: [review('bob')] })).toBe(
      'no: branch main of acme/app requires an approval of a code owner',
    );
    expect(says(owners, waiting)).toBe(
      'no: branch main of acme/app requires 1 approving review, one of them of a code owner; it has 0',
    );
  });

  test('of our own are one more, but not of a code owner', () => {
    const approving = [githubMergeability.votesOf({ review: 'approve' }, voter)];
    const question = { ...push, ourVotes: approving };
    expect(says({ approvals: 1 }, waiting, question)).toMatch(/^yes/);
    expect(says({ approvals: 2 }, waiting, question)).toMatch(/^no/);
    expect(says({ approvals: 1, codeOwners: true }, waiting, question)).toMatch(/^no/);
  });

  test('that request changes hold it up, with names', () => {
    const reviews = [review('derp', { state: 'changes_requested' }), review('bob')];
    expect(says({}, { reviewDecision: 'changes_requested', reviews })).toBe(
      'no: changes are requested by derp',
    );
  });

  test('leave open conversations where the branch wants them resolved (case 36)', () => {
    expect(says({ conversations: true }, { unresolvedConversations: 2 })).toBe(
      'no: branch main of acme/app requires resolved conversations; 2 are open',
    );
    expect(says({}, { unresolvedConversations: 2 })).toMatch(/^yes/);
  });
});

describe('the pull request itself', () => {
  test('may not be a draft, closed or in conflict', () => {
    expect(says({}, { draft: true })).toBe('no: the pull request is a draft');
    expect(says({}, { mergeable: 'conflicting' })).toBe('no: it conflicts with branch main of acme/app');
    expect(githubMergeability.canLand(pullRecord({}, 'abandoned'), push).met).toBe(false);
  });

  test('is no conflict while GitHub still computes it (case 39)', () => {
    expect(says({}, { mergeable: 'unknown' })).toMatch(/^yes/);
  });

  test('is left alone once it is merged', () => {
    expect(githubMergeability.canLand(pullRecord({ draft: true }, 'merged'), push).met).toBe(true);
  });

  test('needs a permission for workflow files, of an App', () => {
    expect(says({}, { changesWorkflows: true, mayChangeWorkflows: false })).toContain(
      'permission workflows: write',
    );
    expect(says({}, { changesWorkflows: true, mayChangeWorkflows: null })).toMatch(/^yes/);
    expect(says({}, { changesWorkflows: false, mayChangeWorkflows: false })).toMatch(/^yes/);
  });
});

describe('the branch', () => {
  const squash = { mergeMode: 'squash-merge' as const };

  test('with a linear history takes no merges, in either way (case 37)', () => {
    const sentence =
      'no: branch main of acme/app requires a linear history, and a merge is not linear: use merge-mode squash-merge or rebase';
    expect(says({ linearHistory: true })).toBe(sentence);
    expect(says({ linearHistory: true }, {}, api)).toBe(sentence);
    expect(says({ linearHistory: true }, {}, { ...push, ...squash })).toMatch(/^yes/);
    expect(says({ linearHistory: true }, {}, { ...api, mergeMode: 'rebase' })).toMatch(/^yes/);
  });

  test('with other merge methods takes what it allows, where GitHub merges', () => {
    expect(says({ methods: ['squash'] }, {}, api)).toBe(
      'no: branch main of acme/app does not allow the merge method merge, only squash: use another merge-mode',
    );
    expect(says({ methods: ['squash'] }, {}, { ...api, ...squash })).toMatch(/^yes/);
    expect(says({ methods: ['squash'] })).toMatch(/^yes/);
    expect(says({}, {}, { ...api, mergeMode: 'cherry-pick' })).toContain('set landing = push');
  });

  test('may refuse what is pushed, but not what GitHub merges', () => {
    expect(says({ signatures: true })).toContain('requires signed commits');
    expect(says({ signatures: true }, {}, api)).toMatch(/^yes/);
  });

  test('that restricts pushes takes them of a connection that may bypass the rule, which only a push shows', () => {
    expect(says({ restrictsPushes: true })).toMatch(/^yes/);
  });

  test('may be locked, or belong to the merge queue', () => {
    expect(says({ locked: true })).toBe('no: branch main of acme/app is locked');
    expect(says({ mergeQueue: true }, {}, api)).toContain("GitHub's own merge queue only");
  });
});

describe('rules that could not be read', () => {
  test('are no verdict on the change', () => {
    expect(says(null, { rulesProblem: '502' })).toBe(
      'yes: the rules of branch main of acme/app are not known: 502',
    );
  });

  test("leave what the pull request shows, and GitHub's own judgement of reviews", () => {
    expect(says(null, { draft: true })).toMatch(/^no/);
    expect(says(null, { reviewDecision: 'review_required' })).toBe(
      'no: branch main of acme/app requires a review',
    );
  });
});

test('the update of a branch has nothing to land', () => {
  const update: Json = { kind: 'ref' };
  expect(githubMergeability.canLand({ ...pullRecord(), facts: update }, push).met).toBe(true);
});
