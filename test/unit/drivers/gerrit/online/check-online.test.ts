import { describe, expect, test } from 'vitest';
import type { GerritAnswer, GerritApi } from '../../../../../drivers/gerrit/api/port.ts';
import { createGerritOnlineCheck } from '../../../../../drivers/gerrit/online/check-online.ts';
import type { GerritOptions } from '../../../../../drivers/gerrit/options.ts';
import type { PipelineUse, ProjectUse } from '../../../../../src/driver/online-check.ts';
import { systemClock } from '../../../../../src/lib/clock.ts';
import type { Json } from '../../../../../src/model/job.ts';
import { projectKey } from '../../../../../src/model/project.ts';

const values = (min: number, max: number) =>
  Object.fromEntries(
    Array.from({ length: max - min + 1 }, (_, index) => {
      const value = min + index;
      return [value === 0 ? ' 0' : value > 0 ? `+${value}` : `${value}`, ''];
    }),
  );

/** As a Gerrit 3.2 answers: a project with three labels that all have to be at their highest value. */
const ANSWERS: { readonly [path: string]: Json } = {
  'accounts/self/detail': { _account_id: 1_000_003, username: 'zuul' },
  'accounts/self/capabilities': { streamEvents: true, queryLimit: { min: 0, max: 500 } },
  'config/server/version': '3.2.0-SNAPSHOT-60de668a26',
  'config/server/info': { change: { update_delay: 300 } },
  'projects/acme%2Fapp/config': { submit_type: 'MERGE_IF_NECESSARY' },
  'changes/?q=project:acme/app status:open&n=1&o=DETAILED_LABELS': [
    {
      _number: 12,
      labels: {
        'Code-Review': { values: values(-2, 2) },
        Verified: { values: values(-2, 2) },
        Workflow: { values: values(-1, 1) },
        Library: { values: values(0, 1), optional: true },
      },
      permitted_labels: { 'Code-Review': ['-1', ' 0', '+1'], Verified: ['-2', '-1', ' 0', '+1', '+2'] },
    },
  ],
  'changes/?q=project:acme/app status:open is:submittable -is:wip&n=1&o=CURRENT_REVISION&o=CURRENT_ACTIONS': [
    { revisions: { abc: { actions: { cherrypick: {}, submit: { enabled: true } } } } },
  ],
};

type Scripted = { readonly [path: string]: Json | GerritAnswer<Json> };

const refused = (status: number, text: string) => ({ kind: 'refused', status, text }) as const;

function apiOf(changed: Scripted, asked: string[] = []): GerritApi {
  const all: Scripted = { ...ANSWERS, ...changed };
  return {
    async ask({ method, path }) {
      expect(method).toBe('GET');
      const plain = path.replace(/(?<=\?q=)[^&]*/, decodeURIComponent);
      asked.push(plain);
      const found = all[plain];
      if (found === undefined) return refused(404, `Not found: ${plain}\n`);
      const isAnswer = typeof found === 'object' && found !== null && 'kind' in found;
      return isAnswer ? (found as GerritAnswer<Json>) : { kind: 'ok', status: 200, data: found as Json };
    },
  };
}

const project = projectKey({ connection: 'gerrit', name: 'acme/app' });

function pipeline(name: string, success: Json, parts: Partial<PipelineUse> = {}): PipelineUse {
  return {
    tenant: 'acme',
    pipeline: name,
    mergeMode: 'merge-resolve',
    triggers: [{ event: 'patchset-created' }],
    requirements: [],
    reporters: [success],
    success: [success],
    ...parts,
  };
}

/** Requires what people vote, and votes the rest. */
const approved = { approval: [{ 'Code-Review': 2 }, { Workflow: 1 }] };
const GATE = pipeline('gate', { Verified: 2, submit: true }, { requirements: [approved] });
const CHECK = pipeline('check', { Verified: 1 });

const SSH: Pick<GerritOptions, 'ssh' | 'streams' | 'auth'> = {
  auth: { kind: 'none' },
  ssh: { user: 'zuul', port: 29_418, key: '/etc/gatehouse/key', knownHosts: undefined },
  streams: true,
};

async function findings(
  changed: Scripted = {},
  pipelines: readonly PipelineUse[] = [CHECK, GATE],
  settings = SSH,
): Promise<readonly string[]> {
  const use: ProjectUse = { project, defaultBranches: [], pipelines };
  const deps = { api: apiOf(changed), clock: systemClock(), wait: () => Promise.resolve() };
  const found = await createGerritOnlineCheck(settings, deps)([use], AbortSignal.timeout(20_000));
  return found.map(each => `${each.severity} ${each.project ?? '-'}: ${each.text}`);
}

test('over SSH, where Gerrit says less, the rest is left open once', async () => {
  const little = {
    'accounts/self/detail': { _account_id: -1, username: 'zuul' },
    'accounts/self/capabilities': { streamEvents: true },
    'config/server/info': { change: {} },
    'projects/acme%2Fapp/config': { name: 'acme/app' },
    [OPEN]: [{ _number: 12, labels: { Verified: { all: [] } } }],
    [READY]: [{ revisions: { abc: {} } }],
  };
  const found = await findings(little, [CHECK, GATE], {
    ...SSH,
    auth: { kind: 'ssh', submitsWholeTopic: false },
  });
  expect(found).toEqual([
    expect.stringMatching(/^warning -: labels, submit types and .* not to be had over SSH/),
  ]);
});

const OPEN = 'changes/?q=project:acme/app status:open&n=1&o=DETAILED_LABELS';
const READY =
  'changes/?q=project:acme/app status:open is:submittable -is:wip&n=1&o=CURRENT_REVISION&o=CURRENT_ACTIONS';

test('a Gerrit that grants everything has no findings, by seven requests for one project', async () => {
  expect(await findings()).toEqual([]);
  const asked: string[] = [];
  const deps = { api: apiOf({}, asked), clock: systemClock(), wait: () => Promise.resolve() };
  await createGerritOnlineCheck(SSH, deps)(
    [{ project, defaultBranches: [], pipelines: [GATE] }],
    AbortSignal.timeout(20_000),
  );
  expect(asked).toHaveLength(7);
});

describe('of the connection it names', () => {
  test('an account that Gerrit does not let in', async () => {
    const denied: GerritAnswer<Json> = {
      kind: 'later',
      later: { reason: 'denied', text: 'Gerrit answered 401: Unauthorized' },
    };
    expect(await findings({ 'accounts/self/detail': denied })).toEqual([
      'error -: Gerrit answered 401: Unauthorized',
    ]);
    expect(await findings({ 'accounts/self/detail': refused(403, 'Authentication\nrequired\n') })).toEqual([
      'error -: Gerrit answered 403: Authentication required',
    ]);
  });

  test('a host that is away, once', async () => {
    const away: GerritAnswer<Json> = {
      kind: 'later',
      later: { reason: 'unreachable', text: 'connection refused' },
    };
    const text = 'error -: Gerrit could not be asked about its project: connection refused';
    expect(await findings({ 'accounts/self/detail': away })).toEqual([text]);
    expect(await findings({ 'projects/acme%2Fapp/config': away })).toEqual([text]);
  });

  test('a stream that the account may not read', async () => {
    const without = { 'accounts/self/capabilities': { queryLimit: { min: 0, max: 500 } } };
    expect(await findings(without)).toEqual([
      expect.stringMatching(/^error -: the account zuul may not read the stream of events: grant it/),
    ]);
    expect(await findings(without, [CHECK, GATE], { ...SSH, streams: false })).toEqual([]);
    expect(await findings({ 'accounts/self/capabilities': { administrateServer: true } })).toEqual([]);
  });

  test('a stream that another account reads', async () => {
    expect(await findings({ 'accounts/self/detail': { username: 'gatehouse' } })).toEqual([
      expect.stringMatching(
        /^warning -: the stream of events is read as zuul, and REST is used as gatehouse/,
      ),
    ]);
  });

  test.each<[Json, readonly string[]]>([
    ['2.16.28', ['warning -: this is Gerrit 2.16.28: 3.2 and later are supported']],
    ['3.1.9', ['warning -: this is Gerrit 3.1.9: 3.2 and later are supported']],
    ['main', ['warning -: Gerrit does not say its version: 3.2 and later are supported']],
    ['3.2.0', []],
  ])('a version that is too old: %j', async (version, expected) => {
    expect(await findings({ 'config/server/version': version })).toEqual(expected);
  });

  test('topics that land as a whole, where a pipeline submits', async () => {
    const whole = { 'config/server/info': { change: { submit_whole_topic: true } } };
    expect(await findings(whole)).toEqual([
      expect.stringMatching(
        /^warning -: Gerrit submits all changes of a topic together .* queues of acme\/gate need/,
      ),
    ]);
    expect(await findings(whole, [CHECK])).toEqual([]);
  });

  test('events that no Gerrit sends any more', async () => {
    const waiting = pipeline(
      'check',
      { Verified: 1 },
      { triggers: [{ event: 'pending-check', scheme: 'zuul' }] },
    );
    expect(await findings({}, [waiting, GATE])).toEqual([
      'warning -: no Gerrit sends the event pending-check any more, and acme/check waits for it: use patchset-created',
    ]);
  });

  test('what no change could show', async () => {
    expect(await findings({ [OPEN]: [], [READY]: [] })).toEqual([
      'warning -: what the account may vote could not be asked without an open change: acme/app',
      'warning -: whether the account may submit could not be asked without a change that is ready for it: acme/app',
    ]);
    expect(await findings({ [READY]: refused(400, 'is:submittable is not known') })).toHaveLength(1);
  });
});

describe('of a project it names', () => {
  const about = (text: string) => `error gerrit/acme/app: ${text}`;

  test('that the account does not see it', async () => {
    expect(await findings({ 'projects/acme%2Fapp/config': refused(404, 'Not found: acme/app') })).toEqual([
      about('Gerrit shows no such project to the account: grant it read on refs/*'),
    ]);
  });

  test('that it is read-only', async () => {
    expect(await findings({ 'projects/acme%2Fapp/config': { state: 'READ_ONLY' } })).toEqual([
      about('the project is read-only at Gerrit, and acme/check, acme/gate reports there'),
    ]);
  });

  test('labels that it does not have, and values that they do not have', async () => {
    const wrong = pipeline('check', { verified: 1, Verified: 3, Workflow: 0 });
    expect(await findings({}, [wrong])).toEqual([
      about(
        'acme/check votes verified +1, and the project has no such label: it has Code-Review, Verified, Workflow, Library',
      ),
      about('acme/check votes Verified +3, and the values of the label are -2, -1, 0, +1, +2'),
      about(
        'acme/check votes Workflow 0, and the account may vote nothing there: grant label-Workflow on refs/heads/* to it',
      ),
    ]);
  });

  test('votes that the account may not give, once for all pipelines', async () => {
    const votes = { 'Code-Review': 2 };
    expect(await findings({}, [pipeline('check', votes), pipeline('post', votes)])).toEqual([
      about(
        'acme/check, acme/post votes Code-Review +2, and the account may vote -1, +1 there: grant label-Code-Review on refs/heads/* to it',
      ),
    ]);
  });

  test('that the account may not submit', async () => {
    const changed = { [READY]: [{ revisions: { abc: { actions: { cherrypick: {} } } } }] };
    expect(await findings(changed)).toEqual([
      about('acme/gate submits, and the account may not: grant submit on refs/heads/* to it'),
    ]);
    expect(await findings(changed, [CHECK])).toEqual([]);
  });

  test('labels that a pipeline neither gives nor waits for', async () => {
    const hasty = pipeline(
      'gate',
      { Verified: 2, submit: true },
      { requirements: [{ approval: { 'Code-Review': [2] } }] },
    );
    expect(await findings({}, [hasty])).toEqual([
      'warning gerrit/acme/app: Gerrit submits only with Workflow +1, which acme/gate neither votes nor requires: write approval: [{Workflow: 1}] into its require',
    ]);
    const rejecting = { ...hasty, requirements: [...hasty.requirements, { approval: { Workflow: -1 } }] };
    expect(await findings({}, [rejecting])).toHaveLength(1);
    const byTrigger = { event: 'comment-added', require: { approval: { Workflow: 1 } } };
    expect(await findings({}, [{ ...hasty, triggers: [byTrigger] }])).toEqual([]);
  });

  test('a vote that is too low to submit with', async () => {
    const timid = pipeline('gate', { Verified: 1, submit: true }, { requirements: [approved] });
    expect(await findings({}, [timid])).toEqual([
      about('Gerrit submits only with Verified +2, and acme/gate votes less'),
    ]);
  });

  test('labels of submit requirements, from Gerrit 3.5 on', async () => {
    const requirement = (status: string, expression: string) => ({
      name: 'R',
      status,
      submittability_expression_result: { expression },
    });
    const change = {
      labels: {
        Verified: { values: values(-2, 2), optional: true },
        QA: { values: values(-1, 1), optional: true },
      },
      permitted_labels: { Verified: ['+2'] },
      submit_requirements: [
        requirement('UNSATISFIED', 'label:Verified=MAX AND -label:Verified=MIN'),
        requirement('SATISFIED', 'label:QA+1 AND -label:Other=MIN'),
        requirement('NOT_APPLICABLE', 'label:Legal=MAX'),
      ],
    };
    const changed = {
      'config/server/version': '3.9.1',
      [`${OPEN}&o=SUBMIT_REQUIREMENTS`]: [change],
    };
    expect(await findings(changed, [GATE])).toEqual([
      'warning gerrit/acme/app: Gerrit submits only with QA +1, which acme/gate neither votes nor requires: write approval: [{QA: 1}] into its require',
    ]);
  });

  test('a submit type that makes another tree than the tests see', async () => {
    const rebases = { 'projects/acme%2Fapp/config': { submit_type: 'REBASE_ALWAYS' } };
    expect(await findings(rebases)).toEqual([
      "warning gerrit/acme/app: Gerrit submits by REBASE_ALWAYS, and acme/gate tests what merge-resolve makes: write merge-mode: rebase into the project's stanza, or what lands is not what was tested",
    ]);
    expect(await findings(rebases, [{ ...GATE, mergeMode: 'rebase' }])).toEqual([]);
    expect(await findings({}, [{ ...GATE, mergeMode: 'merge' }])).toEqual([]);
    expect(await findings({}, [{ ...GATE, mergeMode: 'squash-merge' }])).toHaveLength(1);
  });
});
