/** Events of Gerrit's stream: what has to be read after each, and what costs nothing. */
import { describe, expect, test } from 'vitest';
import { isDroppedUnparsed } from '../../../../../drivers/gerrit/intake/cheap-drop.ts';
import { reduceGerritEvent } from '../../../../../drivers/gerrit/intake/reduce.ts';
import { fromMilliseconds } from '../../../../../src/lib/clock.ts';
import type { Json } from '../../../../../src/model/job.ts';

const A = 'a'.repeat(40);
const B = 'b'.repeat(40);
const NONE = '0'.repeat(40);
const alice = { name: 'Alice', email: 'alice@example.org', username: 'alice' };
const change = { project: 'acme/app', branch: 'main', id: 'I1', number: 12, owner: alice, status: 'NEW' };
const patchSet = { number: 2, revision: A, ref: 'refs/changes/12/12/2' };
const ofChange = (type: string, facts: object = {}) =>
  ({
    type,
    change,
    project: 'acme/app',
    refName: 'refs/heads/main',
    eventCreatedOn: 1795355569,
    ...facts,
  }) as Json;
const ofRef = (refName: string, oldRev: string, newRev: string, facts: object = {}) =>
  ({
    submitter: alice,
    refUpdate: { oldRev, newRev, refName, project: 'acme/app' },
    type: 'ref-updated',
    eventCreatedOn: 1795355569,
    ...facts,
  }) as Json;

function reduce(event: Json) {
  const reduction = reduceGerritEvent(event, 'stream');
  return reduction.kind === 'notifications'
    ? reduction.notifications.map(({ project, about }) => ({ project, ...about }))
    : reduction;
}

describe('after an event', () => {
  const withPatchSet = { project: 'acme/app', kind: 'change', number: 12, patchset: 2 };
  test.each([
    'patchset-created',
    'draft-published',
    'comment-added',
    'change-merged',
    'merge-failed',
    'change-abandoned',
    'change-restored',
    'vote-deleted',
    'reviewer-added',
    'reviewer-deleted',
    'wip-state-changed',
    'private-state-changed',
    'pending-check',
  ])('%s the change is read, and its patch set is known there', type => {
    expect(reduce(ofChange(type, { patchSet }))).toEqual([withPatchSet]);
  });

  test.each(['topic-changed', 'hashtags-changed'])('%s the change is read, at any patch set', type => {
    expect(reduce(ofChange(type))).toEqual([{ ...withPatchSet, patchset: null }]);
  });

  test('change-deleted the change is gone', () => {
    expect(reduce(ofChange('change-deleted'))).toEqual([
      { ...withPatchSet, patchset: null, isDeleted: true },
    ]);
  });

  test.each([
    ['a branch moved', 'refs/heads/main', A, B, { before: A, after: B }],
    ['a branch was created', 'refs/heads/x/y', NONE, A, { before: null, after: A }],
    ['a branch was deleted', 'refs/heads/x', A, NONE, { before: A, after: null }],
    ['a tag was created', 'refs/tags/v1', NONE, A, { before: null, after: A }],
  ])('of the ref when %s it is read', (_, ref, before, after, tips) => {
    expect(reduce(ofRef(ref, before, after))).toEqual([{ project: 'acme/app', kind: 'ref', ref, ...tips }]);
  });

  test('of a branch in the form of old versions it is read', () => {
    expect(reduce(ofRef('main', A, B))).toMatchObject([{ kind: 'ref', ref: 'refs/heads/main' }]);
  });

  test.each<[string, Json]>([
    [
      'a project was created',
      { type: 'project-created', projectName: 'acme/app', headName: 'refs/heads/main' },
    ],
    [
      'another branch is HEAD',
      {
        type: 'project-head-updated',
        projectName: 'acme/app',
        oldHead: 'refs/heads/a',
        newHead: 'refs/heads/b',
      },
    ],
    ['HEAD moved', ofRef('HEAD', A, B)],
  ])('by which %s its branches are read', (_, event) => {
    expect(reduce(event)).toEqual([{ project: 'acme/app', kind: 'project' }]);
  });

  test('of several refs each branch and tag is read', () => {
    const refUpdates = ['refs/heads/a', 'refs/changes/12/12/meta', 'refs/tags/b'].map(refName => ({
      project: 'acme/app',
      refName,
      oldRev: A,
      newRev: B,
    }));
    expect(reduce({ type: 'batch-ref-updated', refUpdates })).toMatchObject([
      { ref: 'refs/heads/a' },
      { ref: 'refs/tags/b' },
    ]);
  });

  test('its time at Gerrit is kept, and numbers may be texts', () => {
    const event = ofChange('comment-added', {
      change: { ...change, number: '12' },
      patchSet: { number: '2' },
    });
    expect(reduceGerritEvent(event, 'webhook')).toEqual({
      kind: 'notifications',
      notifications: [
        {
          event: 'comment-added',
          foundBy: 'webhook',
          project: 'acme/app',
          about: { kind: 'change', number: 12, patchset: 2 },
        },
      ],
      madeAt: fromMilliseconds(1795355569000),
    });
  });
});

test.each<[string, Json]>([
  ['a ref of a change', ofRef('refs/changes/12/12/meta', A, B)],
  ['configuration', ofRef('refs/meta/config', A, B)],
  ['a sequence', ofRef('refs/sequences/changes', A, B)],
  ['an account', ofRef('refs/users/01/1000001', A, B)],
  ['an assignee', ofChange('assignee-changed', { changer: alice })],
  ['replication', { type: 'ref-replicated', project: 'acme/app', ref: 'refs/heads/main', targetNode: 'x' }],
  ['replication as a whole', { type: 'ref-replication-done', project: 'acme/app', ref: 'x', nodesCount: 1 }],
  ['a plug-in', { type: 'task-done', anything: [1, 2, 3] }],
])('an event about %s is ignored', (_, event) => {
  expect(reduce(event)).toMatchObject({ kind: 'ignored' });
});

test.each<[string, Json]>([
  ['is no object', ['patchset-created']],
  ['has no type', { change }],
  ['has no change', { type: 'comment-added' }],
  ['has a change without a number', ofChange('comment-added', { change: { project: 'acme/app' } })],
  ['has a number below 1', ofChange('comment-added', { change: { ...change, number: -3 } })],
  [
    'names a project with a line end',
    ofChange('comment-added', { change: { ...change, project: 'a\nb' }, project: 7 }),
  ],
  ['names a project that is very long', { type: 'project-created', projectName: 'x'.repeat(501) }],
  ['has a ref update without a ref', { type: 'ref-updated', refUpdate: { project: 'acme/app' } }],
  ['has no ref updates', { type: 'batch-ref-updated' }],
])('an event is broken that %s', (_, event) => {
  expect(reduce(event)).toMatchObject({ kind: 'broken' });
});

describe('a line is dropped unparsed', () => {
  const isWatched = (project: string) => project === 'acme/app';
  const isDropped = (event: Json) => isDroppedUnparsed(JSON.stringify(event), isWatched);

  test.each<[string, Json, boolean]>([
    ['of a meta ref', ofRef('refs/changes/12/12/meta', A, B), true],
    ['of a branch', ofRef('refs/heads/main', A, B), false],
    ['of a tag', ofRef('refs/tags/v1', A, B), false],
    ['of a change', ofChange('comment-added', { patchSet }), false],
    [
      'of another project',
      ofChange('comment-added', { change: { ...change, project: 'x' }, project: 'x' }),
      true,
    ],
    ['of a new project of others', { type: 'project-created', projectName: 'x' }, true],
    ['of a new project', { type: 'project-created', projectName: 'acme/app' }, false],
    ['of no project', { type: 'dropped-output' }, false],
    ['whose project is written with escapes', { type: 'project-created', projectName: 'a"b' }, false],
  ])('%s: %o → %s', (_, event, expected) => {
    expect(isDropped(event)).toBe(expected);
  });

  test('never for what a person wrote into it', () => {
    const comment = '"refUpdate":{"refName":"refs/changes/1/1/meta","project":"x"}';
    expect(isDropped(ofChange('comment-added', { comment, patchSet }))).toBe(false);
  });

  test('ten thousand of other projects in far less than 5 % of a minute', () => {
    const event = { ...(ofChange('comment-added', { patchSet, comment: 'x'.repeat(2_000) }) as object) };
    const line = JSON.stringify({ ...event, change: { ...change, project: 'x' }, project: 'x' });
    const before = process.cpuUsage();
    for (let count = 0; count < 10_000; count++) isDroppedUnparsed(line, isWatched);
    expect(process.cpuUsage(before).user / 1e6).toBeLessThan(3);
  });
});
