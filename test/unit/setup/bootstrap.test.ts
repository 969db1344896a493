import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../../..');

/** What the `node` package does, without its download: its script puts the program of this machine in place. */
const INSTALL_NODE = `
  const fs = require('node:fs');
  fs.mkdirSync('bin', { recursive: true });
  fs.copyFileSync(process.execPath, 'bin/node');
`;

/** A project with this bootstrap script that pins a `node` package of its own. */
async function project(folder: string): Promise<void> {
  const node = path.join(folder, 'packed');
  await mkdir(node);
  await mkdir(path.join(folder, 'scripts'));
  const bin = { node: 'bin/node', 'install-node': 'installArchSpecificPackage.js' };
  await writeFile(path.join(node, 'installArchSpecificPackage.js'), INSTALL_NODE);
  for (const version of ['1.0.0', '1.0.1']) {
    await writeFile(path.join(node, 'package.json'), JSON.stringify({ name: 'node', version, bin }));
    await run('npm', ['pack', '--pack-destination', folder], { cwd: node });
  }
  await copyFile(path.join(root, 'scripts/bootstrap.mjs'), path.join(folder, 'scripts/bootstrap.mjs'));
  await release(folder, '1.0.0');
}

/** Another release pins another version of its package. */
async function release(folder: string, version: string): Promise<void> {
  const { engines, type } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8'));
  const scripts = { where: 'node scripts/bootstrap.mjs node -p process.execPath' };
  const dependencies = { node: `file:node-${version}.tgz` };
  const manifest = { name: 'sample', version, private: true, engines, type, scripts, dependencies };
  await writeFile(path.join(folder, 'package.json'), JSON.stringify(manifest));
  await run('npm', ['install', '--package-lock-only', '--offline'], { cwd: folder });
}

test('installs the packages of a new release although npm starts it on the pinned Node, and takes what npm installed by hand', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'gatehouse-bootstrap-'));
  try {
    await project(folder);
    const where = () => run('npm', ['run', '--silent', 'where'], { cwd: folder });
    const pinned = path.join(folder, 'node_modules/node/bin/node');
    expect((await where()).stdout.trim()).toBe(pinned);
    expect((await where()).stderr).toBe('');
    await release(folder, '1.0.1');
    const { stdout, stderr } = await where();
    expect(stderr).toContain('Installing the pinned packages (npm ci), once: 1 of them');
    expect(stdout.trim()).toBe(pinned);
    await run('npm', ['ci', '--ignore-scripts', '--offline'], { cwd: folder });
    const byHand = await where();
    expect(byHand.stderr).toBe('Fetching the pinned Node, once ...\n');
    expect(byHand.stdout.trim()).toBe(pinned);
  } finally {
    await rm(folder, { recursive: true });
  }
}, 60_000);
