/** `job-graph` and `freeze-job` on real files and a real repository. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { encryptOaep } from '../../../src/lib/pkcs1-oaep.ts';
import { PUBLIC_KEY } from '../../fake/project-keys.ts';
import { recordingIo } from './fixture.ts';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-freeze-'));
  write(
    'gatehouse.conf',
    `[scheduler]\ntenant_config = tenants.yaml\nstate_dir = ${directory}/state\n[connection local]\ndriver = git\nbaseurl = ${directory}/repositories\nproposals = for/{branch}/{topic}\n`,
  );
  write(
    'tenants.yaml',
    '- tenant:\n    name: acme\n    source:\n      local:\n        config-projects: [config]\n        untrusted-projects: [app]\n',
  );
  const [chunk = ''] = encryptOaep('canary-4711', PUBLIC_KEY);
  repository(
    'config',
    `- pipeline:
    name: check
    manager: independent
    post-review: true
    trigger:
      local: [{event: proposed}]
- job: {name: base, parent: null, pre-run: playbooks/pre.sh, timeout: 600}
`,
  );
  repository(
    'app',
    `- secret:
    name: deploy
    data: {token: !encrypted/pkcs1-oaep [${chunk}]}
- job: {name: build, run: build.sh, vars: {level: 1}}
- job: {name: unit, run: unit.sh, vars: {level: 2}}
- job: {name: publish, run: publish.sh, secrets: [deploy], branches: ^stable}
- project:
    check:
      jobs: [build, unit: {dependencies: [build], voting: false}, publish]
`,
  );
}, 60_000);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
  writeFileSync(path.join(directory, file), text);
}

function repository(name: string, config: string): void {
  const place = path.join(directory, 'repositories', name);
  mkdirSync(place, { recursive: true });
  writeFileSync(path.join(place, '.zuul.yaml'), config);
  const person = {
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b.c',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b.c',
  };
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: place, env: { ...process.env, ...person } });
  git('init', '-q', '-b', 'master');
  git('add', '-A');
  git('commit', '-qm', 'Begin');
  git('branch', 'stable');
}

async function run(...args: readonly string[]) {
  const io = recordingIo({});
  const status = await runProgram([...args, '-c', path.join(directory, 'gatehouse.conf')], io);
  return { status, out: io.out(), err: io.err() };
}

describe('job-graph', () => {
  test('shows the jobs of a branch, what they wait for, and what does not run', async () => {
    const { status, out, err } = await run('job-graph', 'check', 'app', 'master');
    expect({ status, err }).toEqual({ status: 0, err: '' });
    expect(out).toMatch(/^build\nunit \(non-voting\) after build\ndoes not run:\n {2}publish: /);
  });

  test('prints the form of Zuul', async () => {
    const { out } = await run('job-graph', 'check', 'app', 'master', '--json');
    expect(JSON.parse(out)).toEqual([
      { name: 'build', dependencies: [] },
      { name: 'unit', dependencies: [{ name: 'build', soft: false }] },
    ]);
  });

  test.each([
    [['check', 'ap', 'master'], /project "ap" is not in tenant acme, did you mean "app"\?/],
    [['chek', 'app', 'master'], /tenant acme has no pipeline chek; it has: check/],
    [['check', 'app', 'mater'], /app has no branch mater/],
    [['check', 'config', 'master'], /config takes no part in pipeline check/],
    [['check', 'app', 'master', '--tenant', 'acne'], /there is no tenant acne; there are: acme/],
  ])('of %j says what is wrong', async (args, expected) => {
    expect(await run('job-graph', ...args)).toMatchObject({
      status: 1,
      err: expect.stringMatching(expected),
    });
  });
});

describe('freeze-job', () => {
  test('shows a job with all that it inherits, under the names of Zuul', async () => {
    const { status, out } = await run('freeze-job', 'check', 'app', 'master', 'unit');
    expect(status).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      job: 'unit',
      voting: false,
      timeout: 600,
      pre_playbooks: [{ project: 'local/config', path: 'playbooks/pre.sh', trusted: true }],
      playbooks: [{ project: 'local/app', branch: 'master', path: 'unit.sh', trusted: false, secrets: [] }],
      vars: { level: 2 },
      dependencies: [{ name: 'build', soft: false }],
      gatehouse: { network: false },
    });
  });

  test('names secrets and shows nothing of them, not even what is encrypted', async () => {
    const { out } = await run('freeze-job', 'check', 'app', 'stable', 'publish');
    expect(JSON.parse(out)).toMatchObject({ playbooks: [{ path: 'publish.sh', secrets: ['deploy'] }] });
    expect(out).not.toMatch(/canary|[A-Za-z0-9+/]{60,}/);
  });

  test('names the jobs that run when the one asked for does not', async () => {
    expect(await run('freeze-job', 'check', 'app', 'master', 'publish')).toMatchObject({
      status: 1,
      err: expect.stringContaining('publish does not run; those that do: build, unit'),
    });
  });
});
