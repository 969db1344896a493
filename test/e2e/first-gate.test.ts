/** A newcomer's first gate: the package installed in an empty directory, three commands, and a change that lands in a repository of their own. */
import { execFile, spawn } from 'node:child_process';
import { appendFile, cp, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRepository, git } from '../../src/cmd/quickstart/developer.ts';
import { freePort, startServiceProcess, waitUntilReady } from '../../src/cmd/quickstart/service-process.ts';
import { builtProgram } from '../setup/built-program.ts';
import { waitFor } from './cluster/wait-for.ts';
import { gitText, refsOf } from './landed.ts';

const LIMIT = 180_000;
const run = promisify(execFile);

let directory: string;
let installed: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-first-'));
  installed = await install(path.dirname(path.dirname(path.dirname(await builtProgram()))));
}, LIMIT);
afterAll(() => rm(directory, { recursive: true, force: true }));

const at = (...names: readonly string[]) => path.join(directory, ...names);

/** Packs the build and installs it where nothing else is, without a network. @returns the program on the PATH. */
async function install(build: string): Promise<string> {
  const offline = { cwd: at('home'), env: { ...process.env, npm_config_offline: 'true', HOME: at('home') } };
  await mkdir(at('home'));
  await run('npm', ['pack', '--silent', build, '--pack-destination', directory], offline);
  const [tarball = ''] = (await readdir(directory)).filter(name => name.endsWith('.tgz'));
  await run('npm', ['install', '--silent', '--no-audit', '--no-fund', at(tarball)], offline);
  return at('home/node_modules/.bin/gatehouse');
}

async function gatehouse(...args: readonly string[]): Promise<string> {
  const { stdout } = await run(process.execPath, [installed, ...args], { cwd: directory, env: environment });
  return stdout;
}

const environment = { PATH: process.env.PATH, HOME: '/nonexistent' };

test('init, hook install, push: the change lands', { timeout: LIMIT }, async () => {
  const app = at('git/acme/app.git');
  const clone = at('app');
  await createRepository(app, clone, [{ path: 'README.md', text: '# app\n' }]);
  const port = await freePort(0);
  const config = at('gate/gatehouse.conf');

  const made = await gatehouse('init', 'gate', '--repositories', 'git', '--port', String(port));
  expect(made).toContain(`gatehouse hook install ${app} -c ${config}\n`);
  // Where bubblewrap is missing its jobs would be refused, as they should be.
  await appendFile(config, '\n[executor]\nallow_unsandboxed = true\n');
  expect(await gatehouse('hook', 'install', app, '-c', config)).toMatch(/^installed {2}/);

  const log = at('gatehouse.log');
  const service = await startServiceProcess(config, log, environment, installed);
  try {
    await waitUntilReady(`http://127.0.0.1:${port}`, service, LIMIT);
    await cp(at('gate/example'), clone, { recursive: true });
    await git(clone, 'add', '--all');
    await git(clone, 'commit', '--quiet', '--message', 'Test every change');
    const push = [
      'push',
      '--quiet',
      'origin',
      'HEAD:refs/heads/for/master/first',
      'HEAD:refs/heads/gate/master/first',
    ];
    await git(clone, ...push);
    const proposed = await git(clone, 'rev-parse', 'HEAD');
    await waitFor('the proposal to land', async () =>
      [...(await refsOf(app)).keys()].every(ref => !/first$/.test(ref)),
    );

    expect(await gitText(app, 'show', '--no-patch', '--format=%s', 'master')).toBe(
      'Merge acme/app master/first',
    );
    expect(await gitText(app, 'rev-parse', 'master^2')).toBe(proposed);
    const note = () => gitText(app, 'notes', '--ref=gatehouse', 'show', proposed);
    expect(await waitFor('its note', async () => (await note()).includes('(gate)') && note())).toMatch(
      /app-unit-tests \S+ : SUCCESS/,
    );
  } catch (error) {
    throw new Error(`the log of the service:\n${await readFile(log, 'utf8')}`, { cause: error });
  } finally {
    await service.stop();
  }
  expect(await readFile(log, 'utf8')).not.toMatch(/"level":(50|60)/);
});

test('without words the program says what it can do, and its pages are there', async () => {
  const child = spawn(process.execPath, [installed], { env: environment, stdio: 'pipe' });
  const status = await new Promise(resolve => child.once('close', resolve));
  expect(status).toBe(2);
  expect(await gatehouse('--version')).toMatch(/^\d+\.\d+\.\d+/);
});
