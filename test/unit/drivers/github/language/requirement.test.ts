import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseGithubRequirement } from '../../../../../drivers/github/language/requirement-config.ts';
import { githubRequirements } from '../../../../../drivers/github/language/requirement-met.ts';
import { addMilliseconds, type Nanoseconds } from '../../../../../src/lib/clock.ts';
import { type ChangeRecord, refUpdateKey } from '../../../../../src/model/change.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { expectTurnAtRecheck } from '../../../driver/turn-at-recheck.ts';
import { HEAD, NOW, project, pullRecord, review } from './pull.ts';

function parsed(value: Json): Json {
  const result = parseGithubRequirement(value);
  if (result.kind === 'invalid') throw new Error(result.problems.map(({ text }) => text).join('; '));
  return result.value;
}

function needs(value: Json, record: ChangeRecord, now = NOW): string {
  const { met, text } = githubRequirements.meets(parsed(value), record, now);
  return `${met ? 'yes' : 'no'}: ${text}`;
}

function rejected(value: Json, record: ChangeRecord): string {
  const { met, text } = githubRequirements.rejects(parsed(value), record, NOW);
  return `${met ? 'yes' : 'no'}: ${text}`;
}

const approvedByWrite = { review: { type: 'approved', permission: 'write' } };

describe('a required review', () => {
  test('of a person who may only read does not count (case 26)', () => {
    const record = pullRecord({ reviews: [review('eve', { permission: 'read' })] });
    expect(needs(approvedByWrite, record)).toBe('no: needs approved by write; eve has read');
  });

  test('counts for as long as the reviewer only comments afterwards (case 27)', () => {
    expect(needs(approvedByWrite, pullRecord({ reviews: [review('bob')] }))).toBe(
      'yes: it is approved by write',
    );
    const both = pullRecord({ reviews: [review('bob'), review('ann', { state: 'commented' })] });
    expect(needs(approvedByWrite, both)).toBe('yes: it is approved by write');
  });

  test('is there when an admin gives what write asks for, but not the other way round', () => {
    const byAdmin = pullRecord({ reviews: [review('root', { permission: 'admin' })] });
    expect(needs(approvedByWrite, byAdmin)).toMatch(/^yes/);
    const wanted = { review: { permission: 'admin' } };
    expect(needs(wanted, pullRecord({ reviews: [review('bob')] }))).toBe(
      'no: needs reviewed by admin; bob has write',
    );
  });

  test('of an earlier commit does not count, unless any commit does', () => {
    const record = pullRecord({ reviews: [review('bob', { commit: 'aa'.repeat(20) })] });
    expect(needs(approvedByWrite, record)).toBe(
      'no: needs approved by write; bob approved an earlier commit',
    );
    const any = { review: { ...approvedByWrite.review, 'any-commit': true } };
    expect(needs(any, record)).toMatch(/^yes/);
    expect(needs(approvedByWrite, pullRecord({ reviews: [review('bob', { commit: null })] }))).toMatch(/^no/);
  });

  test('is missing where there is none', () => {
    expect(needs(approvedByWrite, pullRecord())).toBe('no: needs approved by write; there is no review');
    expect(
      needs(
        { review: { type: 'approved' } },
        pullRecord({ reviews: [review('bob', { state: 'commented' })] }),
      ),
    ).toBe('no: needs approved; bob only commented');
  });

  test('has to hold in all that is written, of one review', () => {
    const record = pullRecord({
      reviews: [review('bob', { permission: 'read' }), review('ann', { state: 'changes_requested' })],
    });
    expect(needs(approvedByWrite, record)).toBe('no: needs approved by write; bob has read');
  });

  test('finds user names and e-mail addresses anywhere in the text, as Zuul does', () => {
    const record = pullRecord({
      reviews: [review('derp-bob', { email: 'bob@example.org' }), review('ghost')],
    });
    expect(needs({ review: { username: 'bob' } }, record)).toMatch(/^yes/);
    expect(needs({ review: { username: '^bob' } }, record)).toBe(
      'no: needs reviewed by a user ^bob; the review is by derp-bob',
    );
    expect(needs({ review: { email: '@example.org$' } }, record)).toMatch(/^yes/);
    expect(needs({ review: { username: { regex: 'bob', negate: true } } }, record)).toMatch(/^yes/);
    expect(needs({ review: { email: { regex: 'example', negate: true } } }, record)).toBe(
      'no: needs reviewed by an e-mail address not example; derp-bob has another e-mail address',
    );
  });

  test('has an age to the nanosecond (case 30)', () => {
    const at = (NOW_BIG - 10_000_000_000n).toString() as Nanoseconds;
    const record = pullRecord({ reviews: [review('bob', { at })] });
    const later = (NOW_BIG + 1n).toString() as Nanoseconds;
    const newer = parsed({ review: { 'newer-than': '10s' } });
    const older = parsed({ review: { 'older-than': '10s' } });
    expect(githubRequirements.meets(newer, record, NOW).met).toBe(true);
    expect(githubRequirements.meets(newer, record, later).met).toBe(false);
    expect(githubRequirements.meets(older, record, NOW).met).toBe(false);
    expect(githubRequirements.meets(older, record, later).met).toBe(true);
    expect(githubRequirements.recheckAt(newer, record, NOW)).toBe(later);
    expect(githubRequirements.recheckAt(older, record, NOW)).toBe(later);
    expect(githubRequirements.recheckAt(older, record, later)).toBeNull();
  });
});

const NOW_BIG = BigInt(NOW);

describe('changes that are requested', () => {
  test('reject by any reviewer who may write, on any commit (case 28)', () => {
    const rule = { review: { type: 'changes_requested', permission: 'write' } };
    const requested = review('derp', { state: 'changes_requested', commit: 'aa'.repeat(20) });
    expect(rejected(rule, pullRecord({ reviews: [review('bob'), requested] }))).toBe(
      'yes: it is changes requested by write: the review of derp',
    );
    expect(rejected(rule, pullRecord({ reviews: [review('bob')] }))).toBe(
      'no: nothing of what is rejected holds',
    );
    expect(rejected(rule, pullRecord({ reviews: [{ ...requested, permission: 'read' }] }))).toMatch(/^no/);
  });
});

describe('a required status', () => {
  const contexts = Array.from({ length: 150 }, (_, index) => ({
    kind: 'status' as const,
    by: 'ci-bot',
    name: `build-${index}`,
    state: 'pending',
    app: null,
  }));

  test('is found among many (case 31)', () => {
    const build = { kind: 'status' as const, by: 'ci-bot', name: 'build', state: 'success', app: null };
    const record = pullRecord({ contexts: [...contexts, build] });
    expect(needs({ status: 'ci-bot:build:success' }, record)).toBe('yes: the required status is there');
  });

  test('has to match as a whole, and one of several is enough', () => {
    const record = pullRecord({
      contexts: [{ kind: 'check', by: 'ci', name: 'lint', state: 'failure', app: 7 }],
    });
    expect(needs({ status: 'ci:lint' }, record)).toMatch(/^no/);
    expect(needs({ status: 'ci:lint:success' }, record)).toBe(
      'no: needs the status ci:lint:success; there is ci:lint:failure',
    );
    expect(needs({ status: ['ci:lint:success', '.*:failure'] }, record)).toMatch(/^yes/);
    expect(rejected({ status: '.*:failure' }, record)).toBe('yes: it has the status ci:lint:failure');
  });
});

test('all required labels have to be there, and one rejected label is enough', () => {
  const record = pullRecord({ labels: ['gate', 'hold'] });
  expect(needs({ label: ['gate', 'ready'] }, record)).toBe('no: needs the label ready');
  expect(needs({ label: 'gate' }, record)).toBe('yes: it has the label gate');
  expect(needs({ label: 'gat' }, record)).toBe('no: needs the label gat');
  expect(rejected({ label: ['wip', 'hold'] }, record)).toBe('yes: it has the label hold');
});

test('what is asked about the state of the pull request is answered both ways', () => {
  const open = { open: true, merged: false, draft: false, 'current-patchset': true };
  expect(needs(open, pullRecord())).toBe(
    'yes: it is open, it is not merged, it is the current patchset, it is not a draft',
  );
  expect(needs({ open: true }, pullRecord({}, 'merged'))).toBe('no: it is not open');
  expect(needs({ draft: false }, pullRecord({ draft: true }))).toBe('no: it is a draft');
  expect(needs({ 'current-patchset': true }, pullRecord({ head: 'aa'.repeat(20) }))).toBe(
    'no: it is not the current patchset',
  );
  expect(rejected({ draft: true }, pullRecord({ draft: true }))).toBe('yes: it is a draft');
  expect(rejected({ draft: true, open: false }, pullRecord())).toMatch(/^no/);
  expect(rejected({ draft: true, open: false }, pullRecord({}, 'abandoned'))).toBe('yes: it is not open');
});

test('the update of a branch meets no requirement on pull requests, and is not rejected', () => {
  const update: ChangeRecord = {
    ...pullRecord(),
    change: {
      kind: 'ref',
      key: refUpdateKey(project, 'refs/heads/main', HEAD),
      project,
      ref: 'refs/heads/main',
      branch: 'main',
      oldCommit: null,
      newCommit: HEAD,
    },
    facts: { kind: 'ref' },
  };
  expect(needs({ open: true }, update)).toBe('no: it is not a pull request');
  expect(needs(null, update)).toBe('yes: nothing is required');
  expect(rejected({ draft: true }, update)).toMatch(/^no/);
});

test('mistakes are named with their place', () => {
  const result = parseGithubRequirement({
    review: [{ permission: 'wirte' }, { 'newer-than': 'soon', type: 'dismissed', username: '(' }],
    lable: 'gate',
    open: 'yes',
  });
  expect(
    result.kind === 'invalid' && result.problems.map(({ path, code }) => [path.join('.'), code]),
  ).toEqual([
    ['lable', 'unknown-key'],
    ['review.0.permission', 'unknown-value'],
    ['review.1.username', 'invalid-regex'],
    ['review.1.newer-than', 'wrong-type'],
    ['review.1.type', 'unknown-value'],
    ['open', 'wrong-type'],
  ]);
});

const reviewRule = fc.record(
  {
    username: fc.constantFrom('bob', '^a', { regex: 'x', negate: true }, { regex: 'x', negate: false }),
    type: fc.constantFrom('approved', ['approved', 'commented']),
    permission: fc.constantFrom('read', 'write', ['admin']),
    'older-than': fc.constantFrom('5s', 7, '1m', '2w'),
    'newer-than': fc.constantFrom('5s', 9, '1m', '365d'),
    'any-commit': fc.boolean(),
  },
  { requiredKeys: [] },
);

const rule = fc.record(
  {
    review: fc.oneof(reviewRule, fc.array(reviewRule, { maxLength: 3 })),
    label: fc.constantFrom('gate', ['gate', 'b'], []),
    status: fc.constantFrom('.*:success', [{ regex: 'a:.*', negate: true }]),
    open: fc.boolean(),
    draft: fc.boolean(),
  },
  { requiredKeys: [] },
);

test('what is parsed parses to itself', () => {
  fc.assert(
    fc.property(rule, value => {
      const once = parsed(value as Json);
      expect(parsed(once)).toEqual(once);
    }),
  );
});

const someReviews = fc.array(
  fc
    .tuple(
      fc.constantFrom('bob', 'ann'),
      fc.constantFrom('approved' as const, 'commented' as const),
      fc.integer({ min: -100_000, max: 20_000 }),
    )
    .map(([by, state, ms]) => review(by, { state, at: addMilliseconds(NOW, ms) })),
  { maxLength: 4 },
);

test('between now and the time of the recheck the verdict stands, and there it turns', () => {
  fc.assert(
    fc.property(rule, someReviews, fc.integer({ min: 0, max: 200_000 }), (value, reviews, ms) => {
      const requirement = parsed(value as Json);
      const record = pullRecord({ reviews, labels: ['gate', 'b'] });
      expectTurnAtRecheck(githubRequirements, requirement, record, { now: NOW, ms });
    }),
    { numRuns: 300 },
  );
});
