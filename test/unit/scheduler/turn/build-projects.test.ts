import { describe, expect, test } from 'vitest';
import type { TestedMerge } from '../../../../src/model/build-set.ts';
import {
  changeKey,
  type ProposedChange,
  type RefUpdate,
  refUpdateKey,
} from '../../../../src/model/change.ts';
import type { FrozenJob } from '../../../../src/model/job.ts';
import { parseCommitId, projectKey } from '../../../../src/model/project.ts';
import { buildPlaybooks } from '../../../../src/scheduler/turn/build-playbooks.ts';
import { buildProjects } from '../../../../src/scheduler/turn/build-projects.ts';
import { missingStates, neededStates } from '../../../../src/scheduler/turn/needed-states.ts';
import { emptyFrozenJob } from '../../../fake/records.ts';

const app = projectKey({ connection: 'local', name: 'acme/app' });
const lib = projectKey({ connection: 'local', name: 'acme/lib' });
const config = projectKey({ connection: 'local', name: 'acme/config' });
const commit = (digit: string) => parseCommitId(digit.repeat(40));
const places = {
  defaultBranch: (project: string) => (project === lib ? 'trunk' : undefined),
  canonicalName: (project: string) => project.replace('local/', 'example.org/'),
  isTrusted: () => false,
};

function job(parts: Partial<FrozenJob> = {}): FrozenJob {
  return emptyFrozenJob({
    run: [{ project: app, branch: 'stable', path: 'test.sh', trusted: false }],
    ...parts,
  });
}

const change: ProposedChange = {
  kind: 'change',
  key: changeKey(app, 'stable/login'),
  project: app,
  branch: 'stable',
  id: 'stable/login',
  patchset: '1',
  commit: commit('a'),
  ref: 'refs/heads/for/stable/login',
  subject: 'Log in',
};

const tested: TestedMerge = {
  branches: [],
  heads: [
    { project: app, branch: 'stable', commit: commit('1') },
    { project: app, branch: 'master', commit: commit('2') },
    { project: lib, branch: 'master', commit: commit('3') },
    { project: config, branch: 'master', commit: commit('4') },
  ],
};

describe('the checkouts of a build', () => {
  test('have the places of the scheme of the job', () => {
    const required = [{ project: lib }];
    const of = (parts: Partial<FrozenJob>) =>
      buildProjects(job({ requiredProjects: required, ...parts }), [change], [change], tested, places).map(
        ({ place }) => place,
      );
    expect(of({})).toEqual([undefined, undefined]);
    expect(of({ workspaceScheme: 'flat' })).toEqual(['app', 'lib']);
    expect(of({ workspaceScheme: 'unique' })).toEqual([
      'example.org/acme/acme%2Fapp',
      'example.org/acme/acme%2Flib',
    ]);
  });

  test("hold the change's project at its merged commit on its branch", () => {
    expect(buildProjects(job(), [change], [change], tested, places)).toEqual([
      {
        project: app,
        canonicalName: 'example.org/acme/app',
        branch: 'stable',
        commit: commit('1'),
        required: true,
      },
    ]);
  });

  test('hold what was merged, not later branch tips', () => {
    const merged = {
      project: app,
      branch: 'stable',
      base: commit('1'),
      commit: commit('b'),
      tree: '',
      before: commit('1'),
      beforeTree: null,
    };
    const stale: TestedMerge = { ...tested, branches: [merged] };
    expect(buildProjects(job(), [change], [change], stale, places)[0]).toMatchObject({ commit: commit('b') });
    expect(buildPlaybooks(job(), change, stale, places)).toMatchObject({
      playbooks: { run: [{ commit: commit('b') }] },
    });
    expect(missingStates([job()], [change], { branches: [merged], heads: [] }, places.defaultBranch)).toEqual(
      [],
    );
  });

  test('take a required project from its default branch when it lacks the branch of the change', () => {
    const found = buildProjects(
      job({ requiredProjects: [{ project: lib }] }),
      [change],
      [change],
      tested,
      places,
    );
    expect(found.find(each => each.project === lib)).toMatchObject({
      branch: 'master',
      commit: commit('3'),
      required: true,
    });
  });

  test('prefer the default branch a project names over the usual ones', () => {
    const withTrunk: TestedMerge = {
      ...tested,
      heads: [...tested.heads, { project: lib, branch: 'trunk', commit: commit('5') }],
    };
    const found = buildProjects(
      job({ requiredProjects: [{ project: lib }] }),
      [change],
      [change],
      withTrunk,
      places,
    );
    expect(found.find(each => each.project === lib)).toMatchObject({ branch: 'trunk', commit: commit('5') });
  });

  test('follow override-checkout where a job or a required project has one', () => {
    const found = buildProjects(job({ overrideCheckout: 'master' }), [change], [change], tested, places);
    expect(found[0]).toMatchObject({ branch: 'master', commit: commit('2') });
  });

  test('are at the branch of the change where the project has no branch that override-checkout names', () => {
    const found = buildProjects(job({ overrideCheckout: 'next' }), [change], [change], tested, places);
    expect(found[0]).toMatchObject({ branch: 'stable', commit: commit('1') });
  });

  test('include projects of items ahead, not as required', () => {
    const ahead: ProposedChange = {
      ...change,
      project: lib,
      key: changeKey(lib, 'master/x'),
      branch: 'master',
    };
    const found = buildProjects(job(), [ahead, change], [change], tested, places);
    expect(found.map(each => [each.project, each.required])).toEqual([
      [app, true],
      [lib, false],
    ]);
  });

  test('hold a pushed ref at exactly the pushed commit', () => {
    const pushed: RefUpdate = {
      kind: 'ref',
      key: refUpdateKey(app, 'refs/heads/master', commit('9')),
      project: app,
      ref: 'refs/heads/master',
      branch: 'master',
      oldCommit: commit('8'),
      newCommit: commit('9'),
    };
    expect(buildProjects(job(), [pushed], [pushed], tested, places)[0]).toMatchObject({
      branch: 'master',
      commit: commit('9'),
    });
  });
});

describe('the playbooks of a build', () => {
  test('are taken from their project at the tested head of their branch', () => {
    expect(buildPlaybooks(job(), change, tested, places)).toMatchObject({
      kind: 'found',
      playbooks: { run: [{ path: 'test.sh', commit: commit('1') }] },
    });
  });

  test('of a config-project are taken from what its branch holds, before anything that is merged', () => {
    const trusted = { project: config, branch: 'master', path: 'base.sh', trusted: true };
    const merged = {
      ...{ project: config, branch: 'master', base: commit('4'), commit: commit('c') },
      ...{ tree: '', before: commit('b'), beforeTree: null },
    };
    const asMerged: TestedMerge = {
      branches: [merged],
      heads: [...tested.heads, { project: config, branch: 'master', commit: commit('c') }],
    };
    const playbooks = [trusted, { ...trusted, trusted: false }];
    expect(buildPlaybooks(job({ run: playbooks }), change, asMerged, places)).toMatchObject({
      playbooks: { run: [{ commit: commit('4') }, { commit: commit('c') }] },
    });
    // A merge group is no merge of ours.
    const group: TestedMerge = {
      branches: [],
      heads: [{ project: config, branch: 'master', commit: commit('c') }],
      landed: [{ project: config, branch: 'master', commit: commit('4') }],
    };
    expect(buildPlaybooks(job({ run: playbooks }), change, group, places)).toMatchObject({
      playbooks: { run: [{ commit: commit('4') }, { commit: commit('c') }] },
    });
  });

  test('of a config-project come from no other branch than theirs', () => {
    const trusted = { project: app, branch: 'gone', path: 'base.sh', trusted: true };
    expect(buildPlaybooks(job({ run: [trusted] }), change, tested, places)).toEqual({
      kind: 'missing',
      playbook: trusted,
    });
    expect(
      buildPlaybooks(job({ run: [{ ...trusted, trusted: false }] }), change, tested, places),
    ).toMatchObject({
      kind: 'found',
    });
  });

  test('name the playbook whose project has no head', () => {
    const missing = {
      project: projectKey({ connection: 'local', name: 'acme/gone' }),
      branch: 'master',
      path: 'x.sh',
      trusted: true,
    };
    expect(buildPlaybooks(job({ run: [missing] }), change, tested, places)).toEqual({
      kind: 'missing',
      playbook: missing,
    });
  });
});

describe('the roles of a build', () => {
  const merged = {
    ...{ project: lib, branch: 'master', base: commit('3'), commit: commit('d') },
    ...{ tree: '', before: commit('3'), beforeTree: null },
  };
  const withLib: TestedMerge = { ...tested, branches: [merged] };
  const roles = [
    { project: lib, name: 'lib' },
    { project: app, name: 'app', implicit: true },
    { project: config, name: 'config', implicit: true, branch: 'master' },
  ] as const;
  const playbook = { project: app, branch: 'stable', path: 'a.yaml', trusted: false, roles: [0, 1, 2] };
  const base = { project: config, branch: 'master', path: 'b.yaml', trusted: true, roles: [2, 0] };

  test('are as tested for playbooks that are, and as landed for trusted ones', () => {
    const found = buildPlaybooks(job({ roles, preRun: [base], run: [playbook] }), change, withLib, places);
    expect(found).toMatchObject({
      kind: 'found',
      playbooks: { preRun: [{ roles: [0, 1] }], run: [{ roles: [2, 3, 0] }] },
      roles: [
        { project: config, implicit: true, branch: 'master', commit: commit('4') },
        { project: lib, name: 'lib', canonicalName: 'example.org/acme/lib', commit: commit('3') },
        { project: lib, commit: commit('d') },
        // The playbook's own project: as the playbook.
        { project: app, branch: 'stable', commit: commit('1') },
      ],
    });
  });

  test('come from the branch that the job checks out of their project', () => {
    const heads = [...tested.heads, { project: lib, branch: 'stable', commit: commit('7') }];
    const of = (parts: Partial<FrozenJob>) =>
      buildPlaybooks(
        job({ roles, run: [{ ...playbook, roles: [0] }], ...parts }),
        change,
        { branches: [], heads },
        places,
      );
    expect(of({})).toMatchObject({ roles: [{ commit: commit('7') }] });
    expect(of({ overrideCheckout: 'master' })).toMatchObject({ roles: [{ commit: commit('3') }] });
    const requiredProjects = [{ project: lib, overrideCheckout: 'master' }];
    expect(of({ requiredProjects })).toMatchObject({ roles: [{ commit: commit('3') }] });
  });

  test('that are listed are needed, and those of a project that defines the job are not', () => {
    const without = { branches: [], heads: tested.heads.filter(({ project }) => project === app) };
    const needs = job({ roles, run: [playbook] });
    expect(buildPlaybooks(needs, change, without, places)).toMatchObject({ kind: 'missing', role: roles[0] });
    expect(missingStates([needs], [change], without, places.defaultBranch)).toEqual([
      { project: lib, branches: ['main', 'master', 'stable', 'trunk'] },
      { project: config, branches: ['master'] },
    ]);
    const own = job({ roles, run: [{ ...playbook, roles: [1, 2] }] });
    expect(buildPlaybooks(own, change, without, places)).toMatchObject({
      kind: 'found',
      roles: [{ project: app }],
    });
  });
});

describe('the heads jobs need', () => {
  test('are those of playbooks, required projects and the change, each project once', () => {
    const jobs = [
      job({
        requiredProjects: [{ project: lib }],
        preRun: [{ project: config, branch: 'master', path: 'pre.sh', trusted: true }],
      }),
    ];
    expect(neededStates(jobs, [change], places.defaultBranch)).toEqual([
      { project: app, branches: ['stable'] },
      { project: config, branches: ['master'] },
      { project: lib, branches: ['main', 'master', 'stable', 'trunk'] },
    ]);
  });

  test('are those of the usual branches, too, where the branch of the change may not be the one', () => {
    const usual = [{ project: app, branches: ['main', 'master', 'stable'] }];
    expect(neededStates([job({ overrideCheckout: 'next' })], [change], places.defaultBranch)).toEqual([
      { project: app, branches: ['main', 'master', 'next', 'stable'] },
    ]);
    const ref = 'refs/heads/stable';
    const gone: RefUpdate = {
      ...{ kind: 'ref', key: refUpdateKey(app, ref, null), project: app, ref, branch: 'stable' },
      ...{ oldCommit: commit('a'), newCommit: null },
    };
    expect(neededStates([job()], [gone], places.defaultBranch)).toEqual(usual);
  });

  test('are asked for when a project lacks the branch that a job names to check out', () => {
    const missing = (one: Parameters<typeof job>[0]) =>
      missingStates([job(one)], [change], tested, places.defaultBranch).map(each => each.project);
    expect(missing({ overrideCheckout: 'next' })).toEqual([app]);
    expect(missing({ overrideCheckout: 'master' })).toEqual([]);
    expect(missing({ requiredProjects: [{ project: lib, overrideCheckout: 'next' }] })).toEqual([lib]);
  });

  test('are asked for when a project has none, or lacks the branch of a playbook', () => {
    const without = { ...tested, heads: tested.heads.filter(head => head.project !== lib) };
    expect(
      missingStates(
        [job({ requiredProjects: [{ project: lib }] })],
        [change],
        without,
        places.defaultBranch,
      ).map(each => each.project),
    ).toEqual([lib]);
    const release = job({ run: [{ project: config, branch: 'release', path: 'x.sh', trusted: true }] });
    expect(
      missingStates([release], [change], tested, places.defaultBranch).map(each => each.project),
    ).toEqual([config]);
    expect(
      missingStates([job({ requiredProjects: [{ project: lib }] })], [change], tested, places.defaultBranch),
    ).toEqual([]);
  });
});
