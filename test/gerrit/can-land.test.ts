/** What `canLand` and `config-check --online` say, against what a Gerrit does: both read the same server. */
import { describe, expect, test } from 'vitest';
import { readChangeInfo } from '../../drivers/gerrit/api/change-info.ts';
import { openGerritClient } from '../../drivers/gerrit/api/open-client.ts';
import type { GerritApi } from '../../drivers/gerrit/api/port.ts';
import { gerritMergeability } from '../../drivers/gerrit/landing/can-land.ts';
import { createGerritOnlineCheck } from '../../drivers/gerrit/online/check-online.ts';
import { gerritChangeRecord } from '../../drivers/gerrit/reading/change-record.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { Secret } from '../../src/lib/secret.ts';
import { projectKey } from '../../src/model/project.ts';
import { askGerrit } from './fake/ask-gerrit.ts';
import { CODE_REVIEW, VERIFIED, WORKFLOW } from './fake/defaults.ts';
import { type FakeGerrit, type FakeGerritOptions, startFakeGerrit } from './fake/fake-gerrit.ts';
import type { RequirementRule } from './fake/world.ts';

const clock = systemClock();
const project = projectKey({ connection: 'gerrit', name: 'acme/app' });
const call = () => ({ project: 'acme/app', signal: AbortSignal.timeout(30_000) });

function clientOf(gerrit: FakeGerrit, user = 'gatehouse'): GerritApi {
  const auth = { kind: 'basic', user, password: new Secret(`${user}-password`) } as const;
  return openGerritClient(
    { baseUrl: gerrit.url, auth, verifySsl: true, concurrency: 4 },
    { connection: 'gerrit', clock, pause: async () => {}, noted: () => {}, asked: () => {} },
  ).api;
}

const OPTIONS =
  'o=CURRENT_REVISION&o=CURRENT_COMMIT&o=DETAILED_LABELS&o=DETAILED_ACCOUNTS&o=SUBMITTABLE&o=MESSAGES&o=SUBMIT_REQUIREMENTS';

/** The verdict before the vote of the pipeline, and what submitting answers after it. */
async function verdictAndSubmit(
  gerrit: FakeGerrit,
  number: number,
  votes: { readonly [label: string]: number },
) {
  const answer = await clientOf(gerrit).ask(
    { operation: 'changes/detail', method: 'GET', path: `changes/${number}/detail?${OPTIONS}` },
    call(),
  );
  const info = answer.kind === 'ok' ? readChangeInfo(answer.data) : undefined;
  if (info === undefined) throw new Error(`the change was not read: ${JSON.stringify(answer)}`);
  const record = gerritChangeRecord(info, {
    ...{ project, baseUrl: gerrit.url, parents: [], named: [], lines: [], submitsTopics: false },
    readAt: clock.now(),
  });
  const ourVotes = [
    gerritMergeability.votesOf({ ...votes, submit: true }, { tenant: 'acme', pipeline: 'gate' }),
  ];
  const { met, text } = gerritMergeability.canLand(record, { ourVotes, mode: 'api' });
  const review = await askGerrit(gerrit, 'gatehouse', 'POST', `changes/${number}/revisions/current/review`, {
    labels: votes,
  });
  const submit = await askGerrit(gerrit, 'gatehouse', 'POST', `changes/${number}/submit`, {});
  return { met, text, reviewed: review.status, submitted: submit.status };
}

type PeopleVotes = readonly [person: string, votes: { readonly [label: string]: number }][];

const APPROVED: PeopleVotes = [['bob', { 'Code-Review': 2, Workflow: 1 }]];
const VETOED: PeopleVotes = [...APPROVED, ['alice', { 'Code-Review': -2 }]];
const GATED = { Verified: 2 };

const rule = (name: string, submittableIf: string): RequirementRule => ({ name, submittableIf });
const RULES = [
  rule('Verified', 'label:Verified=MAX AND -label:Verified=MIN'),
  rule('Code-Review', 'label:Code-Review=MAX AND -label:Code-Review=MIN'),
];
const NO_FUNCTION = [CODE_REVIEW, VERIFIED, WORKFLOW].map(each => ({
  ...each,
  function: 'NoBlock' as const,
}));

async function verdictOf(
  version: FakeGerritOptions['version'],
  people: PeopleVotes,
  votes: { readonly [label: string]: number },
  requirements?: readonly RequirementRule[],
) {
  await using gerrit = await startFakeGerrit(version === undefined ? {} : { version });
  await gerrit.project('acme/app', requirements === undefined ? {} : { requirements, labels: NO_FUNCTION });
  const change = await gerrit.push({ project: 'acme/app', files: { f: 'one\n' }, message: 'First change' });
  for (const [person, given] of people) await gerrit.vote(change, person, given);
  return await verdictAndSubmit(gerrit, change.number, votes);
}

describe.each(['3.2', '3.11'] as const)('on Gerrit %s', version => {
  test('what is approved and gets our vote is said to land, and does', async () => {
    expect(await verdictOf(version, APPROVED, GATED)).toMatchObject({
      met: true,
      reviewed: 200,
      submitted: 200,
    });
  });

  test('a missing vote of people is named, and Gerrit refuses', async () => {
    const { met, text, submitted } = await verdictOf(version, [], GATED);
    expect({ met, submitted }).toEqual({ met: false, submitted: 409 });
    expect(text).toContain('Code-Review');
    expect(text).toContain('Workflow');
    expect(text).not.toContain('Verified');
  });

  test('a veto is named, and Gerrit refuses', async () => {
    const { met, text, submitted } = await verdictOf(version, VETOED, GATED);
    expect({ met, submitted }).toEqual({ met: false, submitted: 409 });
    expect(text).toContain('Code-Review');
  });

  test('a vote of ours that is too low is named, and Gerrit refuses', async () => {
    const { met, text, submitted } = await verdictOf(version, APPROVED, { Verified: 1 });
    expect({ met, submitted }).toEqual({ met: false, submitted: 409 });
    expect(text).toContain('Verified');
  });
});

describe('with submit requirements of a project', () => {
  test.each<[string, PeopleVotes, readonly RequirementRule[], boolean]>([
    ['all met with ours', APPROVED, RULES, true],
    ['a vote of people missing', [], RULES, false],
    ['a veto', VETOED, RULES, false],
    ['a rule about something else', APPROVED, [...RULES, rule('Topic', 'hashtag:ready')], false],
    ['one of two votes', [], [rule('Either', 'label:Verified=MAX OR label:Code-Review=MAX')], true],
  ])('%s: it lands as it is said', async (_, people, requirements, lands) => {
    const { met, text, submitted } = await verdictOf('3.11', people, GATED, requirements);
    expect({ met, lands: submitted === 200 }, text).toEqual({ met: lands, lands });
  });
});

test('a change that conflicts is said not to land, and Gerrit refuses', async () => {
  await using gerrit = await startFakeGerrit();
  await gerrit.project('acme/app', { files: { f: 'zero\n' } });
  const both = [];
  for (const text of ['one\n', 'two\n'])
    both.push(
      await gerrit.push({ project: 'acme/app', files: { f: text }, message: `Write ${text.trim()}` }),
    );
  for (const change of both) await gerrit.vote(change, 'bob', { 'Code-Review': 2, Workflow: 1 });
  const [first, second] = both.map(({ number }) => number);
  expect(await verdictAndSubmit(gerrit, first ?? 0, GATED)).toMatchObject({ met: true, submitted: 200 });
  expect(await verdictAndSubmit(gerrit, second ?? 0, GATED)).toMatchObject({
    met: false,
    text: 'Gerrit sees a conflict with branch master of acme/app: rebase the change',
    submitted: 409,
  });
});

test('config-check --online finds at a Gerrit what pipelines want and it does not grant', async () => {
  await using gerrit = await startFakeGerrit({ version: '3.11', submitWholeTopic: true });
  await gerrit.project('acme/app', { submitType: 'REBASE_ALWAYS' });
  await gerrit.push({ project: 'acme/app', files: { f: 'one\n' }, message: 'First change' });
  const success = { Verified: 2, Lint: 1, submit: true };
  const use = (name: string) => ({
    project: projectKey({ connection: 'gerrit', name }),
    defaultBranches: [],
    pipelines: [
      {
        ...{ tenant: 'acme', pipeline: 'gate', mergeMode: 'merge' as const, triggers: [] },
        ...{
          requirements: [{ approval: [{ 'Code-Review': [2] }] }],
          reporters: [success],
          success: [success],
        },
      },
    ],
  });
  const ssh = { user: 'bob', port: 29_418, key: '/key', knownHosts: undefined };
  const check = createGerritOnlineCheck(
    { ssh, streams: true, auth: { kind: 'none' } },
    { api: clientOf(gerrit, 'bob'), clock, wait: async () => {} },
  );
  const found = await check([use('acme/app'), use('acme/gone')], AbortSignal.timeout(30_000));
  expect(found.map(({ severity, project: of, text }) => `${severity} ${of ?? '-'}: ${text}`)).toEqual([
    expect.stringMatching(/^error -: the account bob may not read the stream of events/),
    expect.stringMatching(/^warning -: Gerrit submits all changes of a topic together/),
    expect.stringMatching(/^warning -: whether the account may submit could not be asked .*: acme\/app$/),
    expect.stringMatching(
      /^error gerrit\/acme\/app: acme\/gate votes Verified \+2, and the account may vote -1, \+1 there/,
    ),
    expect.stringMatching(
      /^error gerrit\/acme\/app: acme\/gate votes Lint \+1, and the project has no such label/,
    ),
    expect.stringMatching(/^warning gerrit\/acme\/app: Gerrit submits only with Workflow \+1/),
    expect.stringMatching(/^warning gerrit\/acme\/app: Gerrit submits by REBASE_ALWAYS/),
    'error gerrit/acme/gone: Gerrit shows no such project to the account: grant it read on refs/*',
  ]);
});
