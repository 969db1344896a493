/** The real command line in a process of its own, against a real HTTP server. */

import { spawn } from 'node:child_process';
import { expect, test } from 'vitest';
import { compileCacheVariable } from '../../../src/lib/compile-cache.ts';
import { builtProgram } from '../../setup/built-program.ts';
import { type CannedService, cannedService } from './canned-service.ts';
import { gateView, item, NOW, running } from './fixture.ts';

const MAIN = await builtProgram();
const LIMIT = 60_000;

interface Ended {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

interface Running {
  readonly ended: Promise<Ended>;
  readonly out: () => string;
  interrupt(): void;
}

function start(url: string, ...args: string[]): Running {
  const environment = {
    PATH: process.env.PATH,
    GATEHOUSE_URL: url,
    COLUMNS: '90',
    ...compileCacheVariable(),
  };
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout.on('data', (piece: Buffer) => {
    out += piece.toString();
  });
  child.stderr.on('data', (piece: Buffer) => {
    err += piece.toString();
  });
  const ended = new Promise<Ended>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', status => resolve({ status, out, err }));
  });
  return { ended, out: () => out, interrupt: () => child.kill('SIGINT') };
}

function sendGate(service: CannedService, ...items: ReturnType<typeof item>[]): void {
  const view = gateView(items);
  const documents = Object.fromEntries([
    ...view.pipelines.map(each => [`pipeline/${each.name}`, each]),
    ...items.map(each => [`item/${each.uuid}`, each]),
  ]);
  service.send({ tenant: view.tenant, ...documents }, NOW);
}

test('the status is printed without colours to a pipe', { timeout: LIMIT }, async () => {
  await using service = await cannedService();
  service.answer('/api/tenants', [{ name: 'acme' }]);
  sendGate(service, item('1', 'acme/app master/login', { jobs: [running('unit', 12_000)] }));
  const { status, out, err } = await start(service.url, 'status').ended;
  expect({ status, err }).toEqual({ status: 0, err: '' });
  expect(out).toContain('  1 ● acme/app master/login,11111111');
  expect(out).not.toContain('\u001b');
});

test('a watched status follows every change until it is interrupted', { timeout: LIMIT }, async () => {
  await using service = await cannedService();
  service.answer('/api/tenants', [{ name: 'acme' }]);
  sendGate(service);
  const watching = start(service.url, 'status', '--watch', '--json');
  await expect.poll(() => watching.out(), { timeout: LIMIT / 2 }).toMatch(/\n$/);
  sendGate(service, item('1', 'acme/app master/login'));
  await expect.poll(() => watching.out().trim().split('\n').length, { timeout: LIMIT / 2 }).toBe(2);
  watching.interrupt();
  const { status, out } = await watching.ended;
  expect(status).toBe(0);
  expect(
    out
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).items.length),
  ).toEqual([0, 1]);
});

test('a service that does not run is one line and status 1', { timeout: LIMIT }, async () => {
  const gone = await cannedService();
  await gone[Symbol.asyncDispose]();
  const { status, out, err } = await start(gone.url, 'explain', 'abcdef').ended;
  expect({ status, out, lines: err.trim().split('\n').length }).toEqual({ status: 1, out: '', lines: 1 });
});
