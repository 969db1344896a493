import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fetchFrom } from '../../../src/cmd/client/endpoint.ts';
import { listenLocally, SocketPathError } from '../../../src/web/local-socket.ts';

let directory: string;
let socket: string;
const closing: (() => Promise<void>)[] = [];

beforeEach(() => {
  directory = mkdtempSync(path.join(tmpdir(), 'gatehouse-door-'));
  socket = path.join(directory, 'state', 'gatehouse.sock');
});
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
  rmSync(directory, { recursive: true });
});

function serverSaying(text: string) {
  const server = createServer((_request, response) => response.end(text));
  closing.push(async () => {
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });
  return server;
}

async function ask(): Promise<string> {
  const signal = AbortSignal.timeout(30_000);
  return (await fetchFrom({ kind: 'socket', path: socket }, '/', { headers: {}, signal })).text();
}

test('a socket is open to its owner alone, with any umask, and leaves nothing beside it', async () => {
  const before = process.umask(0);
  try {
    await listenLocally(serverSaying('here'), socket);
  } finally {
    process.umask(before);
  }
  expect(statSync(socket).mode & 0o777).toBe(0o600);
  expect(readdirSync(path.dirname(socket))).toEqual(['gatehouse.sock']);
  expect(await ask()).toBe('here');
});

test('a socket that a killed process left behind is replaced', async () => {
  const script = `require('node:net').createServer().listen(process.argv[1], () => console.log('on'))`;
  await listenLocally(serverSaying('makes the directory'), path.join(directory, 'state', 'other.sock'));
  const child = spawn(process.execPath, ['-e', script, socket], { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(statSync(socket).isSocket()).toBe(true);

  expect(await listenLocally(serverSaying('anew'), socket)).not.toBe('taken');
  expect(await ask()).toBe('anew');
});

test('the socket of a process that answers is left alone, also by who never had it', async () => {
  const first = await listenLocally(serverSaying('first'), socket);
  expect(await listenLocally(serverSaying('second'), socket)).toBe('taken');
  expect(await ask()).toBe('first');

  // Taken over by force: the first one's end does not remove the socket of the other.
  rmSync(socket);
  await listenLocally(serverSaying('third'), socket);
  if (first !== 'taken') await first.remove();
  expect(await ask()).toBe('third');
});

test('it is gone when its server is', async () => {
  const door = await listenLocally(serverSaying('here'), socket);
  if (door !== 'taken') await door.remove();
  expect(readdirSync(path.dirname(socket))).toEqual([]);
});

test('what is no socket is not removed', async () => {
  socket = path.join(directory, 'notes.txt');
  writeFileSync(socket, 'mine\n');
  await expect(listenLocally(serverSaying('here'), socket)).rejects.toThrow(SocketPathError);
  expect(statSync(socket).size).toBe(5);
});
