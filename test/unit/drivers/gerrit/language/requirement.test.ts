import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GerritFacts } from '../../../../../drivers/gerrit/facts.ts';
import { parseGerritRequirement } from '../../../../../drivers/gerrit/language/requirement-config.ts';
import { gerritRequirements } from '../../../../../drivers/gerrit/language/requirement-met.ts';
import { addMilliseconds } from '../../../../../src/lib/clock.ts';
import type { ChangeRecord } from '../../../../../src/model/change.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { expectTurnAtRecheck } from '../../../driver/turn-at-recheck.ts';
import { account, gerritRecord, NOW, refRecord, vote } from './gerrit-change.ts';

function parsed(value: Json): Json {
  const result = parseGerritRequirement(value);
  if (result.kind === 'invalid') throw new Error(result.problems.map(({ text }) => text).join('; '));
  return result.value;
}

function needs(requirement: Json, record: ChangeRecord): string {
  const { met, text } = gerritRequirements.meets(parsed(requirement), record, NOW);
  return `${met ? 'yes' : 'no'}: ${text}`;
}

function rejected(rejection: Json, record: ChangeRecord): string {
  const { met, text } = gerritRequirements.rejects(parsed(rejection), record, NOW);
  return `${met ? 'yes' : 'no'}: ${text}`;
}

const minutesAgo = (minutes: number) => ({ at: addMilliseconds(NOW, -60_000 * minutes) });

describe('an approval that is required', () => {
  const voted = (...approvals: GerritFacts['approvals']) => gerritRecord({ approvals });

  test.each<[string, Json, ChangeRecord, string]>([
    [
      'has to be there',
      { Verified: 1, username: '^zuul$' },
      voted(vote('Verified', -1, 'bob')),
      'no: needs Verified +1 by zuul; there is Verified -1 by bob',
    ],
    [
      'is found',
      { Verified: 1, username: '^zuul$' },
      voted(vote('Verified', 1, 'zuul')),
      'yes: it has Verified +1 by zuul',
    ],
    [
      'is not found on a change without votes',
      { Verified: 1 },
      voted(),
      'no: needs Verified +1; there is no such vote',
    ],
    [
      'is not met by a vote for another label',
      { Verified: 1 },
      voted(vote('Code-Review', 1, 'bob')),
      'no: needs Verified +1; there is no such vote',
    ],
    [
      'may have one of several values',
      { Verified: [1, 2] },
      voted(vote('Verified', 2, 'zuul')),
      'yes: it has Verified +1 or +2',
    ],
    [
      'is met by no other value',
      { Verified: 1 },
      voted(vote('Verified', 2, 'zuul')),
      'no: needs Verified +1; there is Verified +2 by zuul',
    ],
    [
      'is met by one vote in all that it says',
      { Verified: 1, username: '^zuul$' },
      voted(vote('Verified', 1, 'bob'), vote('Verified', 2, 'zuul')),
      'no: needs Verified +1 by zuul; there is Verified +1 by bob',
    ],
    [
      'may be any vote of an account',
      { username: 'zu' },
      voted(vote('A', 1, 'zuul')),
      'yes: it has a vote by a user zu',
    ],
    [
      'may be of an address',
      { email: 'bob@' },
      voted(vote('A', 1, 'bob')),
      'yes: it has a vote by an e-mail address bob@',
    ],
    [
      'takes an account without name as one with an empty name',
      { username: '^zuul$' },
      voted(vote('A', 1, 'bob', { by: { ...account('bob'), username: null } })),
      'no: needs a vote by zuul; there is A +1 by BOB',
    ],
    [
      'may have an age',
      { Verified: 1, 'newer-than': '48h' },
      voted(vote('Verified', 1, 'zuul', minutesAgo(48 * 60 + 1))),
      'no: needs Verified +1 less than 172800 s ago; there is Verified +1 by zuul',
    ],
    ['may have to be old', { 'older-than': '1m' }, voted(vote('A', 1, 'bob', minutesAgo(2))), 'yes'],
    [
      'has no age where Gerrit does not say the time',
      { 'older-than': '1m' },
      voted(vote('A', 1, 'bob', { at: null })),
      'no',
    ],
  ])('%s', (_, approval, record, expected) => {
    expect(needs({ approval }, record)).toContain(expected);
  });

  test('has to be found beside all others', () => {
    const approval = [{ Workflow: 1 }, { Verified: 1 }];
    expect(needs({ approval }, voted(vote('Workflow', 1, 'bob')))).toBe(
      'no: needs Verified +1; there is no such vote',
    );
    expect(needs({ approval }, voted(vote('Workflow', 1, 'bob'), vote('Verified', 1, 'zuul')))).toMatch(
      /^yes/,
    );
  });

  test('names a few of many votes', () => {
    const many = Array.from({ length: 200 }, (_, index) => vote('Verified', -1, `user${index}`));
    expect(needs({ approval: { Verified: 1 } }, voted(...many))).toBe(
      'no: needs Verified +1; there is Verified -1 by user0, Verified -1 by user1, Verified -1 by user2 and 197 more',
    );
  });
});

describe('what is rejected', () => {
  test('is one vote of what is named', () => {
    const record = gerritRecord({ approvals: [vote('Code-Review', -1, 'bob'), vote('Verified', 1, 'zuul')] });
    expect(rejected({ approval: [{ 'Code-Review': [-1, -2] }] }, record)).toBe(
      'yes: it has Code-Review -1 by bob',
    );
    expect(rejected({ approval: [{ 'Code-Review': -2 }] }, record)).toMatch(/^no/);
    expect(rejected({ approval: [{ 'Code-Review': -2 }, { Verified: 1 }] }, record)).toMatch(/^yes/);
  });

  test('is one of the keys alone', () => {
    expect(rejected({ open: false, wip: true }, gerritRecord({ wip: true }))).toBe(
      'yes: it is work in progress',
    );
    expect(rejected({ open: false, wip: true }, gerritRecord())).toBe(
      'no: nothing of what is rejected holds',
    );
    expect(rejected({ status: ['MERGED', 'NEW'] }, gerritRecord())).toBe('yes: it is NEW');
    expect(rejected({ hashtags: ['x', 'nope'] }, gerritRecord({ hashtags: ['nope-a'] }))).toBe(
      'yes: it has the hashtag nope-a',
    );
  });
});

describe('a change is', () => {
  const older = gerritRecord({ revision: 'ba'.repeat(20), patchset: 3 });

  test.each<[Json, ChangeRecord, string]>([
    [{ open: true }, gerritRecord(), 'yes: it is open'],
    [{ open: true }, gerritRecord({ status: 'MERGED' }, 'merged'), 'no: it is not open'],
    [{ open: false }, gerritRecord({ status: 'ABANDONED' }, 'abandoned'), 'yes: it is not open'],
    [{ 'current-patchset': true }, gerritRecord(), 'yes: it is the current patchset'],
    [{ 'current-patchset': true }, older, 'no: it is not the current patchset'],
    [{ wip: false }, gerritRecord({ wip: true }), 'no: it is work in progress'],
    [{ status: ['NEW', 'MERGED'] }, gerritRecord(), 'yes: it is NEW or MERGED'],
    [{ status: 'MERGED' }, gerritRecord(), 'no: needs the status MERGED; it is NEW'],
    [{ hashtags: ['a', 'b'] }, gerritRecord({ hashtags: ['xa'] }), 'no: needs a hashtag b'],
    [
      { hashtags: ['a', 'b'] },
      gerritRecord({ hashtags: ['xa', 'b'] }),
      'yes: it has a hashtag a, it has a hashtag b',
    ],
    [null, gerritRecord(), 'yes: nothing is required'],
  ])('%j', (requirement, record, expected) => {
    expect(needs(requirement, record)).toBe(expected);
  });
});

test('the update of a branch meets no requirement on changes, and is not rejected', () => {
  const update = refRecord('refs/heads/master');
  expect(needs({ open: true }, update)).toBe('no: it is not a change');
  expect(needs(null, update)).toBe('yes: nothing is required');
  expect(rejected({ wip: true }, update)).toMatch(/^no/);
  expect(gerritRequirements.recheckAt(parsed({ approval: { 'older-than': 1 } }), update, NOW)).toBeNull();
});

test('a record of another driver is refused', () => {
  const other = { ...gerritRecord(), facts: { kind: 'pull' } };
  expect(() => needs({ open: true }, other)).toThrow('not of the Gerrit driver');
});

test('mistakes are named with their place', () => {
  const result = parseGerritRequirement({
    approval: [
      { Verified: 'yes' },
      { 'newer-than': 'soon', username: '(' },
      { Verified: 1, Workflow: 1 },
      { Verified: 0 },
      { 'Code Review': 1 },
      { username: ['a', 'b'] },
    ],
    statsu: 'NEW',
    status: 'OPEN',
    open: 'yes',
  });
  expect(
    result.kind === 'invalid' && result.problems.map(({ path, code }) => [path.join('.'), code]),
  ).toEqual([
    ['statsu', 'unknown-key'],
    ['approval.0.Verified', 'wrong-type'],
    ['approval.1.username', 'invalid-regex'],
    ['approval.1.newer-than', 'wrong-type'],
    ['approval.2', 'contradiction'],
    ['approval.3.Verified', 'contradiction'],
    ['approval.4.Code Review', 'unknown-key'],
    ['approval.5.username', 'wrong-type'],
    ['status', 'unknown-value'],
    ['open', 'wrong-type'],
  ]);
});

const approvalRule = fc.record(
  {
    username: fc.constantFrom('bob', '^a', { regex: 'x', negate: true }, { regex: 'x', negate: false }),
    email: fc.constantFrom('bob', '^a'),
    Verified: fc.constantFrom(1, -1, '+2', [1, 2], [-1, 0]),
    'older-than': fc.constantFrom('5s', 7, '1m', '2w'),
    'newer-than': fc.constantFrom('5s', 9, '1m', '365d'),
  },
  { requiredKeys: [] },
);

const rule = fc.record(
  {
    approval: fc.oneof(approvalRule, fc.array(approvalRule, { maxLength: 3 })),
    hashtags: fc.constantFrom('a', ['b', { regex: 'c', negate: true }], []),
    status: fc.constantFrom('NEW', ['NEW', 'MERGED']),
    open: fc.boolean(),
    wip: fc.boolean(),
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

const someVotes = fc.array(
  fc
    .tuple(
      fc.constantFrom('bob', 'alice'),
      fc.constantFrom(-1, 1, 2),
      fc.option(fc.integer({ min: -100_000, max: 20_000 })),
    )
    .map(([by, value, ms]) =>
      vote('Verified', value, by, { at: ms === null ? null : addMilliseconds(NOW, ms) }),
    ),
  { maxLength: 4 },
);

test('between now and the time of the recheck the verdict stands, and there it turns', () => {
  fc.assert(
    fc.property(rule, someVotes, fc.integer({ min: 0, max: 200_000 }), (value, approvals, ms) => {
      const requirement = parsed(value as Json);
      const record = gerritRecord({ approvals, hashtags: ['a', 'b'] });
      expectTurnAtRecheck(gerritRequirements, requirement, record, { now: NOW, ms });
    }),
    { numRuns: 300 },
  );
});
