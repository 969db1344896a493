/** The hook as git runs it: real pushes to a real repository, a real server that checks what arrives. */
import { execFileSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { chmod, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { installPostReceiveHook } from '../../../../drivers/git/install-hook.ts';
import { createWebhook } from '../../../../drivers/git/webhook.ts';
import { Secret } from '../../../../src/lib/secret.ts';
import { createGitRepository, type GitRepository, runGit } from '../../../fake/git-repository.ts';

const TOKEN = 'it\'s "s3cr\\et" $(id) %s';

interface Delivery {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let origin: GitRepository;
let clone: GitRepository;
let server: Server;
let url: string;
/** Gives each delivery once, in order. */
let nextDelivery: () => Promise<Delivery>;
/** Of the next request, then 202; null: none. */
let answer: number | null;

beforeEach(async () => {
  origin = await createGitRepository();
  clone = await createGitRepository();
  await clone.commit({ files: { a: '1' } });
  answer = 202;
  ({ server, url, nextDelivery } = await listen());
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise(resolve => server.close(resolve));
  await Promise.all([origin.remove(), clone.remove()]);
});

async function listen() {
  const received: Delivery[] = [];
  const stirred = new EventEmitter();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks) });
      stirred.emit('delivery');
      if (answer !== null) response.writeHead(answer).end();
      if (answer !== null) answer = 202;
    });
  });
  async function nextDelivery(): Promise<Delivery> {
    const first = received.shift();
    if (first !== undefined) return first;
    await once(stirred, 'delivery');
    return nextDelivery();
  }
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { server, nextDelivery, url: `http://127.0.0.1:${port}/api/connection/local/payload` };
}

const push = (environment: Readonly<Record<string, string>> = {}) =>
  runGit(clone.path, ['push', origin.path, 'main'], '', environment);

const openConnections = () => new Promise(resolve => server.getConnections((_, count) => resolve(count)));

/** A PATH with the tools the hook may use and no others. */
async function pathWith(...tools: readonly string[]): Promise<string> {
  const bin = join(clone.path, 'bin');
  await mkdir(bin, { recursive: true });
  for (const tool of ['git', 'sh', 'cat', 'cut', 'tr', 'od', 'date', 'sha256sum', ...tools]) {
    const path = execFileSync('/bin/sh', ['-c', `command -v ${tool} || true`])
      .toString()
      .trim();
    if (path !== '') await symlink(path, join(bin, tool));
    else if (tool === 'curl') await writeFile(join(bin, tool), CURL, { mode: 0o755 });
    else throw new Error(`this machine has no ${tool}`);
  }
  return bin;
}

/** As much of curl as the hook uses, where the machine has none. */
const CURL = `#!${process.execPath}
const words = process.argv.slice(2);
const lines = words.filter((_, index) => words[index - 1] === '--header').map(line => line.split(': '));
require('node:http').request(words.at(-1), { method: 'POST', headers: Object.fromEntries(lines) }).end(require('node:fs').readFileSync(0));
`;

describe('the post-receive hook', () => {
  test.each([
    ['bash', ['bash', 'timeout']],
    ['node', ['node']],
    ['curl', ['curl']],
  ])('sent by %s is taken by the webhook', async (_, tools) => {
    const installed = await installPostReceiveHook(origin.path, { url, token: TOKEN, project: 'acme/app' });
    expect(installed.kind).toBe('installed');
    await push({ PATH: await pathWith(...tools) });
    const { headers, body } = await nextDelivery();
    expect(await createWebhook(new Secret(TOKEN), 100).verify(headers, body)).toEqual({
      kind: 'accepted',
      event: {
        type: 'refs-changed',
        deliveryId: expect.stringMatching(/^delivery-\d+-\d+-[0-9a-f]{40}$/),
        payload: { project: 'acme/app' },
      },
    });
    expect(await createWebhook(new Secret('another'), 100).verify(headers, body)).toMatchObject({
      kind: 'refused',
      status: 401,
    });
  });

  test('is sent by node when the gate does not take what was signed at the installation', async () => {
    await installPostReceiveHook(origin.path, { url, token: 'old', project: 'acme/app' });
    await origin.git('config', 'gatehouse.token', TOKEN);
    answer = 401;
    await push({ PATH: await pathWith('bash', 'timeout', 'node') });
    await nextDelivery();
    const { headers, body } = await nextDelivery();
    expect(await createWebhook(new Secret(TOKEN), 100).verify(headers, body)).toMatchObject({
      kind: 'accepted',
    });
  });

  test('sent by curl takes a token longer than a block', async () => {
    const token = 'x'.repeat(100);
    await installPostReceiveHook(origin.path, { url, token, project: 'acme/app' });
    await push({ PATH: await pathWith('curl') });
    const { headers, body } = await nextDelivery();
    expect(await createWebhook(new Secret(token), 100).verify(headers, body)).toMatchObject({
      kind: 'accepted',
    });
  });

  test('does not delay the push when the gate does not answer', async () => {
    answer = null;
    await installPostReceiveHook(origin.path, { url, token: TOKEN, project: 'acme/app' });
    await push();
    await nextDelivery();
    // Still being waited for, by a process of its own.
    expect(await openConnections()).toBe(1);
    expect(await origin.tip('refs/heads/main')).toBe(await clone.tip('refs/heads/main'));
  });

  test.each([
    ['neither node nor curl exists', []],
    ['the gate is down', ['node']],
  ])('does not fail the push when %s', async (_, tools) => {
    await installPostReceiveHook(origin.path, {
      url: 'http://127.0.0.1:1/',
      token: TOKEN,
      project: 'acme/app',
    });
    await push({ PATH: await pathWith(...tools) });
    expect(await origin.tip('refs/heads/main')).toBe(await clone.tip('refs/heads/main'));
  });

  test('without its settings does nothing', async () => {
    await installPostReceiveHook(origin.path, { url, token: TOKEN, project: 'acme/app' });
    await origin.git('config', '--unset', 'include.path');
    await push();
    expect(await origin.tip('refs/heads/main')).toBe(await clone.tip('refs/heads/main'));
  });
});

describe('installing the hook', () => {
  test('may be repeated, and the last settings count', async () => {
    await installPostReceiveHook(origin.path, {
      url: 'http://127.0.0.1:1/',
      token: 'old',
      project: 'acme/old',
    });
    await installPostReceiveHook(origin.path, { url, token: new Secret(TOKEN), project: 'acme/app' });
    expect(await origin.git('config', '--get', 'gatehouse.token')).toBe(TOKEN);
    expect(await origin.git('config', '--get-all', 'include.path')).toBe('gatehouse.config');
    expect(await origin.git('config', '--get', 'gatehouse.project')).toBe('acme/app');
  });

  test('keeps the token from other users', async () => {
    await installPostReceiveHook(origin.path, { url, token: TOKEN, project: 'acme/app' });
    expect((await stat(join(origin.path, 'gatehouse.config'))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(origin.path, 'config'), 'utf8')).not.toContain('s3cr');
  });

  test('keeps another hook, and puts the script beside it for that one to call', async () => {
    const path = join(origin.path, 'hooks', 'post-receive');
    await mkdir(join(origin.path, 'hooks'), { recursive: true });
    await writeFile(path, '#!/bin/sh\necho mine\n');
    await chmod(path, 0o755);
    const settings = { url, token: TOKEN, project: 'acme/app' };
    const script = join(origin.path, 'hooks', 'gatehouse-post-receive');
    const beside = { kind: 'beside', path, script };
    expect(await installPostReceiveHook(origin.path, settings)).toEqual({ ...beside, called: false });
    expect(await readFile(path, 'utf8')).toBe('#!/bin/sh\necho mine\n');
    await writeFile(path, `#!/bin/sh\n${script} </dev/null\n`);
    expect(await installPostReceiveHook(origin.path, settings)).toEqual({ ...beside, called: true });
    await push();
    expect(JSON.parse((await nextDelivery()).body.toString())).toEqual({ project: 'acme/app' });
  });

  test.each([
    [{ url: 'file:///etc/passwd' }, 'URL'],
    [{ url: 'http://x/"\n[core]' }, 'URL'],
    [{ project: '../x' }, 'project name'],
    [{ token: 'two\nlines' }, 'token'],
  ])('refuses %j', async (wrong, text) => {
    const settings = { url, token: TOKEN, project: 'acme/app', ...wrong };
    await expect(installPostReceiveHook(origin.path, settings)).rejects.toThrow(text);
  });

  test('says when there is no repository', async () => {
    await expect(
      installPostReceiveHook('/nonexistent', { url, token: TOKEN, project: 'acme/app' }),
    ).rejects.toThrow('not a git repository');
  });
});
