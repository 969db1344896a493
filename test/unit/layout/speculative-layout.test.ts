import { describe, expect, it } from 'vitest';
import { buildLayout } from '../../../src/layout/build/build-layout.ts';
import { speculativeLayout } from '../../../src/layout/build/speculative-layout.ts';
import { freezeJobGraph } from '../../../src/layout/freeze/freeze-job-graph.ts';
import type { Layout } from '../../../src/layout/model/layout.ts';
import { configErrorText } from '../../../src/model/config-error.ts';
import type { BranchConfig } from '../../../src/model/merge.ts';
import { APP, BASE, branchConfig, CONFIG, LIB, layoutInput } from './fixture.ts';

const APP_NOW = `
- job: {name: unit, run: unit.sh, files: ^src/}
- job: {name: other, run: other.sh, files: ^src/}
- project: {check: {jobs: [unit, other]}}
`;

const INPUT = layoutInput([branchConfig(CONFIG, BASE), branchConfig(APP, APP_NOW), branchConfig(LIB, '')]);
const BEFORE = buildLayout(INPUT);

function propose(...proposed: readonly BranchConfig[]) {
  const { layout, errors } = speculativeLayout(INPUT, BEFORE, proposed);
  return { layout, errors: errors.map(configErrorText) };
}

function verdictsOf(layout: Layout, files: readonly string[]): readonly string[] {
  const outcome = freezeJobGraph({
    layout,
    pipeline: 'check',
    change: { project: APP, branch: 'master', files },
    before: BEFORE,
  });
  if (outcome.kind !== 'frozen') throw new Error(JSON.stringify(outcome));
  return outcome.verdicts.map(verdict =>
    verdict.kind === 'runs'
      ? `${verdict.job.name} runs: ${verdict.because}`
      : `${verdict.name} does not: ${verdict.because}`,
  );
}

describe('a proposed change of configuration', () => {
  it('of an untrusted project takes effect', () => {
    const { layout, errors } = propose(
      branchConfig(APP, `${APP_NOW}- job: {name: new, run: n.sh}\n- project: {check: {jobs: [new]}}\n`),
    );
    expect(errors).toEqual([]);
    expect(verdictsOf(layout, ['src/a'])).toEqual([
      'unit runs: file src/a matches files "^src/"',
      'other runs: file src/a matches files "^src/"',
      'new runs: no matcher limits it',
    ]);
  });

  it('of a config-project is validated, not used', () => {
    const config = `${BASE}- job: {name: extra, run: x.sh}\n- project: {name: acme/app, check: {jobs: [extra]}}\n`;
    const good = propose(branchConfig(CONFIG, config));
    expect(good.errors).toEqual([]);
    expect([...good.layout.jobs.keys()]).not.toContain('extra');

    const bad = propose(branchConfig(CONFIG, `${BASE}- job: {name: extra, rnu: x.sh}\n`));
    expect(bad.errors).toEqual([
      'local/acme/config@master:zuul.yaml:21:22: unknown key "rnu" of job extra, did you mean "run"?',
    ]);
  });

  it('that needs an unmerged change of a config-project gets an error that names the order', () => {
    const { errors } = propose(
      branchConfig(CONFIG, `${BASE}- job: {name: extra, run: x.sh}\n`),
      branchConfig(APP, '- project: {check: {jobs: [extra]}}\n'),
    );
    expect(errors).toEqual([
      'local/acme/app@master:zuul.yaml:1:28: Job extra not defined (a proposed change of a config-project fixes this, but it must merge first)',
    ]);
  });

  it('gets the errors it causes elsewhere', () => {
    const { errors } = propose(
      branchConfig(APP, '- job: {name: other, run: other.sh}\n- project: {check: {jobs: [unit, other]}}\n'),
    );
    expect(errors).toEqual(['local/acme/app@master:zuul.yaml:2:28: Job unit not defined']);
  });

  it('does not get errors that exist without it, even when they move', () => {
    const wrong = '- job: {name: bad, rnu: x}\n';
    const input = layoutInput([
      branchConfig(CONFIG, BASE),
      branchConfig(APP, wrong),
      branchConfig(LIB, wrong.replace('bad', 'worse')),
    ]);
    const before = buildLayout(input);
    expect(before.errors.length).toBe(2);
    const { errors } = speculativeLayout(input, before, [
      branchConfig(APP, `# moved\n${wrong}- job: {name: good, run: x.sh}\n`),
    ]);
    expect(errors).toEqual([]);
  });

  it('may add a branch, which binds the jobs to their branches', () => {
    const { layout } = propose(branchConfig(APP, APP_NOW, 'stable'));
    expect(layout.jobs.get('unit')?.map(variant => variant.file.implied)).toEqual([
      { kind: 'branch', branch: 'master' },
      { kind: 'branch', branch: 'stable' },
    ]);
  });
});

describe('a job whose definition the change alters', () => {
  it('runs although its file matchers do not match; the others do not', () => {
    const { layout } = propose(branchConfig(APP, APP_NOW.replace('run: unit.sh', 'run: better.sh')));
    expect(verdictsOf(layout, ['zuul.yaml'])).toEqual([
      'unit runs: the change alters the definition of the job, although the only changed file (zuul.yaml) matches none of files "^src/"',
      'other does not: the only changed file (zuul.yaml) matches none of files "^src/"',
    ]);
  });

  it('runs when the change adds it', () => {
    const text = `${APP_NOW}- job: {name: new, run: n.sh, files: never}\n- project: {check: {jobs: [new]}}\n`;
    expect(verdictsOf(propose(branchConfig(APP, text)).layout, ['zuul.yaml'])[2]).toBe(
      'new runs: the change adds the job, although the only changed file (zuul.yaml) matches none of files "never"',
    );
  });

  it('runs when its parent or its matcher changes, not when it only moves', () => {
    const moved = propose(branchConfig(APP, `# a comment\n${APP_NOW}`)).layout;
    expect(verdictsOf(moved, ['zuul.yaml']).filter(text => text.includes(' runs'))).toEqual([]);
    const matcher = propose(branchConfig(APP, APP_NOW.replace('files: ^src/', 'files: ^source/'))).layout;
    expect(verdictsOf(matcher, ['zuul.yaml'])[0]).toContain('unit runs: the change alters');
  });

  it('does not with match-on-config-updates: false', () => {
    const text = APP_NOW.replace('files: ^src/}', 'files: ^src/, match-on-config-updates: false}');
    expect(verdictsOf(propose(branchConfig(APP, text)).layout, ['zuul.yaml'])[0]).toBe(
      'unit does not: the only changed file (zuul.yaml) matches none of files "^src/"',
    );
  });
});

describe('a branch that is always dynamic', () => {
  const projects = INPUT.tenant.projects.map(each =>
    each.project === APP
      ? { ...each, alwaysDynamicBranches: ['feature/.*'], excludeBranches: ['feature/.*'] }
      : each,
  );
  const feature = (text: string): BranchConfig => ({ ...branchConfig(APP, text), branch: 'feature/x' });
  const input = {
    ...INPUT,
    tenant: { ...INPUT.tenant, projects },
    configs: [...INPUT.configs, feature('- job: {name: old, run: o.sh}\n- job: {name: broken, rnu: x}\n')],
  };
  const now = feature('- job: {name: new, run: n.sh}\n- project: {check: {jobs: [new]}}\n');

  it('is in no layout of the tenant, also with its mistakes', () => {
    const { jobs, branches, errors } = buildLayout(input);
    expect([...jobs.keys()]).not.toContain('old');
    expect([...(branches.get(APP) ?? [])]).toEqual(['master']);
    expect(errors).toEqual([]);
  });

  it('counts in the layout of its own changes, and in no other', () => {
    const { layout, errors } = speculativeLayout(input, buildLayout(input), [now]);
    expect(errors).toEqual([]);
    const jobsOf = (branch: string) => {
      const outcome = freezeJobGraph({
        layout,
        pipeline: 'check',
        change: { project: APP, branch, files: ['src/a'] },
      });
      return outcome.kind === 'frozen' ? outcome.jobs.map(({ name }) => name) : outcome;
    };
    expect(jobsOf('feature/x')).toEqual(['new']);
    expect(jobsOf('master')).toEqual(['unit', 'other']);
    const other = speculativeLayout(input, buildLayout(input), [branchConfig(APP, APP_NOW)]);
    expect([...other.layout.jobs.keys()]).not.toContain('old');
  });

  it('is in every layout where it is one of those that are included by name', () => {
    const included = projects.map(each => ({ ...each, includeBranches: ['feature/x'] }));
    const { errors } = buildLayout({ ...input, tenant: { ...input.tenant, projects: included } });
    expect(errors.map(({ code }) => code)).toContain('unknown-key');
  });
});
