/** Zuul's WebSocket, as its clients use it. */
import { connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { OPEN_ACCESS } from '../../../src/model/authorization.ts';
import { sharedRealm, token } from './auth/realms.ts';
import { type FakeWeb, fakeWeb } from './fake-web.ts';
import { uuidOf } from './sample-item.ts';

let web: FakeWeb;
const sockets: WebSocket[] = [];
beforeEach(async () => {
  web = await fakeWeb({ realms: [sharedRealm()] });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.terminate();
  await web.close();
});

/** In place of the one that every test gets. */
async function openWeb(options: Parameters<typeof fakeWeb>[0]): Promise<void> {
  await web.close();
  web = await fakeWeb(options);
}

interface Console {
  readonly socket: WebSocket;
  /** All text so far. */
  text(): string;
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  /** Resolves when the text holds this. */
  holds(text: string): Promise<void>;
}

async function open(tenant = 'main'): Promise<Console> {
  const socket = new WebSocket(`${web.url.replace('http', 'ws')}/api/tenant/${tenant}/console-stream`);
  sockets.push(socket);
  let text = '';
  const waiting: (() => void)[] = [];
  socket.on('message', (data, isBinary) => {
    expect(isBinary).toBe(false);
    text += String(data);
    for (const wake of waiting.splice(0)) wake();
  });
  const closed = new Promise<{ code: number; reason: string }>(resolve =>
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
  );
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return {
    socket,
    text: () => text,
    closed,
    async holds(wanted) {
      while (!text.includes(wanted)) await new Promise<void>(resolve => waiting.push(resolve));
    },
  };
}

const ask = async (request: unknown, tenant?: string) => {
  const stream = await open(tenant);
  stream.socket.send(typeof request === 'string' ? request : JSON.stringify(request));
  return stream;
};
const uuid = uuidOf('retry-budget', 'build', '1', 'integration', '2');
const waiting = uuidOf('fix-typo', 'build', '2', 'lint', '1');
const wanted = { uuid, logfile: 'console.log' };

describe('a console stream', () => {
  test('sends the log from its beginning, what is added while it is open, and says that it is over', async () => {
    web.logs.set(uuid, { text: '… | größer\n', complete: false });
    const stream = await ask(wanted);
    await stream.holds('größer\n');
    web.logs.set(uuid, { text: '… | größer\n… | more\n', complete: true });
    expect(await stream.closed).toEqual({ code: 1000, reason: 'No more data' });
    expect(stream.text()).toBe('… | größer\n… | more\n');
  });

  test('sends a log from a byte on as it is, in binary messages, to a page that asks so', async () => {
    web.logs.set(uuid, { text: '… | größer\n… | more\n', complete: true });
    const { socket, closed } = await open();
    const parts: Buffer[] = [];
    socket.removeAllListeners('message');
    socket.on('message', (data, isBinary) => void (isBinary && parts.push(Buffer.from(data as Buffer))));
    socket.send(JSON.stringify({ ...wanted, gatehouse: { offset: 9 } }));
    expect(await closed).toEqual({ code: 1000, reason: 'No more data' });
    expect(Buffer.concat(parts)).toEqual(Buffer.from('… | größer\n… | more\n').subarray(9));
    expect(await (await ask({ ...wanted, gatehouse: { offset: -1 } })).closed).toEqual({
      code: 4000,
      reason: "'offset' is not a number of bytes",
    });
  });

  test('sends a long log whole to a reader that pauses', async () => {
    const text = Array.from({ length: 60_000 }, (_, line) => `line ${line} of a log that is long\n`).join('');
    web.logs.set(uuid, { text, complete: true });
    const stream = await ask(wanted);
    await stream.holds('line 0');
    stream.socket.pause();
    await fetch(`${web.url}/api/tenant/main/status`);
    stream.socket.resume();
    expect(await stream.closed).toMatchObject({ code: 1000 });
    expect(stream.text()).toBe(text);
  });

  test.each([
    ['not JSON', 'uuid', { code: 4000, reason: 'the request is not JSON' }],
    ['a list', [uuid], { code: 4000, reason: 'the request is no object of JSON' }],
    ['no log', { uuid }, { code: 4000, reason: "'logfile' missing from request payload" }],
    ['no build', { logfile: 'console.log' }, { code: 4000, reason: "'uuid' missing from request payload" }],
    ['an unknown build', { ...wanted, uuid: 'f'.repeat(32) }, { code: 4011, reason: 'Build not found' }],
    ['no uuid', { ...wanted, uuid: '../../etc/passwd' }, { code: 4011, reason: 'Build not found' }],
    ['a build that waits', { ...wanted, uuid: waiting }, { code: 4011, reason: 'Build did not start yet' }],
  ])('that is asked with %s is closed as by Zuul', async (_what, request, expected) => {
    expect(await (await ask(request)).closed).toEqual(expected);
  });

  test('of a private tenant needs a token that may read it, and one that does not exist is refused alike', async () => {
    const rule = { name: 'readers', conditions: [{ groups: 'acme' }] };
    web.access = { main: { ...OPEN_ACCESS, accessRules: [rule] } };
    web.logs.set(uuid, { text: 'private\n', complete: true });
    const needed = { code: 4000, reason: 'a token that lets you read this tenant is needed' };
    const stranger = await token({ zuul: undefined, groups: ['other'] });
    expect(await (await ask(wanted)).closed).toEqual(needed);
    expect(await (await ask({ ...wanted, token: stranger })).closed).toEqual(needed);
    expect(await (await ask({ ...wanted, token: 'abc.def.ghi' })).closed).toMatchObject({ code: 4000 });
    expect(await (await ask({ ...wanted, token: stranger }, 'nowhere')).closed).toEqual(needed);
    const reader = await ask({ ...wanted, token: await token({ zuul: undefined, groups: ['acme'] }) });
    expect(await reader.closed).toMatchObject({ code: 1000 });
    expect(reader.text()).toBe('private\n');
  });

  test('takes one request: what follows is not heeded', async () => {
    web.logs.set(uuid, { text: 'one\n', complete: false });
    const stream = await ask(wanted);
    await stream.holds('one\n');
    stream.socket.send(JSON.stringify({ ...wanted, uuid: 'f'.repeat(32) }));
    stream.socket.send('nonsense');
    web.logs.set(uuid, { text: 'one\ntwo\n', complete: true });
    expect(await stream.closed).toMatchObject({ code: 1000 });
    expect(stream.text()).toBe('one\ntwo\n');
  });
});

test('fifty readers of one log cost one reader of the executor, whenever they come', async () => {
  let reads = 0;
  let complete = false;
  const all = Buffer.from('x'.repeat(300_000));
  await openWeb({
    overrides: {
      async readLog({ offset, limit }) {
        reads += 1;
        const bytes = all.subarray(offset, offset + limit);
        return { bytes, complete: complete && offset + bytes.length >= all.length };
      },
    },
  });
  const began = performance.now();
  const early = await Promise.all(Array.from({ length: 25 }, () => ask(wanted)));
  await Promise.all(early.map(stream => stream.holds('x'.repeat(300_000))));
  const late = await Promise.all(Array.from({ length: 25 }, () => ask(wanted)));
  await Promise.all(late.map(stream => stream.holds('x'.repeat(300_000))));
  complete = true;
  await Promise.all([...early, ...late].map(stream => stream.closed));
  const seconds = (performance.now() - began) / 1000;
  // Two chunks, and at most five looks a second at the end: for one reader or for all of them.
  expect(reads).toBeLessThanOrEqual(2 + 5 * Math.ceil(seconds));
});

test('streams are bounded by client, and other requests for an upgrade are answered without one', async () => {
  await openWeb({ sse: { maxClientsPerAddress: 2 } });
  await open();
  const second = await open();
  await expect(open()).rejects.toThrow('503');
  second.socket.close();
  await second.closed;
  const third = await open();
  await expect(open('nowhere')).rejects.toThrow('404');
  const plain = await fetch(`${web.url}/api/tenant/main/console-stream`);
  expect([plain.status, plain.headers.get('upgrade')]).toEqual([426, 'websocket']);
  expect(await h2cUpgrade()).toMatch(/^HTTP\/1\.1 200 /);
  await openWeb({});
  expect(await third.closed).toMatchObject({ code: 1001 });
});

/** As `curl --http2` asks. */
function h2cUpgrade(): Promise<string> {
  const { hostname, port } = new URL(web.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    socket.once('error', reject).once('data', data => {
      resolve(String(data));
      socket.destroy();
    });
    socket.write('GET /api/info HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n');
  });
}
