/** `gatehouse init` and `gatehouse hook install`: what they make, what they keep, and what they refuse. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { unitText } from '../../../src/cmd/init/first-files.ts';
import { hookUrl } from '../../../src/cmd/init/hook-url.ts';
import { projectsAt } from '../../../src/cmd/init/project-of-path.ts';
import { recordingIo } from './fixture.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(path.join(tmpdir(), 'gatehouse-init-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const at = (...names: readonly string[]) => path.join(root, ...names);

function bare(name: string): void {
  execFileSync('git', ['init', '--quiet', '--bare', at('git', name)]);
}

async function gatehouse(...args: readonly string[]) {
  const io = recordingIo({ PATH: process.env.PATH });
  const status = await runProgram(args, io);
  return { status, out: io.out(), err: io.err().replace(/^warning: bubblewrap .*\n/m, '') };
}

const init = (...args: readonly string[]) =>
  gatehouse('init', at('site'), '--repositories', at('git'), ...args);
const config = () => at('site', 'gatehouse.conf');

test('makes a configuration without mistakes for the repositories that are there, and hooks each once', async () => {
  bare('acme/app.git');
  bare('library.git');
  const made = await init('--tenant', 'acme', '--config-project', 'acme/config', '--port', '9123');
  expect(made).toMatchObject({ status: 0, err: '' });
  expect(made.out).toContain(`gatehouse hook install ${at('git/acme/app.git')} -c ${config()}\n`);
  expect(made.out).toContain('http://127.0.0.1:9123/');
  expect(statSync(config()).mode & 0o777).toBe(0o600);
  expect(readFileSync(at('site/gatehouse.service'), 'utf8')).toContain(`start -c ${config()}\n`);
  expect(readFileSync(at('git/acme/config.git/gatehouse.config'), 'utf8')).toContain('acme/config');

  const checked = await gatehouse('config-check', '--layout', '-c', config());
  expect(checked).toMatchObject({ status: 0, err: '' });
  expect(checked.out).toMatch(/acme\/app[\s\S]*library/);

  const install = () => gatehouse('hook', 'install', at('git/acme/app.git'), '-c', config());
  const hook = at('git/acme/app.git/hooks/post-receive');
  const about =
    'notifies acme/app of connection local at http://127.0.0.1:9123/api/connection/local/payload\n';
  expect(await install()).toEqual({ status: 0, out: `installed  ${hook}: ${about}`, err: '' });
  expect(await install()).toEqual({ status: 0, out: `unchanged  ${hook}: ${about}`, err: '' });
});

test('keeps a hook that is there, and says how that one calls ours', async () => {
  await init();
  bare('app.git');
  const hook = at('git/app.git/hooks/post-receive');
  writeFileSync(hook, '#!/bin/sh\necho mine\n');
  const first = await gatehouse('hook', 'install', at('git/app.git'), '-c', config());
  const line = `${at('git/app.git/hooks/gatehouse-post-receive')} </dev/null`;
  expect(first.status).toBe(1);
  expect(first.out).toContain(`add this line to it:\n\n  ${line}\n`);
  expect(first.err).toContain(
    `no tenant has app: add "- app" to untrusted-projects of local in ${at('site/tenants.yaml')}`,
  );
  writeFileSync(hook, `#!/bin/sh\necho mine\n${line}\n`);
  const second = await gatehouse('hook', 'install', at('git/app.git'), '-c', config());
  expect(second).toMatchObject({ status: 0, out: expect.stringContaining('which calls it') });
});

test('refuses what is in the way, and then has made nothing', async () => {
  mkdirSync(at('site'));
  writeFileSync(at('site/mine'), '');
  expect(await init()).toMatchObject({ status: 1, err: expect.stringContaining('is not empty') });
  expect(readdirSync(root)).toEqual(['site']);
  rmSync(at('site'), { recursive: true });
  bare('config.git');
  expect(await init()).toMatchObject({ status: 1, err: expect.stringContaining('--config-project') });
  expect(await init('--config-project', '../x')).toMatchObject({ status: 1 });
  expect(await init('--tenant', 'a b')).toMatchObject({ status: 1 });
  expect(readdirSync(root)).toEqual(['git']);
  expect(await gatehouse('init', at('git', 'config.git', 'HEAD', 'below'))).toMatchObject({ status: 1 });
});

test('a hook is refused for a repository of no connection, or of one without a token', async () => {
  await init();
  execFileSync('git', ['init', '--quiet', '--bare', at('elsewhere.git')]);
  const install = (...args: readonly string[]) =>
    gatehouse('hook', 'install', at('elsewhere.git'), '-c', config(), ...args);
  expect(await install()).toMatchObject({ status: 1, err: expect.stringContaining('not below the baseurl') });
  expect(await install('--connection', 'other')).toMatchObject({
    status: 1,
    err: expect.stringContaining('no such connection'),
  });
  expect(await install('--project', 'far/away')).toMatchObject({
    status: 0,
    out: expect.stringContaining('notifies far/away'),
  });
  writeFileSync(config(), readFileSync(config(), 'utf8').replace(/^webhook_token.*$/m, ''));
  expect(await install('--project', 'far/away')).toMatchObject({
    status: 1,
    err: expect.stringContaining('no webhook_token'),
  });
});

test.each([
  ['/srv/git/acme/app.git', '/srv/git', 'acme/app'],
  ['/srv/git/acme/app', 'file:///srv/git/', 'acme/app'],
  ['/srv/git/acme/app.git', '/srv/git/{project}.git', 'acme/app'],
  ['/srv/github/app', '/srv/git', undefined],
  ['/srv/git', '/srv/git', undefined],
  ['/srv/git/app', 'ssh://git@git.example.org', undefined],
])('%s below %s is project %s', (repository, baseurl, project) => {
  const expected = project === undefined ? [] : [{ connection: 'local', project }];
  expect(projectsAt(repository, [{ connection: 'local', baseurl }])).toEqual(expected);
});

test('a hook asks this machine where the web listens on every interface', () => {
  expect(hookUrl({ listenAddress: '0.0.0.0', port: 9000 }, 'local')).toBe(
    'http://127.0.0.1:9000/api/connection/local/payload',
  );
  expect(hookUrl({ listenAddress: '::', port: 80 }, 'a b')).toBe(
    'http://[::1]:80/api/connection/a%20b/payload',
  );
});

test('a unit starts paths with blanks, percent signs and dollars as they are', () => {
  const text = unitText({ command: ['/opt/my node', '/p%s/$x'], config: '/etc/g.conf', user: 'git' });
  expect(text).toContain('\nExecStart="/opt/my node" /p%%s/$$x start -c /etc/g.conf\n');
});
