/** What two readings of a change say happened in between. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ChangeInfo } from '../../../../../drivers/gerrit/api/change-info.ts';
import { changeBaseline, changeHappenings } from '../../../../../drivers/gerrit/reading/change-happenings.ts';
import {
  type ChangeMemory,
  changeMemory,
  decodeChangeMemory,
  encodeChangeMemory,
  isOlderReading,
} from '../../../../../drivers/gerrit/reading/change-memory.ts';
import { gerritChangeRecord } from '../../../../../drivers/gerrit/reading/change-record.ts';
import { fromMilliseconds } from '../../../../../src/lib/clock.ts';
import { projectKey } from '../../../../../src/model/project.ts';
import { alice, BEGIN, bob, type ChangeHistory, changeHistory, zuul } from './change-history.ts';

const project = projectKey({ connection: 'gerrit', name: 'acme/app' });

function remember(info: ChangeInfo): ChangeMemory {
  const beside = {
    project,
    baseUrl: 'https://review',
    parents: [],
    named: [],
    lines: [],
    submitsTopics: false,
    readAt: info.updatedAt,
  };
  return changeMemory(info, gerritChangeRecord(info, beside));
}

type Happening = ReturnType<typeof changeHappenings>[number];

/** `comment-added 2 by bob: Code-Review 0→2` */
function line({ type, facts }: Happening): string {
  const votes = facts.votes?.filter(({ value, before }) => value !== before) ?? [];
  return [
    type,
    facts.patchset,
    `by ${facts.by?.username ?? null}`,
    ...votes.map(({ label, value, before }) => `${label} ${before}→${value}`),
    ...(facts.added?.map(tag => `+${tag}`) ?? []),
    ...(facts.removed?.map(tag => `-${tag}`) ?? []),
  ].join(' ');
}

/** A change that is read, then changed by `deeds` and read again. */
function between(
  deeds: (change: ChangeHistory) => void,
  prepare?: (change: ChangeHistory) => void,
): readonly string[] {
  const change = changeHistory();
  prepare?.(change);
  const before = remember(change.now());
  deeds(change);
  const now = change.now();
  return changeHappenings(before, remember(now), now).map(line);
}

describe('a change that is read again has', () => {
  const status = (to: ChangeInfo['status'], tag: string) => (change: ChangeHistory) =>
    change.own(tag, tag, bob, { status: to });
  test.each<[string, (change: ChangeHistory) => void, readonly string[], ((change: ChangeHistory) => void)?]>(
    [
      ['nothing new', () => {}, []],
      ['a new patch set', change => change.push(bob), ['patchset-created 2 by bob']],
      [
        'of several patch sets the newest',
        change => [bob, alice, bob].map(each => change.push(each)),
        ['patchset-created 4 by bob'],
      ],
      ['a comment', change => change.comment(bob, 'recheck'), ['comment-added 1 by bob']],
      [
        'a vote',
        change => change.vote(bob, { 'Code-Review': 2 }),
        ['comment-added 1 by bob Code-Review 0→2'],
      ],
      [
        'votes one after the other',
        change => [1, -1, 2].map(value => change.vote(bob, { 'Code-Review': value })),
        [
          'comment-added 1 by bob Code-Review 0→1',
          'comment-added 1 by bob Code-Review 1→-1',
          'comment-added 1 by bob Code-Review -1→2',
        ],
      ],
      [
        'a vote that its voter took back',
        change => change.vote(bob, { 'Code-Review': 0, Workflow: 1 }),
        ['comment-added 1 by bob Code-Review 2→0 Workflow 0→1'],
        change => change.vote(bob, { 'Code-Review': 2 }),
      ],
      [
        'a vote that no header names, of its voter',
        change => [
          change.setVote(bob, 'Verified', 1),
          change.comment(alice, 'Ah'),
          change.comment(bob, 'Fine'),
        ],
        ['comment-added 1 by alice', 'comment-added 1 by bob Verified 0→1'],
      ],
      [
        'a comment on an old patch set',
        change => change.comment(bob, 'late', { patchset: 1, text: 'Patch Set 1: Verified+1' }),
        ['comment-added 1 by bob Verified 0→1'],
        change => change.push(),
      ],
      [
        'comments before and after a new patch set',
        change => [change.comment(bob, 'one'), change.push(), change.vote(bob, { Verified: 1 })],
        ['patchset-created 2 by alice', 'comment-added 1 by bob', 'comment-added 2 by bob Verified 0→1'],
      ],
      [
        'a vote that an administrator removed',
        change => change.removeVote(alice, bob, 'Code-Review'),
        ['vote-deleted 1 by alice Code-Review 2→0'],
        change => change.vote(bob, { 'Code-Review': 2 }),
      ],
      [
        'a vote that came and went',
        change => [change.vote(bob, { Verified: -1 }), change.removeVote(alice, bob, 'Verified')],
        ['comment-added 1 by bob Verified 0→-1', 'vote-deleted 1 by alice Verified -1→0'],
      ],
      [
        'a reviewer less',
        change => change.removeReviewer(alice, bob),
        ['reviewer-deleted 1 by alice Code-Review 2→0 Workflow 1→0'],
        change => change.vote(bob, { 'Code-Review': 2, Workflow: 1 }),
      ],
      [
        'a vote less of which no message speaks',
        change => change.setVote(bob, 'Code-Review', 0),
        ['vote-deleted 1 by null Code-Review 2→0'],
        change => change.vote(bob, { 'Code-Review': 2 }),
      ],
      [
        'no votes any more after a new patch set',
        change => change.push(),
        ['patchset-created 2 by alice'],
        change => change.vote(bob, { Verified: 1 }),
      ],
      [
        'a topic',
        change => change.own('setTopic', 'Topic set to t1', bob, { topic: 't1' }),
        ['topic-changed 1 by bob'],
      ],
      [
        'other hashtags',
        change =>
          change.own('setHashtag', 'Hashtags added: b, c\nHashtag removed: a', bob, { hashtags: ['c', 'b'] }),
        ['hashtags-changed 1 by bob +b +c -a'],
        change => change.own('setHashtag', 'Hashtag added: a', bob, { hashtags: ['a'] }),
      ],
      [
        'work in progress',
        change => change.own('setWorkInProgress', 'WIP', bob, { wip: true }),
        ['wip-state-changed 1 by bob'],
      ],
      [
        'privacy',
        change => change.own('setPrivate', 'Set private', bob, { private: true }),
        ['private-state-changed 1 by bob'],
      ],
      [
        'another branch',
        change => change.own('move', 'Moved', bob, { branch: 'stable' }),
        ['patchset-created 1 by bob'],
      ],
      ['been merged', status('MERGED', 'merged'), ['change-merged 1 by bob']],
      ['been abandoned', status('ABANDONED', 'abandon'), ['change-abandoned 1 by bob']],
      [
        'been restored',
        status('NEW', 'restore'),
        ['change-restored 1 by bob'],
        status('ABANDONED', 'abandon'),
      ],
      [
        'been restored with a new patch set',
        change => [status('NEW', 'restore')(change), change.push()],
        ['patchset-created 2 by alice', 'change-restored 1 by bob'.replace('1', '2')],
        status('ABANDONED', 'abandon'),
      ],
      [
        'been merged as another commit',
        change => [change.push(zuul), status('MERGED', 'merged')(change)],
        ['change-merged 2 by bob'],
      ],
      [
        'been pushed with a vote',
        change => change.own('newPatchSet', 'Uploaded patch set 1: Code-Review+2.', bob, {}),
        ['comment-added 1 by bob Code-Review 0→2'],
      ],
    ],
  )('%s', (_, deeds, expected, prepare) => {
    expect(between(deeds, prepare)).toEqual(expected);
  });

  test('of a hundred new comments the newest sixty', () => {
    const lines = between(change => {
      for (let index = 0; index < 100; index += 1) change.comment(bob, `comment ${index}`);
    });
    expect(lines).toHaveLength(60);
  });
});

test('a report of ours has its tag and its author in the facts', () => {
  const change = changeHistory();
  const before = remember(change.now());
  change.vote(zuul, { Verified: 1 }, 'Build succeeded.', 'autogenerated:gatehouse:check');
  const now = change.now();
  expect(changeHappenings(before, remember(now), now)).toMatchObject([
    {
      type: 'comment-added',
      facts: {
        by: { username: 'zuul' },
        tag: 'autogenerated:gatehouse:check',
        comment: 'Patch Set 1: Verified+1\n\nBuild succeeded.',
        votes: [
          { label: 'Code-Review', value: 0, before: 0 },
          { label: 'Verified', value: 1, before: 0 },
          { label: 'Workflow', value: 0, before: 0 },
        ],
      },
    },
  ]);
});

test('comments on the patch set come with their message', () => {
  const change = changeHistory();
  const before = remember(change.now());
  change.comment(bob, '(1 comment)');
  const now = change.now();
  const id = now.messages.at(-1)?.id ?? '';
  const happened = changeHappenings(before, remember(now), now, new Map([[id, ['recheck']]]));
  expect(happened.map(({ facts }) => facts.patchsetComments)).toEqual([['recheck']]);
});

describe('the first reading', () => {
  const YEAR = 365 * 24 * 3600;
  function first(change: ChangeHistory, event: string, watchedSince = BEGIN): readonly string[] {
    const info = change.now();
    const now = remember(info);
    return changeHappenings(changeBaseline(now, info, event, fromMilliseconds(watchedSince)), now, info).map(
      line,
    );
  }
  /** A year before it is watched. */
  function old(): { readonly change: ChangeHistory; readonly since: number } {
    const change = changeHistory();
    change.vote(bob, { 'Code-Review': 2 }, 'recheck');
    change.own('setTopic', 'Topic set to t1', bob, { topic: 't1' });
    change.second(YEAR);
    return { change, since: BEGIN + YEAR * 1000 };
  }

  test('of a new change announces it, whichever notification comes first', () => {
    const change = changeHistory();
    change.comment(bob, 'recheck');
    for (const event of ['patchset-created', 'comment-added', 'catch-up'])
      expect(first(change, event)).toEqual(['patchset-created 1 by alice', 'comment-added 1 by bob']);
  });
  test('of a new change that has merged announces that', () => {
    const change = changeHistory();
    change.own('merged', 'Merged', zuul, { status: 'MERGED' });
    expect(first(change, 'catch-up')).toEqual(['change-merged 1 by zuul']);
  });
  test('of an old change announces nothing old', () => {
    const { change, since } = old();
    expect(first(change, 'catch-up', since)).toEqual([]);
  });
  test('of an old change announces what was done since the project is watched', () => {
    const { change, since } = old();
    change.comment(zuul, 'recheck');
    change.own('setWorkInProgress', 'WIP', alice, { wip: true });
    expect(first(change, 'catch-up', since)).toEqual([
      'wip-state-changed 1 by alice',
      'comment-added 1 by zuul',
    ]);
  });
  test.each([
    ['comment-added', ['comment-added 1 by bob Code-Review 0→2']],
    ['patchset-created', ['patchset-created 1 by alice']],
    ['topic-changed', ['topic-changed 1 by null']],
    ['wip-state-changed', ['wip-state-changed 1 by null']],
    ['change-restored', ['change-restored 1 by null']],
    ['ref-updated', []],
  ])('of an old change with a clock far behind ours announces %s', (event, expected) => {
    const { change, since } = old();
    expect(first(change, event, since)).toEqual(expected);
  });
});

/** Deeds by number, so that an example can be shrunk. */
const DEEDS: readonly ((change: ChangeHistory) => void)[] = [
  change => change.second(),
  change => change.second(),
  change => change.comment(bob, 'recheck'),
  change => change.vote(bob, { 'Code-Review': 2 }),
  change => change.vote(alice, { 'Code-Review': -1, Workflow: 0 }),
  change => change.removeVote(alice, bob, 'Code-Review'),
  change => change.removeReviewer(alice, bob),
  change => change.push(),
  change => change.own('setTopic', 'Topic', bob, { topic: `t${change.now().messages.length}` }),
  change => change.own('abandon', 'Abandoned', bob, { status: 'ABANDONED' }),
  change => change.own('restore', 'Restored', bob, { status: 'NEW' }),
];

test('readings that are lost, doubled or swapped end in the same memory, and announce no comment twice', () => {
  const order = fc.array(fc.nat({ max: 40 }), { maxLength: 60 });
  fc.assert(
    fc.property(fc.array(fc.nat({ max: DEEDS.length - 1 }), { maxLength: 40 }), order, (deeds, shown) => {
      const change = changeHistory();
      const readings = [change.now()];
      for (const deed of deeds) {
        DEEDS[deed]?.(change);
        readings.push(change.now());
      }
      const last = readings.length - 1;
      let memory: ChangeMemory | undefined;
      const comments: string[] = [];
      for (const index of [...shown.map(each => Math.min(each, last)), last]) {
        const info = readings[index];
        if (info === undefined || isOlderReading(info, memory)) continue;
        const now = remember(info);
        const before = memory ?? changeBaseline(now, info, 'catch-up', fromMilliseconds(BEGIN));
        for (const { type, facts } of changeHappenings(before, now, info))
          if (type === 'comment-added') comments.push(facts.comment ?? '');
        memory = decodeChangeMemory(encodeChangeMemory(now));
      }
      const written = change.now().messages.filter(({ tag }) => tag === null);
      expect(memory).toEqual(remember(change.now()));
      expect(comments).toEqual(written.map(({ text }) => text));
    }),
    { numRuns: 150 },
  );
});

describe('the memory', () => {
  test('stays small and quick to make, with ten thousand messages and votes', () => {
    const change = changeHistory();
    const before = remember(change.now());
    for (let index = 0; index < 10_000; index += 1) {
      const stranger = { id: 1000 + index, username: `u${index}`, email: null, name: 'x'.repeat(5_000) };
      change.comment(stranger, 'spam');
      change.setVote(stranger, 'Code-Review', 1);
    }
    change.own('setHashtag', 'x', bob, {
      hashtags: Array.from({ length: 10_000 }, (_, index) => `${index}`.repeat(300)),
    });
    const info = change.now();
    const now = remember(info);
    expect(changeHappenings(before, now, info)).toHaveLength(61);
    const encoded = encodeChangeMemory(now);
    expect(JSON.stringify(encoded).length).toBeLessThan(100_000);
    expect(decodeChangeMemory(encoded)).toEqual(now);
  });
  test('of a later version is left to upgraded processes', () => {
    expect(() => decodeChangeMemory({ version: 2, packed: '' })).toThrow('has version 2; known is 1');
    expect(decodeChangeMemory(undefined)).toBeUndefined();
  });
  test('does not differ in what Gerrit touched without a change', () => {
    const change = changeHistory();
    const before = remember(change.now());
    change.second();
    change.comment(bob, 'hi');
    expect(remember(change.now()).record).toBe(before.record);
  });
});
