import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { GerritEventFacts } from '../../../../../drivers/gerrit/language/event-facts.ts';
import { parseGerritTrigger } from '../../../../../drivers/gerrit/language/trigger-config.ts';
import { gerritTriggerMatches } from '../../../../../drivers/gerrit/language/trigger-matches.ts';
import { derivedUuid, spanIdOf, traceIdOf } from '../../../../../src/lib/ids.ts';
import type { TriggerEvent } from '../../../../../src/model/event.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { account, gerritRecord, NOW, project, refRecord, vote } from './gerrit-change.ts';

function parsed(value: Json): Json {
  const result = parseGerritTrigger(value);
  if (result.kind === 'invalid') throw new Error(result.problems.map(({ text }) => text).join('; '));
  return result.value;
}

function mistakes(value: Json): readonly string[] {
  const result = parseGerritTrigger(value);
  return result.kind === 'ok' ? [] : result.problems.map(({ path, code }) => `${path.join('.')} ${code}`);
}

const uuid = derivedUuid('event');

function event(
  type: string,
  facts: Partial<GerritEventFacts> = {},
  parts: Partial<TriggerEvent> = {},
): TriggerEvent {
  return {
    uuid,
    connection: 'gerrit',
    driver: 'gerrit',
    type,
    project,
    branch: 'master',
    ref: 'refs/changes/12/12/2',
    change: gerritRecord().change,
    facts: { by: account('bob'), ...facts } as object as Json,
    configMayHaveChanged: [],
    branchesChanged: false,
    receivedAt: NOW,
    sampled: true,
    span: { traceId: traceIdOf(uuid), spanId: spanIdOf(uuid) },
    ...parts,
  };
}

/** As Gerrit sends it: every label, and those that changed differ from before. */
const approves = event('comment-added', {
  comment: 'Patch Set 2: Workflow+1\n\n(1 comment)\n\nRecheck, please',
  tag: null,
  patchset: 2,
  votes: [
    { label: 'Verified', value: 0, before: 0 },
    { label: 'Code-Review', value: 2, before: 2 },
    { label: 'Workflow', value: 1, before: 0 },
  ],
});

const created = event('patchset-created');

function refUpdated(ref: string, newCommit?: null): TriggerEvent {
  const { change } = refRecord(ref, newCommit);
  return event('ref-updated', {}, { ref, branch: change.branch ?? null, change });
}

const GATE = { tenant: 'acme', pipeline: 'gate' };

function takes(trigger: Json, of: TriggerEvent, record = gerritRecord()): string {
  const { met, text } = gerritTriggerMatches(parsed(trigger), of, record, GATE);
  return `${met ? 'yes' : 'no'}: ${text}`;
}

const comment = (text: string, parts: Partial<GerritEventFacts> = {}) =>
  event('comment-added', { comment: text, tag: null, votes: [], ...parts });

const hashtags = (added: readonly string[], removed: readonly string[]) =>
  event('hashtags-changed', { added, removed });

describe('a trigger takes', () => {
  test.each<[string, Json, TriggerEvent, string]>([
    ['an event', { event: 'patchset-created' }, created, 'yes: event patchset-created'],
    ['one of several events', { event: ['change-restored', 'patchset-created'] }, created, 'yes: event'],
    [
      'no other event',
      { event: 'change-merged' },
      created,
      'no: event patchset-created is not change-merged',
    ],
    [
      'a branch from its start',
      { event: 'patchset-created', branch: ['stable', 'mas'] },
      created,
      'yes: event patchset-created, branch master matches mas',
    ],
    [
      'no other branch',
      { event: 'patchset-created', branch: 'aster' },
      created,
      'no: branch master does not match aster',
    ],
    [
      'every branch but one',
      { event: 'patchset-created', branch: { regex: '^stable', negate: true } },
      created,
      'yes: event patchset-created, branch master matches not ^stable',
    ],
    [
      'a full ref',
      { event: 'ref-updated', ref: '^refs/tags/[0-9]+$' },
      refUpdated('refs/tags/12'),
      'yes: event ref-updated, ref refs/tags/12 matches',
    ],
    [
      'no other ref',
      { event: 'ref-updated', ref: '^refs/tags/' },
      refUpdated('refs/heads/master'),
      'no: ref',
    ],
    [
      'no tag where a branch is asked',
      { event: 'ref-updated', branch: '.*' },
      refUpdated('refs/tags/1'),
      'no: the event has no branch',
    ],
    [
      'no deletion',
      { event: 'ref-updated' },
      refUpdated('refs/heads/old', null),
      'no: refs/heads/old was deleted and deletions are ignored',
    ],
    [
      'a deletion where it is asked for',
      { event: 'ref-updated', 'ignore-deletes': false },
      refUpdated('refs/heads/old', null),
      'yes',
    ],
    [
      'a comment by its text as Gerrit sends it',
      { event: 'comment-added', comment: '(?i)^(Patch Set [0-9]+:)?( [\\w\\\\+-]*)*(\\n\\n)?\\s*recheck' },
      comment('Patch Set 2: Code-Review+1\n\nRecheck'),
      'yes: event comment-added, comment text matches',
    ],
    [
      'no comment that has another header',
      { event: 'comment-added', comment: '^recheck' },
      comment('Patch Set 2:\n\nrecheck'),
      'no: comment text does not match ^recheck',
    ],
    [
      'a comment on the whole patch set, which stands beside the message',
      { event: 'comment-added', comment: '^recheck$' },
      comment('Patch Set 2:\n\n(1 comment)', { patchsetComments: ['thanks', 'recheck'] }),
      'yes',
    ],
    [
      'a user name anywhere in it',
      { event: 'patchset-created', username: 'o' },
      created,
      'yes: event patchset-created, username bob',
    ],
    [
      'no other user',
      { event: 'patchset-created', username: ['^alice$', '^zuul$'] },
      created,
      'no: username bob does not match ^alice$ or ^zuul$',
    ],
    [
      'an address',
      { event: 'patchset-created', email: '@example\\.org$' },
      created,
      'yes: event patchset-created, email address',
    ],
    [
      'nothing of an unknown account where accounts are asked, negated or not',
      { event: 'patchset-created', username: { regex: '^zuul$', negate: true } },
      event('patchset-created', { by: null }),
      'no: the event has no username',
    ],
    [
      'a vote, though an earlier event brought it',
      { event: 'comment-added', approval: { 'Code-Review': 2 } },
      approves,
      'yes: event comment-added, vote Code-Review +2',
    ],
    [
      'several votes only together',
      { event: 'comment-added', approval: [{ 'Code-Review': 2 }, { Verified: 1 }] },
      approves,
      'no: the vote is Verified 0; wanted is Verified +1',
    ],
    [
      'a vote of 0',
      { event: 'comment-added', approval: { Verified: 0 } },
      approves,
      'yes: event comment-added, vote Verified 0',
    ],
    [
      'a vote that the event brought',
      { event: 'comment-added', 'approval-change': { Workflow: 1 } },
      approves,
      'yes: event comment-added, vote Workflow +1',
    ],
    [
      'as a change of votes none that was there before',
      { event: 'comment-added', 'approval-change': { 'Code-Review': 2 } },
      approves,
      'no: the vote Code-Review +2 was there before',
    ],
    [
      'no vote for a label that the change does not have',
      { event: 'comment-added', approval: { 'code-review': 2 } },
      approves,
      'no: the event has no vote code-review; wanted is code-review +2',
    ],
    [
      'a hashtag that was added',
      { event: 'hashtags-changed', added: ['x', 'hec'] },
      hashtags(['a', 'check'], []),
      'yes: event hashtags-changed, added check matches hec',
    ],
    [
      'no hashtag that was removed as an added one',
      { event: 'hashtags-changed', added: 'check' },
      hashtags([], ['check']),
      'no: the event has no added',
    ],
    [
      'a hashtag that was removed',
      { event: 'hashtags-changed', removed: 'nocheck' },
      hashtags([], ['nocheck']),
      'yes',
    ],
  ])('%s', (_, trigger, of, expected) => {
    expect(takes(trigger, of)).toContain(expected);
  });
});

describe('require and reject of a trigger', () => {
  const trigger = { event: 'comment-added', comment: 'recheck', require: { approval: { 'Code-Review': 2 } } };

  test('look at the change as it is with the event', () => {
    expect(takes(trigger, comment('recheck'))).toBe('no: needs Code-Review +2; there is no such vote');
    const voted = gerritRecord({ approvals: [vote('Code-Review', 2, 'bob')] });
    expect(takes(trigger, comment('recheck'), voted)).toMatch(/^yes/);
    expect(takes({ event: 'comment-added', reject: { open: true } }, comment('recheck'))).toBe(
      'no: rejected: it is open',
    );
  });

  test('count ages at the time the event came in', () => {
    const fresh = { event: 'comment-added', require: { approval: { 'newer-than': '1m', Verified: 1 } } };
    const at = (seconds: number) => ({
      ...comment('recheck'),
      receivedAt: (BigInt(NOW) + BigInt(seconds) * 1_000_000_000n).toString() as typeof NOW,
    });
    const voted = gerritRecord({ approvals: [vote('Verified', 1, 'zuul')] });
    expect(takes(fresh, at(0), voted)).toMatch(/^yes/);
    expect(takes(fresh, at(1), voted)).toMatch(/^no/);
  });

  test('in their former spelling count unless the one of today stands beside them', () => {
    const former = { event: 'comment-added', 'require-approval': [{ Verified: 1 }] };
    expect(parsed(former)).toEqual(
      parsed({ event: 'comment-added', require: { approval: [{ Verified: 1 }] } }),
    );
    expect(parsed({ ...former, require: { open: true } })).toEqual(
      parsed({ event: 'comment-added', require: { open: true } }),
    );
    expect(parsed({ event: 'comment-added', 'reject-approval': { Verified: -1 } })).toEqual(
      parsed({ event: 'comment-added', reject: { approval: { Verified: -1 } } }),
    );
  });
});

test('the former filters are taken, and those of today win', () => {
  const former = { event: 'comment-added', comment_filter: 'a', email_filter: 'b', username_filter: ['c'] };
  expect(parsed(former)).toEqual(
    parsed({ event: 'comment-added', comment: 'a', email: 'b', username: ['c'] }),
  );
  expect(parsed({ ...former, comment: 'd' })).toMatchObject({ comment: ['d'], email: ['b'] });
});

test('the report of a pipeline triggers another one, never itself', () => {
  const report = (pipeline: string) =>
    comment('Patch Set 2: Verified+1\n\nBuild succeeded', { tag: `autogenerated:gatehouse:${pipeline}` });
  expect(takes({ event: 'comment-added' }, report('check'))).toMatch(/^yes/);
  expect(takes({ event: 'comment-added' }, report('gate'))).toBe(
    'no: it is the report of this pipeline itself',
  );
});

test('events of the checks plug-in are taken with its words', () => {
  expect(mistakes({ event: 'pending-check', scheme: 'zuul_check' })).toEqual([]);
  expect(mistakes({ event: 'pending-check', uuid: 'zuul:check' })).toEqual([]);
});

describe('mistakes are named with their place', () => {
  test.each<[Json, readonly string[]]>([
    [{ branch: 'master' }, [' missing-key']],
    [{ event: [] }, [' missing-key']],
    [{ event: 'patchset-creatd' }, ['event unknown-value']],
    [{ event: 'comment-added', coment: 'x' }, ['coment unknown-key']],
    [{ event: 'comment-added', comment: '(' }, ['comment invalid-regex']],
    [{ event: 'comment-added', comment: { regex: 'x', negated: true } }, ['comment.negated unknown-key']],
    [{ event: 'patchset-created', comment: 'x' }, ['comment wrong-event']],
    [{ event: 'patchset-created', approval: { Workflow: 1 } }, ['approval wrong-event']],
    [{ event: 'comment-added', added: 'x' }, ['added wrong-event']],
    [
      { event: 'ref-updated', username: 'zuul', email_filter: 'x' },
      ['email wrong-event', 'username wrong-event'],
    ],
    [{ event: ['ref-updated', 'change-merged'], username: 'zuul' }, []],
    [{ event: 'comment-added', approval: 'Workflow' }, ['approval wrong-type']],
    [{ event: 'comment-added', approval: [{ Workflow: [1, 2] }] }, ['approval.0.Workflow wrong-type']],
    [{ event: 'comment-added', approval: { 'Code Review': 1 } }, ['approval.Code Review unknown-key']],
    [{ event: 'comment-added', require: { opn: true } }, ['require.opn unknown-key']],
    [{ event: 'comment-added', require: [{ open: true }, { wip: false }] }, ['require wrong-type']],
    [{ event: 'ref-updated', 'ignore-deletes': 'no' }, ['ignore-deletes wrong-type']],
  ])('%j', (trigger, expected) => {
    expect(mistakes(trigger)).toEqual(expected);
  });
});

test('what is parsed parses to itself', () => {
  const anyTrigger = fc.record(
    {
      event: fc.constant(['comment-added', 'hashtags-changed', 'ref-updated']),
      branch: fc.constantFrom('a', ['b', { regex: 'c', negate: true }], []),
      comment: fc.constantFrom('a', { regex: 'c', negate: false }),
      comment_filter: fc.constant('x'),
      username: fc.constantFrom('a', []),
      approval: fc.constantFrom({ A: 1 }, { A: '+1' }, [{ A: 1 }, { B: -2, A: 2 }], {}, []),
      'approval-change': fc.constantFrom({ A: 1 }, {}),
      added: fc.constantFrom('a', ['b']),
      'ignore-deletes': fc.boolean(),
      require: fc.constantFrom({}, { open: true, approval: { A: [1, 2], 'newer-than': '1d' } }),
      'reject-approval': fc.constantFrom({ A: -1 }, [{ A: -1 }, { username: 'x' }]),
    },
    { requiredKeys: ['event'] },
  );
  fc.assert(
    fc.property(anyTrigger, value => {
      const once = parsed(value as Json);
      expect(parsed(once)).toEqual(once);
    }),
  );
});

test('of a label that is written twice the last value counts, as in Zuul', () => {
  expect(parsed({ event: 'comment-added', approval: [{ A: 1, B: 1 }, { A: '+2' }] })).toMatchObject({
    approval: { A: 2, B: 1 },
  });
});

test("Zuul's debug of a trigger is taken with a warning", () => {
  expect(parseGerritTrigger({ event: 'patchset-created', debug: true })).toMatchObject({
    kind: 'ok',
    warnings: [{ path: ['debug'], code: 'no-effect' }],
  });
  expect(parseGerritTrigger({ event: 'patchset-created', debug: false })).not.toHaveProperty('warnings');
});
