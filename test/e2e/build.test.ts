/** The program as `npm run build` makes it, in a folder of its own: without the sources and without packages. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { prepareSite } from '../../src/cmd/quickstart/prepare-site.ts';
import { freePort, startServiceProcess, waitUntilReady } from '../../src/cmd/quickstart/service-process.ts';
import { pageFiles } from '../../src/web/page-files.ts';
import { builtProgram } from '../setup/built-program.ts';

const LIMIT = 90_000;
const BUILD = path.resolve(await builtProgram(), '../../..');

test('the build is for all users, and has the programs of the containers', async () => {
  expect((await stat(BUILD)).mode & 0o777).toBe(0o755);
  const site = path.join(BUILD, 'src/cmd/quickstart/container-site.js');
  const { stdout } = await promisify(execFile)(process.execPath, [site, '--help']);
  expect(stdout).toMatch(/prepare[\s\S]*demo/);
});

test('a service from a build serves the page as the sources do', { timeout: 2 * LIMIT }, async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-build-'));
  const logFile = path.join(directory, 'gatehouse.log');
  try {
    const program = path.join(directory, 'program');
    await cp(BUILD, program, { recursive: true });
    const site = await prepareSite({
      directory: path.join(directory, 'site'),
      port: await freePort(0),
      token: 'token of the build',
      logLevel: 'info',
    });
    const service = await startServiceProcess(
      site.config,
      logFile,
      { PATH: process.env.PATH },
      path.join(program, 'src/cmd/main.js'),
    );
    try {
      await waitUntilReady(site.url, service, LIMIT);
      for (const [name, { text }] of await pageFiles()) {
        const response = await fetch(`${site.url}/page/${name}`);
        expect([name, response.status, await response.text()]).toEqual([name, 200, text]);
      }
    } finally {
      await service.stop();
    }
    expect(await readFile(logFile, 'utf8')).not.toMatch(/"level":(40|50|60)/);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
