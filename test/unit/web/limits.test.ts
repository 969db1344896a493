/** One client, with real sockets, against what all clients share. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { type FakeOptions, type FakeWeb, fakeWeb } from './fake-web.ts';
import { NOW } from './sample-gate.ts';

let web: FakeWeb;
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await web.close();
});

async function start(options: FakeOptions): Promise<void> {
  web = await fakeWeb({ ...options, limits: { closeTimeout: 200, ...options.limits } });
}

interface Client {
  readonly socket: Socket;
  readonly closed: Promise<unknown>;
  /** All it was sent so far. */
  text(): string;
}

async function open(): Promise<Client> {
  const socket = connect(Number(new URL(web.url).port), '127.0.0.1');
  sockets.push(socket);
  // A connection that is cut may as well be reset.
  socket.on('error', () => socket.destroy());
  const closed = new Promise(resolve => socket.once('close', resolve));
  await once(socket, 'connect');
  let text = '';
  socket.setEncoding('utf8').on('data', piece => {
    text += String(piece);
  });
  return { socket, closed, text: () => text };
}

const requestOf = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: gate\r\n${headers}\r\n`;
const answersIn = (text: string) => text.match(/HTTP\/1\.1 200 OK/g)?.length ?? 0;

/** False: it was closed instead. */
async function isServed({ socket, closed, text }: Client): Promise<boolean> {
  const wanted = answersIn(text()) + 1;
  const answered = new Promise<true>(resolve => {
    socket.on('data', () => {
      if (answersIn(text()) >= wanted) resolve(true);
    });
  });
  socket.write(requestOf('/health/live'));
  return Promise.race([answered, closed.then(() => false)]);
}

describe('connections', () => {
  test('are bounded for each client, and come free when one ends', async () => {
    await start({ limits: { maxConnectionsPerAddress: 2 } });
    const [first, second] = [await open(), await open()];
    expect([await isServed(first), await isServed(second)]).toEqual([true, true]);
    await (await open()).closed;

    first.socket.destroy();
    await first.closed;
    await expect.poll(async () => isServed(await open()), { timeout: 15_000 }).toBe(true);
  });

  test('of a trusted proxy are not bounded by themselves', async () => {
    await start({ limits: { maxConnectionsPerAddress: 1, trustedProxies: ['127.0.0.0/8'] } });
    for (const client of [await open(), await open(), await open()])
      expect(await isServed(client)).toBe(true);
  });

  test('are bounded in all', async () => {
    await start({ limits: { maxConnections: 2, trustedProxies: ['127.0.0.1'] } });
    for (const client of [await open(), await open()]) expect(await isServed(client)).toBe(true);
    await (await open()).closed;
  });

  test('end after some requests, and say so', async () => {
    await start({ limits: { maxRequestsPerSocket: 3 } });
    const client = await open();
    for (let asked = 0; asked < 3; asked++) expect(await isServed(client)).toBe(true);
    expect(client.text().match(/^Connection: (?:close|keep-alive)/gm)).toEqual([
      'Connection: keep-alive',
      'Connection: keep-alive',
      'Connection: close',
    ]);
  });

  test('on which nothing moves are cut', async () => {
    await start({ limits: { silenceTimeout: 1_000 } });
    const client = await open();
    client.socket.write(requestOf('/api/tenant/main/events'));
    await expect.poll(() => answersIn(client.text()), { timeout: 15_000 }).toBe(1);
    const idle = await open();
    await idle.closed;
    // A stream is quiet for as long as nothing happens.
    expect(client.socket.closed).toBe(false);
  });
});

describe('streams', () => {
  const status = async (forwarded: string) => {
    const { socket, text } = await open();
    socket.write(requestOf('/api/tenant/main/events', `X-Forwarded-For: ${forwarded}\r\n`));
    await expect.poll(() => /^HTTP\/1\.1 (\d+)/.exec(text())?.[1], { timeout: 15_000 }).toBeDefined();
    return Number(/^HTTP\/1\.1 (\d+)/.exec(text())?.[1]);
  };

  test('are counted for each client of a trusted proxy, even if it forges addresses', async () => {
    await start({
      sse: { maxClientsPerAddress: 1 },
      limits: { trustedProxies: ['127.0.0.1', '10.0.0.0/8'] },
    });
    expect(await status('192.0.2.1')).toBe(200);
    expect(await status('192.0.2.2')).toBe(200);
    expect(await status('192.0.2.9, 192.0.2.1')).toBe(503);
    expect(await status('192.0.2.2, 10.1.2.3')).toBe(503);
    expect(await status('2001:db8:1:2::1')).toBe(200);
    expect(await status('[2001:db8:1:2:ffff::9]:4711')).toBe(503);
  });

  test('are counted for the proxy when it is not trusted', async () => {
    await start({ sse: { maxClientsPerAddress: 1 } });
    expect(await status('192.0.2.1')).toBe(200);
    expect(await status('192.0.2.2')).toBe(503);
  });
});

describe('pipelined requests', () => {
  test('are answered in their order', async () => {
    await start({});
    const { socket, text } = await open();
    socket.write(['/api/info', '/api/connections', '/api/components'].map(path => requestOf(path)).join(''));
    await expect.poll(() => answersIn(text()), { timeout: 15_000 }).toBe(3);
    expect(text()).toMatch(/job_history.*canonical_hostname|job_history[\s\S]*"local"[\s\S]*scheduler-0/);
  });

  test('are cut when there are too many', async () => {
    await start({});
    const { socket, closed, text } = await open();
    socket.write(requestOf('/api/info').repeat(100));
    await closed;
    expect(answersIn(text())).toBeLessThan(20);
  });

  test('of many clients are spread over many turns of the event loop', async () => {
    let handled = 0;
    const health = () => {
      handled += 1;
      return [];
    };
    await start({
      clock: { now: () => NOW, monotonic: () => performance.now() },
      overrides: { health },
      limits: { trustedProxies: ['127.0.0.1'] },
    });
    // A process of its own: what it sends arrives at once, while this one is not looking.
    const flood = spawn(process.execPath, ['-e', FLOOD, new URL(web.url).port], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let [before, most] = [0, 0];
    const eachTurn = () => {
      most = Math.max(most, handled - before);
      before = handled;
      if (handled < FLOODED) setImmediate(eachTurn);
    };
    eachTurn();
    await expect.poll(() => handled, { timeout: 30_000 }).toBe(FLOODED);
    flood.kill();
    await once(flood, 'exit');
    expect(most).toBeLessThan(FLOODED / 4);
  }, 60_000);
});

/** 150 connections with 14 requests each, of which no answer is read. */
const FLOODED = 150 * 14;
const FLOOD = `
  const request = 'GET /health/ready HTTP/1.1\\r\\nHost: gate\\r\\n\\r\\n'.repeat(14);
  const sockets = Array.from({ length: 150 }, () => require('node:net').connect(process.argv[1], '127.0.0.1'));
  Promise.all(sockets.map(socket => new Promise(done => socket.once('connect', done)))).then(() => {
    for (const socket of sockets) socket.pause().write(request);
  });
  setInterval(() => {}, 1000);
`;
