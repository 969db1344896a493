/** `gatehouse config-check --online` against the fake GitHub: what pipelines want, and what GitHub grants and demands. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runProgram } from '../../src/cmd/commands/program.ts';
import { type Recorded, recordingIo } from '../unit/cmd/fixture.ts';
import { ALL_PERMISSIONS } from './fake/deeds/installations.ts';
import { type FakeGithub, startFakeGithub } from './fake/fake-github.ts';
import type { Repository } from './fake/world.ts';
import { githubLayout } from './stories/github-layout.ts';

let stack: AsyncDisposableStack;
let github: FakeGithub;
let app: Repository;
let folder: string;
let io: Recorded;

beforeEach(async () => {
  stack = new AsyncDisposableStack();
  github = stack.use(await startFakeGithub());
  github.webhook.url = 'https://gate.example.org/api/connection/local/payload';
  await github.repository('org/config', { files: { 'zuul.yaml': githubLayout() } });
  app = await github.repository('acme/app');
  await github.repository('acme/library');
  // Nothing listens there: the events of these deeds are only logged.
  github.hooks.down = true;
  folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-online-'));
  stack.defer(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, 'app.pem'), github.app.privateKey);
  await writeFile(path.join(folder, 'tenants.yaml'), TENANT);
  await settings([`app_id = ${github.app.id}`, 'app_key = app.pem', 'webhook_token = secret']);
  io = recordingIo({ COLUMNS: '100' });
});
afterEach(() => stack.disposeAsync());

const TENANT =
  '- tenant:\n    name: acme\n    source:\n      local:\n        config-projects: [org/config]\n        untrusted-projects: [acme/app, acme/library]\n';

async function settings(connection: readonly string[]): Promise<void> {
  const lines = [
    ...['[scheduler]', 'tenant_config = tenants.yaml', `state_dir = ${folder}/state`],
    ...['[connection local]', 'driver = github', `api_url = ${github.apiUrl}`, `clone_url = ${github.url}`],
    ...connection,
  ];
  await writeFile(path.join(folder, 'gatehouse.conf'), `${lines.join('\n')}\n`, { mode: 0o600 });
}

async function install(permissions = ALL_PERMISSIONS): Promise<void> {
  await github.install('org', { permissions });
  await github.install('acme', { permissions });
}

async function check(): Promise<readonly string[]> {
  const status = await runProgram(
    ['config-check', '-c', `${folder}/gatehouse.conf`, '--online', '--json'],
    io,
  );
  const { ok, errors, warnings } = JSON.parse(io.out());
  expect([ok, status]).toEqual(errors.length === 0 ? [true, 0] : [false, 1]);
  const named = (severity: string, texts: readonly string[]) => texts.map(each => `${severity}: ${each}`);
  return [...named('error', errors), ...named('warning', warnings)];
}

test('repositories that serve their pipelines have no findings, and nothing is written', async () => {
  await install();
  await github.protect(app, 'main', { checks: ['acme/gate'], approvals: 1 });
  expect(await runProgram(['config-check', '-c', `${folder}/gatehouse.conf`, '--online'], io)).toBe(0);
  expect(io.err()).toBe('');
  expect(io.out()).toContain('✓ no errors; asked local about 2 projects');
  const writes = github.requests.filter(({ method }) => method !== 'GET').map(each => each.operation);
  expect(new Set(writes)).toEqual(new Set(['apps/create-installation-access-token', 'git/fetch', 'graphql']));
});

describe('contradictions', () => {
  test('of the rules, the webhook and the permissions are found together, errors first', async () => {
    const { workflows: _, statuses: __, ...permissions } = ALL_PERMISSIONS;
    await install({ ...permissions, checks: 'read' });
    github.world.app.events = ['push', 'pull_request', 'pull_request_review', 'check_run', 'status'];
    await github.protect(app, 'main', { linearHistory: true, checks: ['acme/chek'] });
    const found = await check();
    expect(found).toEqual([
      'error: local: the App does not receive the event issue_comment, needed by acme/check: subscribe to it in the App\'s settings, under "Permissions & events"',
      expect.stringMatching(/^error: local\/acme\/app, local\/acme\/library: .* statuses: read/),
      expect.stringMatching(/^error: local\/acme\/app, local\/acme\/library: .* checks: write/),
      'error: local/acme/app: branch main requires a linear history, and a merge is not linear: use merge-mode squash-merge or rebase',
      expect.stringMatching(/^error: local\/acme\/app: branch main requires the check acme\/chek \(branch/),
      expect.stringMatching(/^warning: local\/acme\/app, local\/acme\/library: .* workflows: write/),
    ]);
  });

  test('of a ruleset count like those of branch protection', async () => {
    await install();
    await settings([`app_id = ${github.app.id}`, 'app_key = app.pem', 'webhook_token = s', 'landing = api']);
    app.methods.merge = false;
    await github.addRuleset(app, 'main', { upToDate: true, checks: ['lint'] });
    expect(await check()).toEqual([
      'error: local/acme/app: branch main does not allow the merge method merge, only squash or rebase: use another merge-mode',
      expect.stringMatching(/^warning: local\/acme\/app: branch main wants pull requests up to date/),
    ]);
  });

  test('of other protected branches are found as well', async () => {
    await install();
    await github.push(app, 'stable/1', { files: { 'stable.txt': 'stable\n' } });
    await github.push(app, 'topic', { files: { 'topic.txt': 'topic\n' } });
    await github.protect(app, 'stable/1', { linearHistory: true });
    expect(await check()).toEqual([
      'error: local/acme/app: branch stable/1 requires a linear history, and a merge is not linear: use merge-mode squash-merge or rebase',
    ]);
    expect(github.requests.filter(({ path: asked }) => asked.includes('topic/rules'))).toEqual([]);
  });

  test('of a token and its user', async () => {
    await settings([`api_token = ${github.token('eve')}`]);
    expect(await check()).toEqual([
      "error: local/acme/app, local/acme/library: the token's user eve may not write (read), and statuses and merges need that: give eve the role write",
      expect.stringMatching(/^warning: .*: check runs need a GitHub App/),
    ]);
  });
});

describe('a host', () => {
  test('without the App on one account names its repositories', async () => {
    await github.install('org');
    expect(await check()).toEqual([
      expect.stringMatching(/^error: local\/acme\/app: the GitHub App is not installed on acme\/app/),
      expect.stringMatching(/^error: local\/acme\/library: the GitHub App is not installed on acme\/library/),
    ]);
  });

  test('that is away is one error', async () => {
    await install();
    github.faults.add({ times: 1_000, does: { kind: 'status', status: 503 } });
    expect(await check()).toEqual([
      expect.stringMatching(/^error: local\/org\/config: .*503.* \(2 more projects were not read for it\)$/),
    ]);
  });

  test('that goes away after the layout was read is one error', async () => {
    await install();
    github.faults.add({ operation: 'graphql', times: 1_000, does: { kind: 'status', status: 502 } });
    expect(await check()).toEqual([
      expect.stringMatching(/^error: local: GitHub could not be asked about its 2 projects: .*502/),
    ]);
  });

  test('that refuses one question says so of that project', async () => {
    await install();
    const refusal = {
      kind: 'status',
      status: 403,
      message: 'Resource not accessible by integration',
    } as const;
    github.faults.add({ operation: 'repos/get-branch-rules', path: /library/, does: refusal });
    expect(await check()).toEqual([
      expect.stringMatching(
        /^warning: local\/acme\/library: the rules of branch main could not be read: .*403/,
      ),
    ]);
  });
});

test('branches that the tenant leaves out because GitHub does not protect them are not read', async () => {
  await install();
  await github.protect(app, 'main', {});
  await github.push(app, 'topic', { files: { 'zuul.yaml': '- job: {name: [}\n' } });
  const file = path.join(folder, 'tenants.yaml');
  await writeFile(file, TENANT.replace('acme/app', '{acme/app: {exclude-unprotected-branches: true}}'));
  expect(await check()).toEqual([]);
  io = recordingIo();
  await writeFile(file, TENANT);
  expect(await check()).toEqual([expect.stringMatching(/^error: local\/acme\/app@topic:zuul\.yaml/)]);
});
