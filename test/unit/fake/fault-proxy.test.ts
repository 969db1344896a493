/** The proxy itself, before other tests rely on it. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FaultProxy, startFaultProxy } from '../../fake/fault-proxy.ts';

/** Answers each line with `re: <line>`; says goodbye when the client has finished. */
let server: ReturnType<typeof createServer>;
let heard: string[];
let proxy: FaultProxy;

beforeEach(async () => {
  heard = [];
  server = createServer({ allowHalfOpen: true }, socket => {
    socket.setEncoding('utf8').on('data', (line: string) => {
      heard.push(line);
      socket.write(`re: ${line}`);
    });
    socket.on('end', () => socket.end('bye')).on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  proxy = await startFaultProxy({ port: typeof address === 'object' && address !== null ? address.port : 0 });
});

afterEach(async () => {
  await proxy[Symbol.asyncDispose]();
  server.close();
});

async function client(): Promise<Socket> {
  const socket = connect(proxy.port, '127.0.0.1');
  socket.setEncoding('utf8').on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

async function answer(socket: Socket, line: string): Promise<string> {
  socket.write(line);
  const [data] = await once(socket, 'data');
  return data;
}

/** Also by a reset. */
async function ended(socket: Socket): Promise<void> {
  await new Promise<void>(resolve => socket.once('close', () => resolve()));
}

/** True when nothing comes for a while. */
async function silent(socket: Socket): Promise<boolean> {
  return await Promise.race([once(socket, 'data').then(() => false), pause(60).then(() => true)]);
}

test('it passes both ways, and the end, without losing what was said last', async () => {
  const socket = await client();
  expect(await answer(socket, 'a')).toBe('re: a');
  socket.end('b');
  expect(await text(socket)).toBe('re: bbye');
  await expect.poll(() => proxy.live).toBe(0);
  expect(proxy.counters).toMatchObject({ connections: 1, toServer: 2, dropped: 0 });
});

test('a delay holds each piece for its time, in order', async () => {
  const socket = await client();
  proxy.setToClient({ kind: 'delay', ms: 80 });
  const start = performance.now();
  expect(await answer(socket, 'a')).toBe('re: a');
  expect(performance.now() - start).toBeGreaterThan(75);
});

test('what hangs is delivered when it passes again', async () => {
  const socket = await client();
  proxy.set({ kind: 'hang' });
  socket.write('a');
  expect(await silent(socket)).toBe(true);
  expect(heard).toEqual([]);
  const answered = once(socket, 'data');
  proxy.set({ kind: 'pass' });
  expect(await answered).toEqual(['re: a']);
});

test('with replies dropped the server hears and the client does not, until the connection is reset', async () => {
  const socket = await client();
  const dropped = proxy.nextDrop();
  proxy.set({ kind: 'dropReplies' });
  socket.write('a');
  await dropped;
  expect(heard).toEqual(['a']);
  expect(await silent(socket)).toBe(true);
  const closed = ended(socket);
  proxy.set({ kind: 'pass' });
  await closed;
  expect(await answer(await client(), 'b')).toBe('re: b');
});

test('with requests dropped the server hears neither words nor the end', async () => {
  const socket = await client();
  expect(await answer(socket, 'a')).toBe('re: a');
  proxy.set({ kind: 'dropRequests' });
  const dropped = proxy.nextDrop();
  socket.end('b');
  await dropped;
  expect(await silent(socket)).toBe(true);
  expect(heard).toEqual(['a']);
  expect(proxy.live).toBe(1);
});

test.each(['reset', 'refuse'] as const)('%s ends what is live and keeps new connections out', async kind => {
  const socket = await client();
  const closed = ended(socket);
  proxy.set({ kind });
  await closed;
  const second = connect(proxy.port, '127.0.0.1');
  const [error] = await once(second, 'error');
  expect(error.code).toBe(kind === 'refuse' ? 'ECONNREFUSED' : 'ECONNRESET');
  proxy.set({ kind: 'pass' });
  expect(await answer(await client(), 'b')).toBe('re: b');
});

test('a limit cuts in the middle', async () => {
  const socket = await client();
  proxy.setToClient({ kind: 'limitBytes', bytes: 3 });
  const closed = ended(socket);
  expect(await answer(socket, 'a')).toBe('re:');
  await closed;
  expect(heard).toEqual(['a']);
});
