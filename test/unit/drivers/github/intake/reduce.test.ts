/** What is kept of a webhook. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readGithubNotification } from '../../../../../drivers/github/intake/notification.ts';
import { reduceWebhook } from '../../../../../drivers/github/intake/reduce.ts';

const SHA = 'a'.repeat(40);
const COMMON = { repository: { full_name: 'acme/app' }, sender: { login: 'bob' }, installation: { id: 3 } };
const PULL = { number: 12, updated_at: '2026-01-02T03:04:05Z' };

function about(event: string, payload: object) {
  const body = JSON.stringify({ ...COMMON, ...payload });
  const outcome = reduceWebhook(event, body, { appId: 7 });
  return outcome.kind === 'notification' ? outcome.notification.about : outcome;
}

const comment = (issue: object, body = 'recheck') => ({
  action: 'created',
  issue: { number: 12, ...issue },
  comment: { id: 991, body, created_at: PULL.updated_at },
});
const run = (action: string, app: number) => ({
  action,
  check_run: { id: 5, name: 'acme/check', head_sha: SHA, external_id: 'x', app: { id: app } },
  requested_action: { identifier: 'dequeue' },
});
const ref = (name: string) => ({ ref: name, before: SHA, after: 'b'.repeat(40) });

describe('is about', () => {
  test.each([
    [
      'a label',
      'pull_request',
      { action: 'labeled', pull_request: { ...PULL, base: { ref: 'main' } }, label: { name: 'gate' } },
      { label: 'gate', base: 'main' },
    ],
    [
      'a pull request that was merged, with its head',
      'pull_request',
      { action: 'closed', pull_request: { ...PULL, merged: true, head: { sha: SHA } } },
      { mergedHead: SHA },
    ],
    [
      'a comment',
      'issue_comment',
      comment({ pull_request: {} }),
      { comment: 'recheck', once: 'comment-991' },
    ],
    [
      'a review of a deleted account',
      'pull_request_review',
      {
        action: 'submitted',
        pull_request: PULL,
        review: { id: 4, state: 'APPROVED', user: null },
        sender: null,
      },
      { review: 'approved', once: 'review-4-approved' },
    ],
    ['the end of any check run', 'check_run', run('completed', 7), { kind: 'commit', completedRun: 5 }],
    ["the beginning of another App's", 'check_run', run('created', 8), { kind: 'commit', commit: SHA }],
    ['our run, requested again', 'check_run', run('rerequested', 7), { kind: 'rerun', run: 'acme/check' }],
    ['our button', 'check_run', run('requested_action', 7), { kind: 'button', identifier: 'dequeue' }],
    ['a tag', 'push', ref('refs/tags/v1'), { kind: 'ref', ref: 'refs/tags/v1' }],
    ['a branch of any name', 'push', ref('refs/heads/a/#%25'), { ref: 'refs/heads/a/#%25' }],
  ])('%s', (_, event, payload, expected) => {
    expect(about(event, payload)).toMatchObject(expected);
  });

  test('a renamed repository, with its former name', () => {
    const renamed = { action: 'renamed', changes: { repository: { name: { from: 'old' } } } };
    expect(about('repository', renamed)).toEqual({ kind: 'repository', formerName: 'acme/old' });
  });
});

describe('is ignored:', () => {
  test.each([
    ['a comment on an issue', 'issue_comment', comment({}), /no pull request/],
    ['an edited comment', 'issue_comment', { ...comment({ pull_request: {} }), action: 'edited' }, /edited/],
    ['the beginning of our own run', 'check_run', run('created', 7), /our own/],
    ["another App's button", 'check_run', run('requested_action', 8), /no interest/],
    ['an unknown action', 'pull_request', { action: 'teleported', pull_request: PULL }, /teleported/],
    ['a pull request without number', 'pull_request', { action: 'opened', pull_request: {} }, /number/],
    ["a branch of GitHub's queue", 'push', ref('refs/heads/gh-readonly-queue/main/pr-1-x'), /merge queue/],
    ['a repository of no name', 'push', { ...ref('refs/heads/main'), repository: null }, /full_name/],
    ['a name that is a path', 'push', { ...ref('refs/heads/main'), repository: { full_name: '../x' } }, /./],
  ])('%s', (_, event, payload, reason) => {
    expect(about(event, payload)).toMatchObject({ kind: 'ignored', reason: expect.stringMatching(reason) });
  });
});

test('a notification has at most 4 KB and is well-formed with any comment or label', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', size: 'max', maxLength: 4_000 }), text => {
      const named = { ...PULL, base: { ref: text.slice(0, 255) } };
      const label = { action: 'labeled', pull_request: named, label: { name: text.slice(0, 900) } };
      for (const [event, payload] of [
        ['issue_comment', comment({ pull_request: {} }, text)],
        ['pull_request', label],
      ] as const) {
        const body = JSON.stringify({ ...COMMON, ...payload });
        const outcome = reduceWebhook(event, body, { appId: null });
        if (outcome.kind !== 'notification') throw new Error(outcome.reason);
        const json = JSON.stringify(outcome.notification);
        expect(Buffer.byteLength(json)).toBeLessThanOrEqual(4_096);
        expect(readGithubNotification(JSON.parse(json))).toEqual(outcome.notification);
      }
    }),
    { numRuns: 10 },
  );
});

test.each([
  null,
  [],
  { about: null },
  { about: { kind: 'pull', number: 1 } },
  { event: 'x', action: '', repository: 'a/b', actor: 'c', about: { kind: 'commit', commit: 'HEAD' } },
  { event: 'x', action: '', repository: 'a/b', actor: 'c', about: { kind: 'constructor' } },
])('%# is no notification', payload => {
  expect(readGithubNotification(payload)).toBeUndefined();
});
