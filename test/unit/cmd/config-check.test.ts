/** `config-check` on real files and real repositories. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { startService } from '../../../src/cmd/service/service.ts';
import { readSettings } from '../../../src/settings/read-settings.ts';
import { SILENT } from '../../fake/silent-log.ts';
import { type Recorded, recordingIo } from './fixture.ts';

let directory: string;
let io: Recorded;

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-cmd-'));
  io = recordingIo({ COLUMNS: '100' });
  write(
    'gatehouse.conf',
    `[scheduler]\ntenant_config = tenants.yaml\nstate_dir = ${directory}/state\n[connection local]\ndriver = git\nbaseurl = ${directory}/repositories\nproposals = for/{branch}/{topic}\n`,
  );
  write(
    'tenants.yaml',
    '- tenant:\n    name: acme\n    source:\n      local:\n        config-projects: [config]\n        untrusted-projects: [app]\n',
  );
});

afterEach(() => rmSync(directory, { recursive: true, force: true }));

function write(file: string, text: string): void {
  mkdirSync(path.dirname(path.join(directory, file)), { recursive: true });
  writeFileSync(path.join(directory, file), text);
}

test('the public key of a realm is looked at', async () => {
  write(
    'auth.conf',
    '[scheduler]\ntenant_config = tenants.yaml\n[connection local]\ndriver = git\nbaseurl = /srv/git\n[auth company]\ndriver = RS256\nrealm = company\nissuer_id = https://login.example.org\nclient_id = gate\npublic_key = login.pem\n',
  );
  const file = path.join(directory, 'auth.conf');
  expect(await runProgram(['config-check', '-c', file], io)).toBe(1);
  expect(io.err()).toContain(
    `${file}:11: [auth company] public_key: ${path.join(directory, 'login.pem')} cannot be read (there is no such file)`,
  );
});

test('a connection without a key is for machines that run only executors', async () => {
  write('tenants.yaml', '- tenant: {name: acme, source: {gh: {config-projects: [acme/config]}}}\n');
  const github = '[connection gh]\ndriver = github\napp_id = 12\n';
  write(
    'keyless.conf',
    `[scheduler]\ntenant_config = tenants.yaml\nstate_dir = ${directory}/state\n${github}`,
  );
  expect(await runProgram(['config-check', '-c', path.join(directory, 'keyless.conf')], io)).toBe(1);
  expect(io.err()).toContain('[connection gh] has no key: schedulers and mergers need one');
  const read = readSettings(path.join(directory, 'keyless.conf'), {});
  if (read.kind === 'invalid') return expect.unreachable(read.errors.join());
  expect(await startService(read.settings, SILENT)).toEqual({
    kind: 'refused',
    errors: [expect.stringContaining('[connection gh] has no key')],
  });

  write('executor.conf', `[zookeeper]\nhosts = 127.0.0.1\n${github}`);
  expect(await runProgram(['config-check', '-c', path.join(directory, 'executor.conf')], io)).toBe(0);
});

function repository(name: string, zuulYaml: string): void {
  const place = path.join(directory, 'repositories', name);
  write(`repositories/${name}/zuul.yaml`, zuulYaml);
  const env = {
    PATH: process.env.PATH,
    HOME: directory,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@b.c',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@b.c',
  };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: place, env });
  git('init', '-q', '-b', 'master');
  git('add', '-A');
  git('commit', '-qm', 'Begin');
}

function check(...args: string[]): Promise<number> {
  return runProgram(['config-check', '-c', path.join(directory, 'gatehouse.conf'), ...args], io);
}

const PIPELINE =
  '- pipeline:\n    name: check\n    manager: independent\n    trigger:\n      local:\n        - event: proposed\n';
const BASE = '- job:\n    name: base\n    parent: null\n    run: run.sh\n';

describe('config-check', () => {
  test('of a good configuration shows what it comes to, and writes nothing', async () => {
    expect(await check()).toBe(0);
    expect(io.err()).toBe('');
    expect(io.out()).toContain('connections  local     git');
    expect(io.out()).toContain('tenants      acme      1 config-project: local/config');
    expect(io.out()).toContain('✓ no errors; --layout also checks');
    expect(existsSync(path.join(directory, 'state'))).toBe(false);
  });

  test('reports the mistakes of settings with file and line', async () => {
    write('gatehouse.conf', '[scheduler]\ntenant_config = tenants.yaml\n[web]\nprot = 80\n');
    expect(await check()).toBe(1);
    expect(io.err()).toContain('gatehouse.conf:4: [web] prot: unknown option, did you mean "port"?');
  });

  test('reports the mistakes of connections and of the tenant file together', async () => {
    write(
      'gatehouse.conf',
      '[scheduler]\ntenant_config = tenants.yaml\n[connection local]\ndriver = gti\nbaseurl = /x\n',
    );
    write(
      'tenants.yaml',
      '- tenant:\n    name: acme\n    source:\n      locl:\n        untrusted-projects: [app]\n',
    );
    expect(await check()).toBe(1);
    expect(io.err()).toContain(
      'gatehouse.conf:3: [connection local] driver: there is no driver "gti", did you mean "git"?',
    );
    expect(io.err()).toContain('tenants.yaml:4:7: no connection is called "locl", did you mean "local"?');
    expect(io.err()).toContain('2 errors\n');
  });

  test('--layout reads the projects through git and leaves nothing behind', async () => {
    repository('config', PIPELINE + BASE);
    repository(
      'app',
      '- job:\n    name: unit\n    run: unit.sh\n- project:\n    check:\n      jobs: [unit]\n',
    );
    // Other files' tests use the machine's folder at the same time.
    const own = mkdtempSync(path.join(tmpdir(), 'config-check-'));
    vi.stubEnv('TMPDIR', own);
    expect([await check('--layout'), io.err()]).toEqual([0, '']);
    expect(io.out()).toContain('1 pipeline: check (independent)');
    expect(io.out()).toContain('2 jobs: base, unit');
    expect(existsSync(path.join(directory, 'state'))).toBe(false);
    expect(readdirSync(own)).toEqual([]);
    vi.unstubAllEnvs();
    rmSync(own, { recursive: true });
  });

  test('--layout reports layout errors with project, branch, file and line', async () => {
    repository('config', PIPELINE + BASE);
    repository('app', '- project:\n    check:\n      jobs: [bse]\n');
    expect(await check('--layout', '--json')).toBe(1);
    const { ok, errors } = JSON.parse(io.out());
    expect({ ok, errors }).toEqual({
      ok: false,
      errors: [expect.stringMatching(/^local\/app@master:zuul\.yaml:3:14: Job bse not defined/)],
    });
  });

  test('--layout refuses pipelines that want more of a connection without proposals than reading', async () => {
    write(
      'gatehouse.conf',
      `[scheduler]\ntenant_config = tenants.yaml\nstate_dir = ${directory}/state\n[connection local]\ndriver = git\nbaseurl = ${directory}/repositories\n`,
    );
    const reporters =
      '    success:\n      local:\n        note: true\n    require:\n      local:\n        open: true\n';
    repository('config', PIPELINE + reporters + BASE);
    repository('app', '');
    expect(await check('--layout', '--json')).toBe(1);
    expect(JSON.parse(io.out()).errors).toEqual([
      expect.stringMatching(/zuul\.yaml:6:11: this connection only reads, and has no event "proposed": only/),
      expect.stringMatching(/zuul\.yaml:9:9: this connection only reads: nothing can be reported or merged/),
      expect.stringMatching(
        /zuul\.yaml:12:9: this connection only reads, and has no changes that could meet/,
      ),
    ]);
  });

  test('--layout names a project that cannot be read, once, and does not guess about its tenant', async () => {
    repository('app', '- project:\n    check:\n      jobs: [unit]\n');
    expect(await check('--layout')).toBe(1);
    expect(io.err()).toMatch(/^error: local\/config: .*repository.*\n$/);
  });
});
