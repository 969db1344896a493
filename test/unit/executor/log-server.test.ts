/** Logs from another machine: a real server, the real client. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fetchLog } from '../../../src/executor/log-client.ts';
import { completeMarkOf, logPathOf } from '../../../src/executor/log-file.ts';
import { type LogServer, startLogServer } from '../../../src/executor/log-server.ts';
import { derivedUuid } from '../../../src/lib/ids.ts';
import { Secret } from '../../../src/lib/secret.ts';

const BUILD = derivedUuid('build');
const log = { warn: () => undefined };
let folder: string;
const servers: LogServer[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gatehouse-logs-'));
});
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
  await rm(folder, { recursive: true, force: true });
});

async function start(secret?: string): Promise<LogServer> {
  const server = await startLogServer({
    logDir: folder,
    listenAddress: '127.0.0.1',
    port: 0,
    secret: secret === undefined ? undefined : new Secret(secret),
    host: 'ci1',
    log,
  });
  servers.push(server);
  return server;
}

async function write(text: string, complete = false): Promise<void> {
  const path = logPathOf(folder, BUILD);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  if (complete) await writeFile(completeMarkOf(path), '');
}

const read = (server: LogServer, offset: number, limit: number, secret?: string) =>
  fetchLog(
    { address: server.address, secret: secret === undefined ? undefined : new Secret(secret) },
    BUILD,
    offset,
    limit,
    AbortSignal.timeout(10_000),
  );

describe('the log server of an executor', () => {
  it('gives pieces by offset until the log is complete', async () => {
    const server = await start();
    expect(await read(server, 0, 100)).toBeUndefined();
    await write('one\ntwo\n');
    expect(await read(server, 0, 4)).toEqual({ bytes: Buffer.from('one\n'), next: 4, complete: false });
    expect(await read(server, 4, 100)).toEqual({ bytes: Buffer.from('two\n'), next: 8, complete: false });
    await write('one\ntwo\nend\n', true);
    expect(await read(server, 8, 100)).toEqual({ bytes: Buffer.from('end\n'), next: 12, complete: true });
    expect(await read(server, 900, 100)).toMatchObject({ bytes: Buffer.from(''), next: 12 });
  });

  it('gives nothing without the token of exactly this build', async () => {
    await write('secret progress\n', true);
    const server = await start('a shared secret');
    expect((await read(server, 0, 100, 'a shared secret'))?.bytes.toString()).toBe('secret progress\n');
    await expect(read(server, 0, 100)).rejects.toThrow(
      'answered 401: the authorization is not one of this build',
    );
    await expect(read(server, 0, 100, 'another')).rejects.toThrow('answered 401');
  });

  it('never sends more than 1 MiB at once', async () => {
    await write('x'.repeat(1_500_000));
    const part = await read(await start(), 0, 5_000_000);
    expect(part?.next).toBe(1_048_576);
  });

  it.each([
    ['POST', `/logs/${BUILD}`, 405],
    ['GET', '/logs/../../etc/passwd', 404],
    ['GET', `/logs/${BUILD}/..%2f..%2fetc%2fpasswd`, 404],
    ['GET', '/logs/', 404],
    ['GET', `/logs/${BUILD.toUpperCase()}`, 404],
    ['GET', `/logs/${BUILD}?offset=-1`, 400],
    ['GET', `/logs/${BUILD}?limit=1e9`, 400],
  ])('refuses %s %s with %i', async (method, path, status) => {
    await write('log\n');
    const { address } = await start();
    const response = await fetch(address + path, { method });
    expect(response.status).toBe(status);
    expect((await response.text()).trim()).not.toBe('');
  });

  it('follows no link a job may have made', async () => {
    await writeFile(join(folder, 'elsewhere'), 'not a log\n');
    const path = logPathOf(folder, BUILD);
    await mkdir(dirname(path), { recursive: true });
    await symlink(join(folder, 'elsewhere'), path);
    const { address } = await start();
    const response = await fetch(`${address}/logs/${BUILD}`);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('not a log');
  });

  it('frees its port when it closes, even with connections open', async () => {
    await write('log\n');
    const server = await start();
    await (await fetch(`${server.address}/logs/${BUILD}`)).text();
    await server.close();
    await expect(fetch(`${server.address}/logs/${BUILD}`)).rejects.toThrow();
    await server.close();
  });

  it('says which setting is wrong when it cannot listen', async () => {
    const { address } = await start();
    const port = Number(new URL(address).port);
    await expect(
      startLogServer({
        logDir: folder,
        listenAddress: '127.0.0.1',
        port,
        secret: undefined,
        host: 'ci1',
        log,
      }),
    ).rejects.toThrow(
      `[executor] log_listen_address and log_port: cannot listen on 127.0.0.1 port ${port}: `,
    );
  });
});
