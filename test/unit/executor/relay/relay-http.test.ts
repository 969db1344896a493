import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, test } from 'vitest';
import { startRelay } from '../../../../src/executor/relay/relay.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { REQUEST_LIMITS } from '../../../../src/tracing/otlp-in/request-limits.ts';
import { SILENT } from '../../../fake/silent-log.ts';
import { buildRequest } from '../fixture.ts';

const relay = await startRelay({ spans: 10, bytes: 100_000 }, { clock: systemClock(), log: SILENT });
afterAll(() => relay[Symbol.asyncDispose]());

function address(build: ReturnType<typeof relay.open>): string {
  return `${build?.environment(false).OTEL_EXPORTER_OTLP_ENDPOINT}/v1/traces`;
}

function post(
  url: string,
  body: string | Buffer<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });
}

describe('the relay', () => {
  const build = relay.open(buildRequest('1'.repeat(40), {}))!;

  test('answers 200 with an empty answer, in the encoding it was asked in', async () => {
    const json = await post(address(build), '{}');
    expect([json.status, await json.text()]).toEqual([200, '{}']);
    const binary = await post(address(build), Buffer.alloc(0), { 'content-type': 'application/x-protobuf' });
    expect([binary.status, binary.headers.get('content-type')]).toEqual([200, 'application/x-protobuf']);
    expect((await post(address(build), gzipSync('{}'), { 'content-encoding': 'gzip' })).status).toBe(200);
  });

  test('refuses what it cannot read, and says why', async () => {
    expect((await post(address(build), 'not JSON')).status).toBe(400);
    expect((await post(address(build), '{}', { 'content-type': 'text/plain' })).status).toBe(415);
    const large = await post(address(build), Buffer.alloc(REQUEST_LIMITS.bodyBytes + 1));
    expect(large.status).toBe(413);
    expect(await large.json()).toEqual({ message: expect.stringContaining('bytes') });
  });

  test('knows nothing but the spans of builds that run', async () => {
    const base = address(build).replace('/v1/traces', '');
    expect((await post(`${base}/v1/metrics`, '{}')).status).toBe(404);
    expect((await fetch(address(build))).status).toBe(405);
    for (const token of ['', '0'.repeat(32), 'v1'])
      expect((await post(`${new URL(base).origin}/${token}/v1/traces`, '{}')).status).toBe(401);
    const ended = relay.open(buildRequest('1'.repeat(40), {}))!;
    expect(address(ended)).not.toBe(address(build));
    ended.close();
    expect((await post(address(ended), '{}')).status).toBe(401);
  });

  test('notes a sandbox that did not listen', () => {
    const unheard = relay.open(buildRequest('1'.repeat(40), {}))!;
    for (const inside of [true, false, true]) unheard.hangUp(inside);
    expect(unheard.counts().unheard).toBe(2);
    unheard.close();
  });

  test('has no address for a build of whose trace nothing is kept', () => {
    const { trace } = buildRequest('1'.repeat(40), {});
    expect(relay.open(buildRequest('1'.repeat(40), {}, { trace: null }))).toBeNull();
    expect(relay.open(buildRequest('1'.repeat(40), {}, { trace: { ...trace!, sampled: false } }))).toBeNull();
  });
});

describe('a job that asks more of the relay than it may', () => {
  /** A connection with a request whose body does not come; resolves when the relay has taken it up. */
  async function slowPost(url: URL): Promise<Socket> {
    const socket = connect(Number(url.port), url.hostname);
    socket.write(
      `POST ${url.pathname} HTTP/1.1\r\nHost: relay\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`,
    );
    await once(socket, 'data');
    return socket;
  }

  async function withSlowPosts(count: number, work: (url: URL) => Promise<void>): Promise<void> {
    const build = relay.open(buildRequest('1'.repeat(40), {}))!;
    const url = new URL(address(build));
    const slow = await Promise.all(Array.from({ length: count }, () => slowPost(url)));
    try {
      await work(url);
    } finally {
      const closed = slow.map(socket => once(socket, 'close'));
      for (const socket of slow) socket.destroy();
      await Promise.all(closed);
      build.close();
    }
  }

  test('is hung up on when a connection sends request after request without reading answers', async () => {
    await withSlowPosts(4, async url => {
      const socket = connect(Number(url.port), url.hostname);
      const answers: Buffer[] = [];
      socket.on('data', (bytes: Buffer) => answers.push(bytes));
      // What was cut off while it was being sent: the hang-up may come as a reset.
      socket.on('error', () => undefined);
      socket.write(`POST ${url.pathname} HTTP/1.1\r\nHost: relay\r\nContent-Length: 0\r\n\r\n`.repeat(2000));
      await new Promise(resolve => socket.once('close', resolve));
      expect(Buffer.concat(answers).toString()).toBe('');
    });
  });

  test('gets 429 when too many requests of its build wait; other builds do not', async () => {
    const other = relay.open(buildRequest('1'.repeat(40), {}))!;
    await withSlowPosts(128, async url => {
      const crowded = await post(url.href, '{}');
      expect([crowded.status, crowded.headers.get('connection')]).toEqual([429, 'close']);
      expect((await post(address(other), '{}')).status).toBe(200);
    });
    other.close();
  });

  test('is read no more when it has sent many times its quota, all of it rubbish', async () => {
    const build = relay.open(buildRequest('1'.repeat(40), {}))!;
    const statuses: number[] = [];
    for (let sent = 0; sent < 6; sent++)
      statuses.push((await post(address(build), Buffer.alloc(REQUEST_LIMITS.bodyBytes, ' '))).status);
    expect(statuses).toEqual([400, 400, 400, 400, 400, 403]);
    build.close();
  });

  test('and whose listening socket breaks is no longer listened to, and nothing else happens', async () => {
    const build = relay.open(buildRequest('1'.repeat(40), {}))!;
    const listener = createServer().listen(0, '127.0.0.1');
    await once(listener, 'listening');
    build.serve(listener);
    listener.emit('error', new Error('accept EINVAL'));
    expect(listener.listening).toBe(false);
    build.hangUp(true);
    expect(build.counts().unheard).toBe(0);
    build.close();
  });
});
