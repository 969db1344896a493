/** What `gatehouse run` derives from texts: names of projects, and the configuration of a checkout alone. */
import { describe, expect, test } from 'vitest';
import { chooseJob } from '../../../src/cmd/run/choose-job.ts';
import { projectOfUrl } from '../../../src/cmd/run/project-of-url.ts';
import { aloneInput } from '../../../src/cmd/run/run-layout.ts';
import { exitStatusOf } from '../../../src/cmd/run/run-text.ts';
import { parseCommitId, projectKey } from '../../../src/model/project.ts';

test.each([
  ['git@github.com:acme/app.git', 'github.com', 'acme/app'],
  ['ssh://eve@review.example:29418/acme/app', 'review.example', 'acme/app'],
  ['https://eve:secret@git.example.org/deep/group/app.git/', 'git.example.org', 'deep/group/app'],
])('the address %s names a project', (url, host, name) => {
  expect(projectOfUrl(url)).toEqual({ host, name });
});

test.each(['/srv/git/app.git', '../app', 'file:///srv/git/app', 'https://host/', ''])(
  'the address %j names no project of a host',
  url => {
    expect(projectOfUrl(url)).toBeUndefined();
  },
);

const project = projectKey({ connection: 'git.example.org', name: 'acme/app' });

function choose(text: string, job: string, pipeline?: string) {
  const files = [{ path: '.zuul.yaml', text }];
  const config = { project, branch: 'main', commit: parseCommitId('a'.repeat(40)), files };
  return chooseJob(aloneInput([config]), { job, project, branch: 'main', pipeline });
}

const CONFIG = `
- job: {name: unit, run: unit.sh, vars: {level: 1}}
- job: {name: lint, run: lint.sh, dependencies: [unit]}
- job: {name: broken, parent: nowhere, run: a.sh}
- project:
    check: {jobs: [broken]}
    gate: {jobs: [unit: {vars: {level: 2}}]}
`;

describe('a job of a checkout alone', () => {
  test('is that of the first pipeline that runs it, though no repository defines the pipeline', () => {
    expect(choose(CONFIG, 'unit')).toMatchObject({
      kind: 'chosen',
      pipeline: { name: 'gate' },
      job: { vars: { level: 2 } },
    });
  });

  test('is run as it is defined, without what it depends on, where no pipeline runs it', () => {
    expect(choose(CONFIG, 'lint')).toMatchObject({
      kind: 'chosen',
      pipeline: { name: 'gatehouse-run' },
      job: { name: 'lint', dependencies: [] },
    });
  });

  test('of a config-project runs with the configuration that only such a project may have', () => {
    const config = `
- pipeline: {name: check, manager: independent, trigger: {elsewhere: [{event: x}]}}
- job: {name: root, parent: null, pre-run: pre.sh}
- job: {name: unit, parent: root, run: unit.sh}
- project: {check: {jobs: [unit]}}
`;
    expect(choose(config, 'unit')).toMatchObject({
      kind: 'chosen',
      pipeline: { name: 'check' },
      job: { preRun: [{ path: 'pre.sh', trusted: true }] },
    });
  });

  test.each([
    ['unti', undefined, /did you mean "unit"/],
    ['broken', undefined, /nowhere/],
    ['unit', 'chek', /there is no pipeline chek; there are: check, gate$/],
    ['lint', 'gate', /pipeline gate does not run lint; it runs: unit/],
  ])('that cannot be frozen (%s in %s) is refused with the reason', (job, pipeline, text) => {
    expect(choose(CONFIG, job, pipeline)).toMatchObject({
      kind: 'refused',
      text: expect.stringMatching(text),
    });
  });
});

test('the exit status of a job that failed differs from that of one that could not be run', () => {
  expect((['SUCCESS', 'FAILURE', 'TIMED_OUT', 'RETRY', 'ERROR'] as const).map(exitStatusOf)).toEqual([
    0, 1, 1, 1, 3,
  ]);
});
