/** `npm run compat -- --zuul-jobs`, on a directory of a few files in the form of zuul-jobs, on executor slots. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { casesOf } from '../compat/zuul-jobs/cases.ts';
import { type Outcome, roleTable } from '../compat/zuul-jobs/role-table.ts';
import { runZuulJobs } from '../compat/zuul-jobs/run-zuul-jobs.ts';
import { describeOnAnsible } from '../setup/ansible.ts';

const TESTS = `
- job:
    name: zuul-jobs-test-hello
    run: test-playbooks/hello.yaml
    vars: {role_name: hello}
- job: {name: zuul-jobs-test-hello-debian, parent: zuul-jobs-test-hello, nodeset: {nodes: [{name: a, label: debian}]}}
- job: {name: test-two, run: test-playbooks/hello.yaml, nodeset: {nodes: [{name: a, label: x}, {name: b, label: x}]}}
- job: {name: test-elsewhere, run: a.yaml, required-projects: [opendev/another]}
- job: {name: test-stand-in, run: a.yaml, required-projects: [opendev/base-jobs]}
- job: {name: test-orphan, parent: nowhere, run: test-playbooks/hello.yaml}
- project: {check: {jobs: [job-of-another-project]}}
`;
const FILES = {
  'zuul-tests.d/tests.yaml': TESTS,
  'zuul.d/jobs.yaml': '- job: {name: of-the-library, run: playbooks/x.yaml}\n',
  'test-playbooks/hello.yaml': '- hosts: all\n  tasks: [include_role: {name: "{{ role_name }}"}]\n',
  'roles/hello/tasks/main.yaml': '- debug: {msg: hello}\n',
  'roles/ensure-output-dirs/tasks/main.yaml': '- file: {path: ~/zuul-output, state: directory}\n',
  'roles/broken/tasks/main.yaml': '- name: Try\n  fail: {msg: "not\\nhere"}\n',
  'roles/wait-for-pods/tasks/main.yaml': '- fail: {msg: never}\n',
  'roles/idle/tasks/main.yaml': '- debug: {msg: never}\n  when: false\n',
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-compat-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('of the jobs of zuul-tests.d those are run that say what runs, on one node, with no other project', () => {
  expect(casesOf({ tests: [TESTS], jobs: [], roles: ['hello', 'wait-for-pods', 'other'] })).toEqual({
    cases: [
      { name: 'zuul-jobs-test-hello', kind: 'job' },
      { name: 'test-stand-in', kind: 'job' },
      { name: 'other', kind: 'role' },
    ],
    refusals: [
      { name: 'test-two', reason: 'needs 2 nodes' },
      { name: 'test-elsewhere', reason: 'needs the projects ["opendev/another"]' },
      { name: 'test-orphan', reason: 'its parent nowhere is a job of another project' },
      { name: 'wait-for-pods', reason: 'needs a Kubernetes or an OpenShift' },
    ],
  });
});

test('a role has passed when a build passed in which one of its tasks ran, and its own test counts before others', () => {
  const outcome = (name: string, kind: Outcome['kind'], tasks: Record<string, number>): Outcome => ({
    ...{ place: 'local', kind, reason: kind === 'passed' ? '' : 'a | b', seconds: 1 },
    case: { name, kind: name.startsWith('zuul-jobs') ? 'job' : 'role' },
    tasks: new Map(Object.entries(tasks)),
  });
  const outcomes = [
    outcome('zuul-jobs-test-tox', 'failed', { tox: 3 }),
    outcome('tox', 'passed', { tox: 4, 'ensure-tox': 1 }),
    outcome('npm', 'passed', {}),
    outcome('yarn', 'failed', { npm: 1 }),
  ];
  expect(roleTable(['ensure-tox', 'go', 'npm', 'tox', 'yarn'], ['local', 'ssh'], outcomes)).toEqual([
    '| role | local | ssh |',
    '|---|---|---|',
    '| ensure-tox | passed: 1 task | not run |',
    '| npm | no task of it ran | not run |',
    '| tox | passed: 4 tasks | not run |',
    '| yarn | failed: a \\| b | not run |',
    'local: 2 of 5 roles passed',
    'ssh: 0 of 5 roles passed',
  ]);
});

describeOnAnsible('the roles of zuul-jobs', () => {
  test('are run by builds of one service, and each that is refused or fails has its reason', {
    timeout: 300_000,
  }, async () => {
    for (const [name, text] of Object.entries(FILES)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), text);
    }
    const lines: string[] = [];
    await runZuulJobs({
      ...{ directory: folder, only: /^(?!ensure|test-stand)/, places: ['local'], sshd: 'none' },
      ...{ ansible: undefined, atOnce: 2 },
      print: line => void lines.push(line.replace(/ \(\d+ s\)$/, '')),
    });
    expect(lines.toSorted()).toEqual(
      [
        'refused local test-two: needs 2 nodes',
        'refused local test-elsewhere: needs the projects ["opendev/another"]',
        'refused local test-orphan: its parent nowhere is a job of another project',
        'refused local wait-for-pods: needs a Kubernetes or an OpenShift',
        'passed local zuul-jobs-test-hello',
        'failed local broken: broken: Try: not here',
        'passed local idle',
        '| role | local |',
        '|---|---|',
        '| broken | failed: broken: Try: not here |',
        '| hello | passed: zuul-jobs-test-hello |',
        '| idle | no task of it ran |',
        '| wait-for-pods | refused: needs a Kubernetes or an OpenShift |',
        'local: 1 of 4 roles passed',
      ].toSorted(),
    );
  });
});
