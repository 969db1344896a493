import { describe, expect, test } from 'vitest';
import type { GithubEventFacts } from '../../../../../drivers/github/language/event-facts.ts';
import { parseGithubTrigger } from '../../../../../drivers/github/language/trigger-config.ts';
import { githubTriggerMatches } from '../../../../../drivers/github/language/trigger-matches.ts';
import { derivedUuid, spanIdOf, traceIdOf } from '../../../../../src/lib/ids.ts';
import { refUpdateKey } from '../../../../../src/model/change.ts';
import type { TriggerEvent } from '../../../../../src/model/event.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { HEAD, NOW, project, pullRecord } from './pull.ts';

function parsed(value: Json): Json {
  const result = parseGithubTrigger(value);
  if (result.kind === 'invalid') throw new Error(result.problems.map(({ text }) => text).join('; '));
  return result.value;
}

function mistakes(value: Json): readonly string[] {
  const result = parseGithubTrigger(value);
  return result.kind === 'ok' ? [] : result.problems.map(({ path, code }) => `${path.join('.')} ${code}`);
}

const uuid = derivedUuid('event');

function event(type: string, facts: GithubEventFacts, parts: Partial<TriggerEvent> = {}): TriggerEvent {
  return {
    uuid,
    connection: 'github',
    driver: 'github',
    type,
    project,
    branch: 'main',
    ref: 'refs/pull/12/head',
    change: pullRecord().change,
    facts,
    configMayHaveChanged: [],
    branchesChanged: false,
    receivedAt: NOW,
    sampled: true,
    span: { traceId: traceIdOf(uuid), spanId: spanIdOf(uuid) },
    ...parts,
  };
}

const actor = { login: 'eve', permission: 'read' as const };
const opened = event('pull_request', { action: 'opened', actor });
const comment = (text: string) => event('pull_request', { action: 'comment', comment: text, actor });
const labeled = (label: string) => event('pull_request', { action: 'labeled', label, actor });
const unlabeled = (label: string) => event('pull_request', { action: 'unlabeled', label, actor });
const status = (text: string) => event('pull_request', { action: 'status', status: text, actor: null });
const submitted = event('pull_request_review', { action: 'submitted', state: 'approved', actor });
const rerun = event('check_run', { action: 'rerequested', check: 'gatehouse:acme/check:failure', actor });

function push(ref: string, newCommit: typeof HEAD | null = HEAD): TriggerEvent {
  const change = {
    kind: 'ref' as const,
    key: refUpdateKey(project, ref, newCommit),
    project,
    ref,
    oldCommit: HEAD,
    newCommit,
  };
  const branch = ref.startsWith('refs/heads/') ? ref.slice('refs/heads/'.length) : null;
  return event('push', { action: 'push', actor: null }, { ref, branch, change });
}

const GATE = { tenant: 'acme', pipeline: 'gate' };

function takes(trigger: Json, of: TriggerEvent): string {
  const { met, text } = githubTriggerMatches(parsed(trigger), of, pullRecord(), GATE);
  return `${met ? 'yes' : 'no'}: ${text}`;
}

describe('a trigger takes', () => {
  test.each<[string, Json, TriggerEvent, string]>([
    ['an event', { event: 'pull_request' }, opened, 'yes: event pull_request opened'],
    ['no other event', { event: 'push' }, opened, 'no: event pull_request is not push'],
    [
      'one of its actions',
      { event: 'pull_request', action: ['changed', 'opened'] },
      opened,
      'yes: event pull_request opened',
    ],
    [
      'no other action',
      { event: 'pull_request', action: 'closed' },
      opened,
      'no: action opened is not closed',
    ],
    [
      'a branch from its start',
      { event: 'pull_request', branch: ['stable', 'ma'] },
      opened,
      'yes: event pull_request opened, branch main matches ma',
    ],
    [
      'no other branch',
      { event: 'pull_request', branch: 'ain' },
      opened,
      'no: branch main does not match ain',
    ],
    [
      'a branch that is not excluded',
      { event: 'pull_request', branch: { regex: 'stable', negate: true } },
      opened,
      'yes: event pull_request opened, branch main matches not stable',
    ],
    [
      'a comment that holds the text anywhere',
      { event: 'pull_request', action: 'comment', comment: '(?i)recheck' },
      comment('please\nRecheck'),
      'yes: event pull_request comment, comment text matches (?i)recheck',
    ],
    [
      'no other comment',
      { event: 'pull_request', action: 'comment', comment: '^recheck$' },
      comment('no recheck'),
      'no: comment text does not match ^recheck$',
    ],
    [
      'an added label by its exact name',
      { event: 'pull_request', action: 'labeled', label: ['gate', 'ready'] },
      labeled('ready'),
      'yes: event pull_request labeled, label ready matches ready',
    ],
    [
      'no label of another name',
      { event: 'pull_request', action: 'labeled', label: 'gate' },
      labeled('gate2'),
      'no: label gate2 does not match gate',
    ],
    [
      'a removed label in both spellings',
      { event: 'pull_request', action: 'unlabeled', label: 'hold', unlabel: 'hold' },
      unlabeled('hold'),
      'yes: event pull_request unlabeled, label hold matches hold, unlabel hold matches hold',
    ],
    [
      'a status as a whole',
      { event: 'pull_request', action: 'status', status: 'ci-bot:build:.*' },
      status('ci-bot:build:success'),
      'yes: event pull_request status, status ci-bot:build:success matches ci-bot:build:.*',
    ],
    [
      'no part of a status',
      { event: 'pull_request', action: 'status', status: 'build:success' },
      status('ci-bot:build:success'),
      'no: status ci-bot:build:success does not match build:success',
    ],
    [
      'a review by its state',
      { event: 'pull_request_review', action: 'submitted', state: 'approved' },
      submitted,
      'yes: event pull_request_review submitted, state approved matches approved',
    ],
    [
      'no review by a state that none has',
      { event: 'pull_request_review', action: 'submitted', state: 'request_changes' },
      submitted,
      'no: state approved does not match request_changes',
    ],
    [
      'a check run that is to run again',
      { event: 'check_run', action: 'requested', check: '.*/check:.*' },
      rerun,
      'yes: event check_run rerequested, check gatehouse:acme/check:failure matches .*/check:.*',
    ],
    [
      'a tag',
      { event: 'push', ref: '^refs/tags/v' },
      push('refs/tags/v1'),
      'yes: event push, ref refs/tags/v1 matches ^refs/tags/v',
    ],
    [
      'no branch of a tag',
      { event: 'push', branch: 'v' },
      push('refs/tags/v1'),
      'no: the event has no branch; wanted is v',
    ],
    [
      'no deletion',
      { event: 'push' },
      push('refs/heads/old', null),
      'no: refs/heads/old was deleted and deletions are ignored',
    ],
    [
      'a deletion where it is asked for',
      { event: 'push', 'ignore-deletes': false },
      push('refs/heads/old', null),
      'yes: event push',
    ],
  ])('%s', (_, trigger, of, expected) => {
    expect(takes(trigger, of)).toBe(expected);
  });
});

describe('what a pipeline reports', () => {
  const ended = (ours: string) =>
    event('check_run', { action: 'completed', check: `gatehouse:${ours}:failure`, ours, actor: null });
  const set = (ours: string) =>
    event('pull_request', { action: 'status', status: `gatehouse[bot]:${ours}:pending`, ours, actor: null });
  const check = { event: 'check_run', action: 'completed', check: '.*' };
  const status = { event: 'pull_request', action: 'status' };

  test('does not trigger it again', () => {
    expect(takes(check, ended('acme/gate'))).toBe('no: it is the report of this pipeline itself');
    expect(takes(status, set('acme/gate'))).toBe('no: it is the report of this pipeline itself');
  });

  test('triggers other pipelines, as does what others report under its name', () => {
    expect(takes(check, ended('acme/check'))).toMatch(/^yes/);
    expect(takes(check, ended('other/gate'))).toMatch(/^yes/);
    expect(takes(status, set('acme/check'))).toMatch(/^yes/);
    const another = event('check_run', { action: 'completed', check: 'zuul:acme/gate:success', actor: null });
    expect(takes(check, another)).toMatch(/^yes/);
  });

  test('triggers it when a person asks for it again', () => {
    const facts = { action: 'rerequested', check: 'gatehouse:acme/gate:failure', ours: 'acme/gate' } as const;
    expect(takes({ event: 'check_run' }, event('check_run', { ...facts, actor: null }))).toMatch(/^yes/);
  });
});

describe('conditions of a trigger', () => {
  const trigger = parsed({ event: 'pull_request', require: { label: 'gate' }, reject: { draft: true } });

  test('are judged from the record', () => {
    expect(githubTriggerMatches(trigger, opened, pullRecord({ labels: ['gate'] }), GATE).met).toBe(true);
    expect(githubTriggerMatches(trigger, opened, pullRecord(), GATE).text).toBe('needs the label gate');
    const draft = pullRecord({ labels: ['gate'], draft: true });
    expect(githubTriggerMatches(trigger, opened, draft, GATE).text).toBe('rejected: it is a draft');
  });

  test('do not hold for a change that is not known', () => {
    expect(githubTriggerMatches(trigger, opened, undefined, GATE)).toEqual({
      met: false,
      text: 'the change is not known',
    });
  });

  test('have a former word that the new one replaces', () => {
    const former = { event: 'pull_request', 'require-status': 'ci:build:success' };
    expect(takes(former, opened)).toBe('no: needs the status ci:build:success');
    expect(takes({ ...former, require: { open: true } }, opened)).toMatch(/^yes/);
  });
});

describe('what no event can match is refused', () => {
  test.each<[Json, readonly string[]]>([
    [{}, [' missing-key']],
    ['opened', [' wrong-type', ' missing-key']],
    [{ event: 'pull_requests' }, ['event unknown-value']],
    [{ event: 'push', action: 'opened' }, ['action wrong-event']],
    [{ event: 'pull_request', ref: '.*' }, ['ref wrong-event']],
    [{ event: 'pull_request', action: ['opened', 'comment'], comment: 'recheck' }, ['comment wrong-action']],
    [{ event: 'pull_request', comment: '(' }, ['comment invalid-regex']],
    [{ event: 'pull_request', comment: { regexp: 'x' } }, ['comment.regexp unknown-key']],
    [{ event: 'check_run', require: { lable: 'x' } }, ['require.lable unknown-key']],
    [{ event: 'pull_request', brnach: 'main' }, ['brnach unknown-key']],
  ])('%j', (trigger, expected) => {
    expect(mistakes(trigger)).toEqual(expected);
  });
});

test('what is parsed parses to itself', () => {
  const triggers: readonly Json[] = [
    { event: 'pull_request', action: ['opened', 'changed', 'reopened', 'ready_for_review'] },
    { event: ['pull_request', 'pull_request_review'], branch: { regex: 'x', negate: true } },
    { event: 'pull_request', 'require-status': ['a:b:c'], reject: { review: { 'newer-than': '2d' } } },
    { event: 'push', ref: '^refs/tags/', 'ignore-deletes': false },
    { event: 'merge_group', branch: 'main' },
    { event: 'check_run', action: 'requested', check: '.*' },
  ];
  for (const trigger of triggers) expect(parsed(parsed(trigger))).toEqual(parsed(trigger));
});

test('a state that no review has is a warning', () => {
  const value = { event: 'pull_request_review', action: 'submitted', state: 'request_changes' };
  expect(parseGithubTrigger(value)).toMatchObject({
    kind: 'ok',
    value: { state: ['request_changes'] },
    warnings: [
      {
        path: ['state'],
        code: 'unknown-value',
        text: expect.stringContaining('no review has the state "request_changes", so it matches none'),
      },
    ],
  });
});

test("Zuul's debug of a trigger is taken with a warning, and debug: false without one", () => {
  expect(parseGithubTrigger({ event: 'push', debug: true })).toMatchObject({
    kind: 'ok',
    warnings: [{ path: ['debug'], code: 'no-effect' }],
  });
  expect(parseGithubTrigger({ event: 'push', debug: false })).not.toHaveProperty('warnings');
  expect(parseGithubTrigger({ event: 'push', debug: 'yes' }).kind).toBe('invalid');
});
