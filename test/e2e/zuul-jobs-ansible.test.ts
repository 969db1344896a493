/** `npm run compat -- --zuul-jobs`, on a directory of a few files in the form of zuul-jobs, on the executor itself. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { jobCases } from '../compat/zuul-jobs/cases.ts';
import { runZuulJobs } from '../compat/zuul-jobs/run-zuul-jobs.ts';
import { describeOnAnsible } from '../setup/ansible.ts';

const TESTS = `
- job:
    name: test-hello
    run: test-playbooks/hello.yaml
    vars: {role_name: hello}
- job: {name: test-hello-debian, parent: test-hello, nodeset: {nodes: [{name: a, label: debian}]}}
- job: {name: test-two, run: test-playbooks/hello.yaml, nodeset: {nodes: [{name: a, label: x}, {name: b, label: x}]}}
- job: {name: test-elsewhere, run: a.yaml, required-projects: [opendev/base-jobs]}
- job: {name: test-orphan, parent: nowhere, run: test-playbooks/hello.yaml}
- project: {check: {jobs: [job-of-another-project]}}
`;
const FILES = {
  'zuul-tests.d/tests.yaml': TESTS,
  'zuul.d/jobs.yaml': '- job: {name: of-the-library, run: playbooks/x.yaml}\n',
  'test-playbooks/hello.yaml': '- hosts: all\n  tasks: [include_role: {name: "{{ role_name }}"}]\n',
  'roles/hello/tasks/main.yaml': '- debug: {msg: hello}\n',
  'roles/ensure-output-dirs/tasks/main.yaml': '- debug: {msg: as if}\n',
  'roles/broken/tasks/main.yaml': '- name: Try\n  fail: {msg: "not\\nhere"}\n',
};

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-compat-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('of the jobs of zuul-tests.d those are run that say what runs, on one node, with no other project', () => {
  expect(jobCases([TESTS])).toEqual({
    cases: [
      { name: 'test-hello', kind: 'job' },
      { name: 'test-orphan', kind: 'job' },
    ],
    refusals: [
      { name: 'test-two', reason: 'needs 2 nodes' },
      { name: 'test-elsewhere', reason: 'needs the projects ["opendev/base-jobs"]' },
    ],
  });
});

describeOnAnsible('the roles of zuul-jobs', () => {
  test('are run by builds, and each that is refused or fails has its reason', {
    timeout: 300_000,
  }, async () => {
    for (const [name, text] of Object.entries(FILES)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), text);
    }
    const lines: string[] = [];
    const question = { directory: folder, only: /^(?!ensure)/, places: ['local'] as const, sshd: 'none' };
    await runZuulJobs({ ...question, print: line => void lines.push(line.replace(/ \(\d+\.\d s\)$/, '')) });
    expect(lines).toEqual([
      'refused local test-two: needs 2 nodes',
      'refused local test-elsewhere: needs the projects ["opendev/base-jobs"]',
      'passed local test-hello',
      expect.stringMatching(/^refused local test-orphan: .*nowhere/),
      'failed local broken: broken: Try: not here',
      'local: passed 1 of 5 cases; 2 of 3 roles ran',
    ]);
  });
});
