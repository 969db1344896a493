/** `gatehouse start` in a process of its own, where something is missing: most of all ZooKeeper. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { builtProgram } from '../../setup/built-program.ts';

const MAIN = await builtProgram();
const LIMIT = 60_000;
let directory: string;
let started: ChildProcess[];

beforeEach(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'gatehouse-start-'));
  started = [];
});
afterEach(async () => {
  for (const child of started) child.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true });
});

/** A free port. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise(resolve => server.close(resolve));
  return typeof address === 'object' && address !== null ? address.port : 0;
}

async function start(settings: string, ...components: string[]) {
  const file = path.join(directory, 'gatehouse.conf');
  await writeFile(file, settings, { mode: 0o600 });
  const child = spawn(process.execPath, [MAIN, 'start', ...components, '-c', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  started.push(child);
  let err = '';
  child.stderr.on('data', (piece: Buffer) => {
    err += piece.toString();
  });
  const status = new Promise<number | string | null>(resolve =>
    child.once('close', (code, signal) => resolve(signal ?? code)),
  );
  return {
    child,
    status,
    err: () => err,
    said: (pattern: RegExp) => expect.poll(() => err, { timeout: LIMIT / 2 }).toMatch(pattern),
  };
}

async function without(zookeeper: { readonly port: number }, more = '') {
  const port = await freePort();
  const text = `[scheduler]
state_dir = ${directory}
[zookeeper]
hosts = 127.0.0.1:${zookeeper.port}
[web]
port = ${port}
[log]
format = pretty
${more}`;
  return { url: `http://127.0.0.1:${port}`, text };
}

test('a part of the service needs an ensemble: the embedded store serves one process', {
  timeout: LIMIT,
}, async () => {
  const run = await start('[scheduler]\ntenant_config = t.yaml\n', 'merger', 'web');
  expect(await run.status).toBe(1);
  expect(run.err()).toContain('leave out the names (missing: scheduler, executor), or set [zookeeper] hosts');
  expect(run.err()).toContain('1 error; nothing was started.');
});

test('a worker waits for ZooKeeper, says so, and ends on SIGTERM', { timeout: LIMIT }, async () => {
  const { text } = await without({ port: await freePort() });
  const run = await start(text, 'merger', 'executor');
  await run.said(/merger waits for ZooKeeper at 127\.0\.0\.1:\d+, which does not answer yet/);
  await run.said(/executor waits for ZooKeeper/);
  run.child.kill('SIGTERM');
  expect(await run.status).toBe(0);
});

test('a web serves while it waits for ZooKeeper, and says what it waits for', {
  timeout: LIMIT,
}, async () => {
  const { text, url } = await without({ port: await freePort() });
  const run = await start(text, 'web');
  await run.said(/Gatehouse serves/);
  const ready = await fetch(`${url}/health/ready`);
  expect(ready.status).toBe(503);
  expect(await ready.json()).toEqual({
    status: 'not ready',
    components: [
      {
        component: 'web',
        ready: false,
        reason: expect.stringMatching(/^waiting for ZooKeeper at 127\.0\.0\.1:\d+$/),
      },
    ],
  });
  expect((await fetch(`${url}/api/tenants`)).status).toBe(503);
  run.child.kill('SIGINT');
  expect(await run.status).toBe(0);
});

test('a scheduler needs a tenant file, before anything is opened', { timeout: LIMIT }, async () => {
  const { text } = await without({ port: await freePort() });
  const run = await start(text, 'scheduler');
  expect(await run.status).toBe(1);
  expect(run.err()).toContain('[scheduler] tenant_config: missing; schedulers require it');
});

test('missing TLS files are reported with their location', { timeout: LIMIT }, async () => {
  const tls = '[executor]\nsandbox = none\n';
  const { text } = await without({ port: await freePort() }, tls);
  const withTls = text.replace('[web]', 'tls_cert = c.pem\ntls_key = k.pem\ntls_ca = ca.pem\n[web]');
  const run = await start(withTls, 'executor');
  expect(await run.status).toBe(1);
  expect(run.err()).toMatch(
    /gatehouse\.conf:7: \[zookeeper\] tls_ca: .*ca\.pem cannot be read \(there is no such file\)/,
  );
  expect(run.err()).toContain('3 errors; nothing was started.');
});

test('a port that is taken ends the start', { timeout: LIMIT }, async () => {
  const { text, url } = await without({ port: await freePort() });
  const taken = createServer();
  await new Promise<void>(resolve => taken.listen(Number(new URL(url).port), '127.0.0.1', resolve));
  const run = await start(text, 'web');
  expect(await run.status).toBe(1);
  expect(run.err()).toContain('is in use by another program');
  await new Promise(resolve => taken.close(resolve));
});
