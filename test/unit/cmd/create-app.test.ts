/** `gatehouse github create-app` between a browser and a GitHub that answers the end of the manifest flow. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { APP_PERMISSIONS } from '../../../drivers/github/permissions.ts';
import { runProgram } from '../../../src/cmd/commands/program.ts';
import { NOW, recordingIo } from './fixture.ts';

const PEM = '-----BEGIN RSA PRIVATE KEY-----\nnot a real key\n-----END RSA PRIVATE KEY-----\n';
const CODE = 'a-code-of-one-hour';

let directory: string;
let github: Server;
let conversions: string[];
let answers: (readonly [status: number, body: object])[];

beforeEach(async () => {
  directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-app-'));
  conversions = [];
  answers = [];
  github = createServer((request, response) => {
    conversions.push(`${request.method} ${request.url}`);
    const [status, body] = answers.shift() ?? [404, { message: 'Not Found' }];
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }).listen(0, '127.0.0.1');
  await once(github, 'listening');
});
afterEach(() => {
  github.close();
  rmSync(directory, { recursive: true });
});

const created = () => ({
  id: 4242,
  slug: 'gatehouse-acme',
  node_id: 'A_1',
  owner: { login: 'acme' },
  name: 'Gatehouse acme',
  description: null,
  external_url: 'https://gate.example.org/',
  html_url: 'https://github.example.org/apps/gatehouse-acme',
  created_at: new Date(NOW).toISOString(),
  updated_at: new Date(NOW).toISOString(),
  permissions: {},
  events: [],
  client_id: 'Iv1.1',
  client_secret: 'not kept',
  webhook_secret: 'a webhook secret',
  pem: PEM,
});

/** Runs the command up to the point where it waits for the browser. */
async function started(...args: readonly string[]) {
  const stop = new AbortController();
  const io = { ...recordingIo(), interrupted: () => stop.signal };
  const opened = Promise.withResolvers<string>();
  const { write } = io.stdout;
  io.stdout.write = text => {
    write(text);
    const address = /http:\/\/127\.0\.0\.1:\d+\//.exec(text)?.[0];
    if (address !== undefined) opened.resolve(address);
  };
  const server = `127.0.0.1:${(github.address() as AddressInfo).port}`;
  const status = runProgram(
    [
      'github',
      'create-app',
      '--webhook-url',
      'https://gate.example.org',
      '--server',
      server,
      '--directory',
      directory,
      ...args,
    ],
    io,
  );
  const address = await Promise.race([opened.promise, status.then(() => '')]);
  return { io, status, address, stop: () => stop.abort() };
}

/** The form of the page, as a browser would send it. */
async function formOf(address: string) {
  const response = await fetch(address);
  const html = await response.text();
  const attribute = (pattern: RegExp) =>
    (pattern.exec(html)?.[1] ?? '')
      .replaceAll('&quot;', '"')
      .replaceAll('&#39;', "'")
      .replaceAll('&amp;', '&');
  return {
    policy: response.headers.get('content-security-policy') ?? '',
    action: new URL(attribute(/action="([^"]*)"/)),
    manifest: JSON.parse(attribute(/name="manifest" value="([^"]*)"/)),
  };
}

test('creates an App with the permissions of the driver and keeps its secrets in files of their own', async () => {
  const { io, status, address } = await started('--organization', 'acme', '--connection', 'hub');
  const { action, manifest, policy } = await formOf(address);
  expect(action.pathname).toBe('/organizations/acme/settings/apps/new');
  expect(policy).toContain(`form-action ${action.origin};`);
  expect(manifest).toMatchObject({
    name: 'gatehouse',
    public: false,
    redirect_url: `${address}created`,
    hook_attributes: { url: 'https://gate.example.org/api/connection/hub/payload', active: true },
  });
  expect(manifest.default_permissions).toEqual(
    Object.fromEntries(APP_PERMISSIONS.map(({ name, level }) => [name, level])),
  );
  answers = [[201, created()]];
  const page = await fetch(`${address}created?code=${CODE}&state=${action.searchParams.get('state')}`);
  expect(await page.text()).toContain('https://github.example.org/apps/gatehouse-acme/installations/new');
  expect(await status).toBe(0);
  expect(conversions).toEqual([`POST /api/v3/app-manifests/${CODE}/conversions`]);
  const key = path.join(directory, 'hub.pem');
  const token = path.join(directory, 'hub.webhook-token');
  expect(readFileSync(key, 'utf8')).toBe(PEM);
  expect(readFileSync(token, 'utf8')).toBe('a webhook secret\n');
  expect([key, token].map(file => statSync(file).mode & 0o777)).toEqual([0o600, 0o600]);
  expect(io.out()).toContain(`[connection hub]\ndriver = github`);
  expect(io.out()).toContain(`app_id = 4242\napp_key = ${key}`);
  expect(io.out() + io.err()).not.toMatch(/not a real key|a webhook secret|not kept/);
});

test('a code with the state of another run is not exchanged', async () => {
  const { status, address, stop } = await started();
  const page = await fetch(`${address}created?code=${CODE}&state=${'x'.repeat(32)}`);
  expect(page.status).toBe(400);
  expect(conversions).toEqual([]);
  stop();
  expect(await status).toBe(130);
});

test('a code that GitHub refuses is reported without the code, and can be tried again', async () => {
  const { status, address, stop, io } = await started();
  const { action } = await formOf(address);
  const back = `${address}created?code=${CODE}&state=${action.searchParams.get('state')}`;
  const page = await fetch(back);
  expect(page.status).toBe(502);
  const html = await page.text();
  expect(html).toContain('Not Found');
  expect(html).not.toContain(CODE);
  for (let tries = 2; tries <= 5; tries += 1) await fetch(back);
  expect(await status).toBe(1);
  expect(io.err()).toMatch(/^error: GitHub did not hand over the App: Not Found/);
  stop();
});

test('a key that exists is not overwritten', async () => {
  const { io, status, address } = await started('--connection', 'github');
  const { action } = await formOf(address);
  answers = [[201, created()]];
  await fetch(`${address}created?code=${CODE}&state=${action.searchParams.get('state')}`);
  expect(await status).toBe(0);
  expect(io.err()).toBe('');
  const again = await started('--connection', 'github');
  expect(await again.status).toBe(1);
  expect(again.io.err()).toContain('github.pem exists');
});

test('a directory that is missing is made before GitHub creates anything', async () => {
  const below = path.join(directory, 'etc', 'gatehouse');
  const { status, address, stop } = await started('--directory', below);
  expect(address).not.toBe('');
  expect(statSync(below).isDirectory()).toBe(true);
  stop();
  expect(await status).toBe(130);
});

test('a directory that cannot be made ends the command before GitHub creates anything', async () => {
  const { io, status, address } = await started('--directory', path.join('/dev/null', 'etc'));
  expect(address).toBe('');
  expect(await status).toBe(1);
  expect(io.err()).toMatch(/^error: .*\/dev\/null/);
});
