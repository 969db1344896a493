import { describe, expect, test } from 'vitest';
import {
  contradictions,
  type RepositoryFacts,
  type RulesOfBranch,
} from '../../../../../drivers/github/online/contradictions.ts';
import type { PipelineUse, ProjectUse } from '../../../../../src/driver/online-check.ts';
import { NO_RULES, project } from '../language/pull.ts';

const gateReporter = { check: 'success', merge: true };
const gate: PipelineUse = {
  tenant: 'acme',
  pipeline: 'gate',
  mergeMode: 'merge',
  triggers: [],
  requirements: [],
  reporters: [gateReporter],
  success: [gateReporter],
};
const use: ProjectUse = { project, defaultBranches: ['master'], pipelines: [gate] };
const login = 'gatehouse[bot]';
const app = { id: 7, slug: 'gatehouse' };
const permissions = {
  ...{ administration: 'read', checks: 'write', contents: 'write', pull_requests: 'write' },
  ...{ statuses: 'write', workflows: 'write' },
};
const good: RepositoryFacts = {
  identity: { login, app, permissions },
  role: null,
  branch: 'main',
  rules: [],
  unread: 0,
  landing: 'push',
  readsAdmins: false,
};

/** @param rules of the default branch. */
function texts(
  {
    rules = NO_RULES,
    ...facts
  }: Partial<Omit<RepositoryFacts, 'rules'>> & Partial<Pick<RulesOfBranch, 'rules'>>,
  of: Partial<ProjectUse> = {},
  others: readonly RulesOfBranch[] = [],
): readonly string[] {
  const { branch } = { ...good, ...facts };
  const all = { ...good, ...facts, rules: [{ branch, rules }, ...others] };
  return contradictions({ ...use, ...of }, all).map(({ severity, text }) => `${severity}: ${text}`);
}

test('pipelines that get what they want have no findings', () => {
  expect(texts({})).toEqual([]);
});

test('reviews of administrators are found only where the connection reads who they are', () => {
  const wanting = (permission: string | readonly string[]) => ({ review: { type: 'approved', permission } });
  const found = (pipeline: Partial<PipelineUse>, readsAdmins = false) =>
    texts({ readsAdmins }, { pipelines: [{ ...gate, ...pipeline }] });
  const warning = [
    'warning: acme/gate looks for reviews of administrators, and only the owner of a personal repository counts as one: set admin_reviews = true',
  ];
  expect(found({ requirements: [wanting('admin')] })).toEqual(warning);
  expect(found({ triggers: [{ event: 'pull_request_review', require: wanting('admin') }] })).toEqual(warning);
  expect(found({ requirements: [wanting(['write', 'admin'])] })).toEqual([]);
  expect(found({ requirements: [wanting('admin')] }, true)).toEqual([]);
});

describe('permissions', () => {
  test('that a reporter needs are named with their use', () => {
    expect(texts({ identity: { login, app, permissions: { ...permissions, checks: 'read' } } })).toEqual([
      "error: the App lacks the permission checks: write, needed to show each pipeline as a check run with its jobs: grant it in the App's settings, and accept it in its installation",
    ]);
  });

  test('are named once, at the level that is needed', () => {
    const found = texts({ identity: { login, app, permissions: {} } });
    expect(found.map(each => `${each.split(':')[0]} ${/permission (.*), needed/.exec(each)?.[1]}`)).toEqual([
      'error statuses: read',
      'error checks: write',
      'error issues: write or pull_requests: write',
      'error contents: write',
      'warning workflows: write',
      'warning administration: read',
    ]);
  });

  test('that no reporter needs are not asked for', () => {
    const quiet = { ...gate, reporters: [{ comment: false }], success: [] };
    const reading = { checks: 'read', contents: 'read', pull_requests: 'read', statuses: 'read' };
    expect(texts({ identity: { login, app, permissions: reading } }, { pipelines: [quiet] })).toEqual([]);
  });

  test('for merge groups are needed by a pipeline that takes them', () => {
    const groups = { ...gate, triggers: [{ event: 'merge_group' }] };
    expect(texts({}, { pipelines: [groups] })).toEqual([
      expect.stringContaining('lacks the permission merge_queues: read'),
    ]);
  });

  test('of a token leave no check runs, and come from its user', () => {
    const identity = { login: 'bob', app: null, permissions: null };
    const instead = 'warning: check runs need a GitHub App; with a token a status takes their place';
    expect(texts({ identity })).toEqual([instead]);
    expect(texts({ identity, role: 'WRITE' })).toEqual([instead]);
    expect(texts({ identity, role: 'READ' })).toEqual([
      "error: the token's user bob may not write (read), and statuses and merges need that: give bob the role write",
      instead,
    ]);
  });
});

describe('rules', () => {
  const linear = { ...NO_RULES, linearHistory: true };
  const merging = (mergeMode: PipelineUse['mergeMode']) => ({ pipelines: [{ ...gate, mergeMode }] });

  test('that contradict the merge mode are errors where a pipeline lands', () => {
    const refused =
      'error: branch main requires a linear history, and a merge is not linear: use merge-mode squash-merge or rebase';
    expect(texts({ rules: linear })).toEqual([refused]);
    expect(texts({ rules: linear }, merging('rebase'))).toEqual([]);
    expect(texts({ rules: linear }, { pipelines: [{ ...gate, success: [] }] })).toEqual([]);
    expect(texts({ rules: { ...NO_RULES, methods: ['squash'] }, landing: 'api' })[0]).toContain(
      'only squash',
    );
    const restricted = { rules: { ...NO_RULES, restrictsPushes: true } };
    expect(texts(restricted)).toEqual([
      'warning: branch main restricts pushes: let the App bypass the rule, or set landing = api',
    ]);
    expect(texts({ ...restricted, landing: 'api' })).toEqual([]);
  });

  test('count for the merge mode of each tenant, and are named once', () => {
    const other = { ...gate, tenant: 'other' };
    expect(texts({ rules: linear }, { pipelines: [{ ...gate, mergeMode: 'rebase' }, other] })).toHaveLength(
      1,
    );
    expect(texts({ rules: linear }, { pipelines: [gate, other] })).toHaveLength(1);
  });

  test('on the newest base are a warning where GitHub merges', () => {
    const strict = { ...NO_RULES, upToDate: true };
    expect(texts({ rules: strict, landing: 'api' })[0]).toMatch(/^warning: branch main wants/);
    expect(texts({ rules: strict })).toEqual([]);
  });

  test('that could not be read are a warning', () => {
    expect(texts({ rules: 'GitHub answered 403' })).toEqual([
      'warning: the rules of branch main could not be read: GitHub answered 403',
    ]);
  });
});

describe('a required check of ours', () => {
  const rule = 'branch protection of main';
  const requiring = (name: string, by: number | null = null) => ({
    rules: { ...NO_RULES, checks: [{ name, app: by, rule }] },
  });

  test('that no pipeline gives is an error, and others are not ours', () => {
    const text =
      'error: branch main requires the check acme/check (branch protection of main), which no pipeline gives at its success: add "check: success" or "status: success" to its success reporter, or remove the requirement';
    expect(texts(requiring('acme/check'))).toEqual([text]);
    for (const name of ['acme/gate', 'lint', 'other/check']) expect(texts(requiring(name))).toEqual([]);
  });

  test('is not given by a pipeline that reports only its start', () => {
    const begun = { ...gate, reporters: [{ check: 'in_progress' }], success: [{ merge: true }] };
    expect(texts(requiring('acme/gate'), { pipelines: [begun] })).toHaveLength(1);
  });

  test('that only another App may give is an error', () => {
    expect(texts(requiring('acme/gate', 7))).toEqual([]);
    expect(texts(requiring('acme/gate', 8))).toEqual([
      'error: branch main requires the check acme/gate (branch protection of main) from App 8 only, and this connection is App 7: require it from any source, or from this App',
    ]);
  });
});

test('rules of other protected branches count as well, and those that were not read are named', () => {
  const linear = { ...NO_RULES, linearHistory: true };
  expect(texts({}, {}, [{ branch: 'stable', rules: linear }])).toEqual([
    expect.stringMatching(/^error: branch stable requires a linear history/),
  ]);
  expect(texts({ unread: 3 })).toEqual([
    'warning: the rules of 3 further protected branches were not compared',
  ]);
});

test('a default branch that jobs would not find is a warning', () => {
  expect(texts({ branch: 'develop' })).toEqual([
    "warning: the default branch at GitHub is develop, and jobs of other projects check out master: write default-branch: develop into the project's stanza",
  ]);
  expect(texts({ branch: 'develop' }, { defaultBranches: ['develop'] })).toEqual([]);
});
